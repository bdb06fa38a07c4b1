#include "compiler/kernel/lowering.h"

#include <algorithm>
#include <optional>

#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

/// Merges output axes `axis` and `axis + 1` of a kernel, if that is possible.
class AxisMerger {
 public:
  AxisMerger(Kernel& kernel, int axis, const StepBudget& steps)
      : kernel_(kernel),
        exprs_(kernel.program->exprs()),
        axis_(axis),
        outer_(kernel.coordinate(axis)),
        inner_(kernel.coordinate(axis + 1)),
        inner_extent_(kernel.extents[static_cast<std::size_t>(axis) + 1]),
        steps_(steps) {}

  bool possible() {
    const Graph& graph = kernel_.graph;
    for (const NodeId id : users_first(graph, kernel_.roots)) {
      const Node& node = graph.node(id);
      for (const ConditionId condition : graph.conditions_of(node.guard))
        if (!mergeable(graph.condition(condition))) return false;
      if (node.kind == NodeKind::load && !mergeable(node)) return false;
      if (node.kind != NodeKind::load && mentions_axes(node.coordinates)) return false;
    }
    return true;
  }

  /// Leaves the kernel unchanged if the steps do not suffice.
  void merge() {
    Kernel merged{.name = kernel_.name,
                  .program = kernel_.program,
                  .graph = {},
                  .extents = kernel_.extents,
                  .results = kernel_.results,
                  .roots = {},
                  .walk_variables = kernel_.walk_variables,
                  .row_variables = {}};
    const auto at = merged.extents.begin() + axis_;
    *at = exprs_.mul(*at, inner_extent_);
    merged.extents.erase(at + 1);
    std::vector<NodeId> order = users_first(kernel_.graph, kernel_.roots);
    std::map<NodeId, NodeId> renamed;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (steps_.is_used_up()) return;
      renamed[*it] = merged.graph.add(rewrite(kernel_.graph.node(*it), merged.graph, renamed));
    }
    for (const NodeId root : kernel_.roots) merged.roots.push_back(renamed.at(root));
    kernel_ = std::move(merged);
  }

 private:
  [[nodiscard]] bool mentions_axes(const std::vector<Expr>& all) const {
    return std::ranges::any_of(all, [&](Expr e) { return mentions(e, outer_) || mentions(e, inner_); });
  }

  bool mergeable(const Condition& condition) {
    if (mentions(condition.expr, inner_)) return false;
    if (!mentions(condition.expr, outer_)) return true;
    const auto affine = affine_in(exprs_, condition.expr, outer_);
    return affine && (affine->slope == 1 || affine->slope == -1) && condition.kind == Condition::Kind::nonnegative;
  }

  /// Returns the tensor axis on which a load uses the outer axis, -1 if it uses neither; nothing if the axes cannot
  /// merge.
  std::optional<int> tensor_axis(const Node& load) {
    int outer_at = -1;
    int inner_at = -1;
    for (int i = 0; i < static_cast<int>(load.coordinates.size()); ++i) {
      const Expr c = load.coordinates[static_cast<std::size_t>(i)];
      if (mentions(c, outer_)) outer_at = i;
      if (mentions(c, inner_)) inner_at = i;
    }
    if (outer_at < 0 && inner_at < 0) return -1;
    if (outer_at < 0 || inner_at != outer_at + 1) return std::nullopt;
    return outer_at;
  }

  bool mergeable(const Node& load) {
    const std::optional<int> at = tensor_axis(load);
    if (!at) return false;
    if (*at < 0) return true;
    const ir::Layout& layout = kernel_.graph.layout(load.layout);
    const auto t = static_cast<std::size_t>(*at);
    const auto affine = affine_in(exprs_, load.coordinates[t], outer_);
    if (!layout.next_axis_continues(exprs_, *at) || layout.extents()[t + 1] != inner_extent_) return false;
    return affine && affine->slope == 1 && load.coordinates[t + 1] == inner_;
  }

  Node rewrite(Node node, Graph& graph, const std::map<NodeId, NodeId>& renamed) {
    std::vector<ConditionId> conditions;
    for (const ConditionId id : kernel_.graph.conditions_of(node.guard)) {
      const auto [known, is_new] = conditions_.try_emplace(id);
      if (is_new) known->second = graph.add(rewrite(kernel_.graph.condition(id)));
      conditions.push_back(known->second);
    }
    node.guard = graph.conjunction(std::move(conditions));
    for (std::vector<NodeId>* ids : {&node.operands, &node.data})
      for (NodeId& id : *ids) id = renamed.at(id);
    // Facts about a merged axis are not needed: axes that a division uses are not merged.
    std::erase_if(node.facts, [&](Expr fact) { return mentions(fact, outer_) || mentions(fact, inner_); });
    for (Expr& fact : node.facts) fact = renumber(fact);
    if (node.kind == NodeKind::load) rewrite_load(node, graph);
    if (node.kind != NodeKind::load)
      for (Expr& e : node.coordinates) e = renumber(e);
    return node;
  }

  void rewrite_load(Node& load, Graph& graph) {
    const ir::Layout& layout = kernel_.graph.layout(load.layout);
    const int at = *tensor_axis(load);
    if (at < 0) {
      load.layout = graph.add(layout);
    } else {
      const auto t = static_cast<std::size_t>(at);
      const auto affine = affine_in(exprs_, load.coordinates[t], outer_);
      const Expr offset = affine ? affine->rest : exprs_.constant(0);
      load.coordinates[t] = exprs_.add(outer_, exprs_.mul(offset, inner_extent_));
      load.coordinates.erase(load.coordinates.begin() + at + 1);
      load.layout = graph.add(layout.with_next_axis_merged(exprs_, at));
    }
    for (Expr& c : load.coordinates) c = renumber(c);
  }

  /// Slope 1: $a + c >= 0 becomes q + c * E >= 0. Slope -1: $a <= c becomes q <= c * E + E - 1.
  Condition rewrite(const Condition& condition) {
    const auto affine = affine_in(exprs_, condition.expr, outer_);
    if (!affine || affine->slope == 0) return {renumber(condition.expr), condition.kind};
    Expr rest = exprs_.mul(affine->rest, inner_extent_);
    if (affine->slope < 0) rest = exprs_.add(rest, exprs_.sub(inner_extent_, exprs_.constant(1)));
    return {exprs_.add(exprs_.mul(exprs_.constant(affine->slope), outer_), rest), condition.kind};
  }

  /// Renumbers the axes after the merged pair: each moves down by one.
  Expr renumber(Expr e) {
    return exprs_.substitute(e, [&](Expr symbol) {
      for (int axis = axis_ + 2; axis < kernel_.rank(); ++axis)
        if (symbol == kernel_.coordinate(axis)) return kernel_.coordinate(axis - 1);
      return symbol;
    });
  }

  Kernel& kernel_;
  ir::ExprContext& exprs_;
  int axis_;
  Expr outer_, inner_, inner_extent_;
  const StepBudget& steps_;                        // borrowed (outlives the merger)
  std::map<ConditionId, ConditionId> conditions_;  // rewritten ones
};

}  // namespace

void merge_axes(Kernel& kernel, const StepBudget& steps) {
  for (int axis = kernel.rank() - 2; axis >= 0 && !steps.is_used_up(); --axis) {
    AxisMerger merger(kernel, axis, steps);
    if (merger.possible()) merger.merge();
  }
}

}  // namespace padlock::compiler
