#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/kernel/kernel.h"
#include "ir/text/literal.h"

namespace padlock::compiler {
namespace {

std::string text_of(const Kernel& kernel, const std::vector<ir::Expr>& list) {
  std::vector<std::string> texts;
  for (const ir::Expr e : list) texts.push_back(ir::to_string(kernel.program->exprs(), e));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string text_of(const Kernel& kernel, const Node& node) {
  const auto operand = [&](std::size_t i) { return node.operands[i]; };
  switch (node.kind) {
    case NodeKind::constant:
      return ir::to_string(ir::Scalar{node.dtype, node.bits});
    case NodeKind::scalar:
      return "scalar " + kernel.program->value(node.value).name;
    case NodeKind::load: {
      std::string text =
          fmt::format("load {}{}", kernel.program->value(node.value).name, text_of(kernel, node.coordinates));
      if (node.guard != kAlways) text += " if " + to_string(kernel, node.guard);
      return text;
    }
    case NodeKind::when:
      return fmt::format("%{} if {} else %{}", operand(0), to_string(kernel, node.guard), operand(1));
    case NodeKind::operation:
      return fmt::format("{} %{}", name_of(node.op), fmt::join(node.operands, ", %"));
    case NodeKind::sum: {
      std::string text = fmt::format("sum %{}", fmt::join(node.operands, ", %"));
      for (const Walk& walk : walks_of(node)) text += to_string(kernel.program->exprs(), walk);
      return text;
    }
    case NodeKind::data: {
      const Data data = data_of(node.coordinates);
      return fmt::format("data {} of %{} below {}", ir::to_string(kernel.program->exprs(), data.variable), operand(0),
                         ir::to_string(kernel.program->exprs(), data.extent));
    }
    case NodeKind::search: {
      const Search search = search_of(node.coordinates);
      return fmt::format("search of %{} among {} by %{} at {}", operand(1),
                         ir::to_string(kernel.program->exprs(), search.extent), operand(0),
                         ir::to_string(kernel.program->exprs(), search.variable));
    }
    case NodeKind::index:
      return "index " + ir::to_string(kernel.program->exprs(), node.coordinates.front());
  }
  return {};
}

}  // namespace

std::string to_string(const ir::ExprContext& exprs, const Walk& walk) {
  const auto text = [&](ir::Expr e) { return ir::to_string(exprs, e); };
  return fmt::format(", {} from {} below {} by {} and {}", text(walk.variable), text(walk.first), text(walk.limit),
                     text(walk.step), text(walk.other));
}

std::string to_string(const Kernel& kernel, PredicateId predicate) {
  std::vector<std::string> texts;
  for (const ConditionId id : kernel.graph.conditions_of(predicate)) {
    const Condition& condition = kernel.graph.condition(id);
    texts.push_back(ir::to_string(kernel.program->exprs(), condition.expr) +
                    (condition.kind == Condition::Kind::zero ? " == 0" : " >= 0"));
  }
  return texts.empty() ? "always" : fmt::format("{}", fmt::join(texts, " and "));
}

std::string to_string(const Kernel& kernel) {
  std::string text = fmt::format("kernel {} {}\n", kernel.name, text_of(kernel, kernel.extents));
  const std::vector<NodeId> order = all_users_first(kernel.graph, kernel.roots);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = kernel.graph.node(*it);
    text += fmt::format("  %{} : {} = {}\n", *it, ir::name_of(node.dtype), text_of(kernel, node));
  }
  for (std::size_t i = 0; i < kernel.roots.size(); ++i)
    text += fmt::format("  store {} = %{}\n", kernel.result(i).name, kernel.roots[i]);
  return text;
}

}  // namespace padlock::compiler
