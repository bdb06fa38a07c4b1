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
  key.insert(key.end(), node.data.begin(), node.data.end());
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

Data data_of(const std::vector<ir::Expr>& list) { return {list[0], list[1]}; }

Search search_of(const std::vector<ir::Expr>& list) {
  return {list[0], list[1], list[2], list[3], list[4], list[5], list[6]};
}

std::vector<ir::Expr> coordinates_of(const Search& search) {
  return {search.variable, search.low, search.high, search.extent, search.middle, search.above, search.below};
}

void add_data(std::vector<ir::Expr>& variables, ir::Expr e) {
  std::set<std::uint32_t> seen;  // by Expr::id
  std::vector<ir::Expr> left = {e};
  while (!left.empty()) {
    const ir::Expr top = left.back();
    left.pop_back();
    if (!top.has_data() || !seen.insert(top.id()).second) continue;
    take_steps(2 + top.operands().size());
    if (top.kind() != ir::ExprKind::symbol)
      left.insert(left.end(), top.operands().begin(), top.operands().end());
    else if (std::ranges::find(variables, top) == variables.end())
      variables.push_back(top);
  }
}

void Graph::set_row_data(std::vector<NodeId> nodes) {
  row_variables_.clear();
  for (const NodeId id : nodes) row_variables_.push_back(nodes_[id].coordinates.front());
  row_data_ = std::move(nodes);
}

bool Graph::is_row_data(ir::Expr variable) const {
  return std::ranges::find(row_variables_, variable) != row_variables_.end();
}

bool Graph::has_column_data(ir::Expr e) const {
  if (!e.has_data()) return false;
  std::vector<ir::Expr> variables;
  add_data(variables, e);
  return std::ranges::any_of(variables, [&](ir::Expr variable) { return !is_row_data(variable); });
}

std::vector<Kernel::WalkVariable> Kernel::inner_variables() const {
  std::vector<WalkVariable> all = walk_variables;
  all.insert(all.end(), row_variables.begin(), row_variables.end());
  return all;
}

bool Kernel::reads_by_data() const {
  return std::ranges::any_of(all_users_first(graph, roots), [&](NodeId id) {
    return graph.node(id).kind == NodeKind::data || graph.node(id).kind == NodeKind::search;
  });
}

bool Kernel::mentions_rows(Expr e) const {
  if (e.has_data()) return true;
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

namespace {

std::vector<NodeId> reachable(const Graph& graph, std::span<const NodeId> roots, bool through_row_data) {
  // Operands have smaller ids, so descending ids are a topological order.
  std::set<NodeId, std::greater<>> reached(roots.begin(), roots.end());
  for (auto it = reached.begin(); it != reached.end(); ++it) {
    const Node& node = graph.node(*it);
    reached.insert(node.operands.begin(), node.operands.end());
    for (const NodeId data : node.data)
      if (through_row_data || !graph.is_row_data(graph.node(data))) reached.insert(data);
  }
  return {reached.begin(), reached.end()};
}

}  // namespace

std::vector<NodeId> users_first(const Graph& graph, std::span<const NodeId> roots) {
  return reachable(graph, roots, /*through_row_data=*/false);
}

std::vector<NodeId> all_users_first(const Graph& graph, std::span<const NodeId> roots) {
  return reachable(graph, roots, /*through_row_data=*/true);
}

}  // namespace padlock::compiler
