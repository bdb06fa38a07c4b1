#include "compiler/kernel/kernel.h"

#include <algorithm>
#include <set>

#include "ir/expr/affine.h"
#include "support/steps.h"

namespace padlock::compiler {

Graph::Graph() { conjunction({}); }

NodeId Graph::add(Node node) {
  take_steps(1 + node.coordinates.size() + node.operands.size());
  std::vector<std::uint64_t> key = {static_cast<std::uint64_t>(node.kind),
                                    static_cast<std::uint64_t>(node.dtype),
                                    static_cast<std::uint64_t>(node.op),
                                    node.bits,
                                    node.value,
                                    node.guard,
                                    node.layout,
                                    node.coordinates.size()};
  for (const ir::Expr e : node.coordinates) key.push_back(e.id());
  for (const NodeId operand : node.operands) key.push_back(operand);
  for (const ir::Expr fact : node.facts) key.push_back(fact.id());
  for (const ir::Expr fact : node.read_facts) key.push_back(fact.id());
  const auto [it, inserted] = node_ids_.try_emplace(std::move(key), static_cast<NodeId>(nodes_.size()));
  if (inserted) nodes_.push_back(std::move(node));
  return it->second;
}

ConditionId Graph::add(const Condition& condition) {
  const auto [it, inserted] = condition_ids_.try_emplace(
      std::pair(condition.expr.id(), static_cast<int>(condition.kind)), static_cast<ConditionId>(conditions_.size()));
  if (inserted) conditions_.push_back(condition);
  return it->second;
}

PredicateId Graph::conjunction(std::vector<ConditionId> conditions) {
  take_steps(1 + conditions.size());
  std::ranges::sort(conditions);
  conditions.erase(std::ranges::unique(conditions).begin(), conditions.end());
  const auto [it, inserted] = predicate_ids_.try_emplace(conditions, static_cast<PredicateId>(predicates_.size()));
  if (inserted) predicates_.push_back(std::move(conditions));
  return it->second;
}

std::uint32_t Graph::add(const ir::Layout& layout) {
  const auto same = [&](const ir::Layout& other) {
    return std::ranges::equal(layout.extents(), other.extents()) &&
           std::ranges::equal(layout.strides(), other.strides()) && layout.offset() == other.offset();
  };
  take_steps(1 + layouts_.size());
  const auto it = std::ranges::find_if(layouts_, same);
  if (it != layouts_.end()) return static_cast<std::uint32_t>(it - layouts_.begin());
  layouts_.push_back(layout);
  return static_cast<std::uint32_t>(layouts_.size() - 1);
}

std::vector<Walk> walks_of(const Node& sum) {
  std::vector<Walk> walks;
  const std::vector<ir::Expr>& list = sum.coordinates;
  for (std::size_t i = 0; i + 4 < list.size(); i += 5)
    walks.push_back({list[i], list[i + 1], list[i + 2], list[i + 3], list[i + 4]});
  return walks;
}

void append_walk(std::vector<ir::Expr>& coordinates, const Walk& walk) {
  for (const ir::Expr e : {walk.variable, walk.first, walk.step, walk.other, walk.limit}) coordinates.push_back(e);
}

bool Kernel::mentions_rows(Expr e) const {
  for (int axis = 0; axis + 1 < rank(); ++axis)
    if (mentions(e, coordinate(axis))) return true;
  return false;
}

Expr Kernel::element_at(Expr column) const {
  std::vector<Expr> coordinates;
  for (int axis = 0; axis + 1 < rank(); ++axis) coordinates.push_back(coordinate(axis));
  coordinates.push_back(column);
  return ir::Layout::dense(exprs(), extents).offset_of(exprs(), coordinates);
}

Expr replaced(ir::ExprContext& exprs, Expr e, Expr symbol, Expr value) {
  return exprs.substitute(e, [&](Expr other) { return other == symbol ? value : other; });
}

std::vector<NodeId> users_first(const Graph& graph, std::span<const NodeId> roots) {
  // Operands have smaller ids, so descending ids are a topological order.
  std::set<NodeId, std::greater<>> reached(roots.begin(), roots.end());
  for (auto it = reached.begin(); it != reached.end(); ++it)
    reached.insert(graph.node(*it).operands.begin(), graph.node(*it).operands.end());
  return {reached.begin(), reached.end()};
}

}  // namespace padlock::compiler
