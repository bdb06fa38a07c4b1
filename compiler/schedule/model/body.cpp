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

}  // namespace padlock::compiler
