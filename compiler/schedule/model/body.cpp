#include "compiler/schedule/model/body.h"

namespace padlock::compiler {

bool has_nontemporal_stores(const Body& body) {
  return std::ranges::any_of(
      body.strategies, [](const LoopStrategy& strategy) { return strategy.kind == LoopStrategyKind::nontemporal; });
}

std::size_t operation_count(const Body& body) {
  return static_cast<std::size_t>(std::ranges::count(body.nodes, NodeKind::operation, &BodyNode::kind));
}

bool computes_activation(const Body& body) {
  return std::ranges::any_of(body.nodes, [](const BodyNode& node) {
    return node.kind == NodeKind::operation && ir::info_of(node.op).op_class == ir::OpClass::activation;
  });
}

int widest_bytes(const Body& body, bool for_threads) {
  int widest = 1;
  for (const BodyNode& node : body.nodes) {
    const bool half = !for_threads && (node.dtype == ir::DType::f16 || node.dtype == ir::DType::bf16);
    const bool computes = node.kind == NodeKind::operation && node.op != ir::Op::relu;
    widest = std::max(widest, half && computes ? 4 : ir::byte_size(node.dtype));
  }
  return widest;
}

const BodyNode* fill_of(const Body& body, std::size_t load) {
  const auto node_at = [&](int index) -> const BodyNode& { return body.nodes[static_cast<std::size_t>(index)]; };
  const auto is_load = [&](int index) {
    return node_at(index).kind == NodeKind::load && node_at(index).load == static_cast<int>(load);
  };
  const BodyNode* found = nullptr;
  for (const BodyNode& node : body.nodes) {
    if (std::ranges::none_of(node.operands, is_load)) continue;
    const bool fills = node.kind == NodeKind::when && node.guard == body.loads[load].guard &&
                       is_load(node.operands[0]) && node_at(node.operands[1]).kind == NodeKind::constant;
    if (!fills || found != nullptr) return nullptr;
    found = &node;
  }
  return std::ranges::any_of(body.roots, is_load) ? nullptr : found;
}

}  // namespace padlock::compiler
