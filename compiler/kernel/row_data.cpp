#include <algorithm>
#include <map>
#include <set>

#include "compiler/kernel/lowering.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

/// Finds what nodes depend on: the column, and loop variables of the sums and searches around them.
class RowDataFinder {
 public:
  explicit RowDataFinder(const Kernel& kernel) : kernel_(kernel), graph_(kernel.graph) {
    for (const Kernel::WalkVariable& walk : kernel.walk_variables)
      if (!walk.variable.has_data()) varying_.push_back(walk.variable);
    varying_.push_back(kernel.column());
  }

  std::vector<NodeId> find() {
    const std::vector<NodeId> order = all_users_first(graph_, kernel_.roots);
    std::vector<NodeId> found;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph_.node(*it);
      std::set<std::uint32_t>& own = depends_[*it];
      for (const std::vector<NodeId>* ids : {&node.operands, &node.data})
        for (const NodeId id : *ids) own.insert(depends_[id].begin(), depends_[id].end());
      for (const std::vector<Expr>* all : {&node.coordinates, &node.facts})
        for (const Expr e : *all) add(own, e);
      for (const ConditionId condition : graph_.conditions_of(node.guard)) add(own, graph_.condition(condition).expr);
      for (const Expr variable : own_variables(node)) own.erase(variable.id());
      if (node.kind == NodeKind::data && own.empty()) found.push_back(*it);
    }
    return found;
  }

 private:
  void add(std::set<std::uint32_t>& own, Expr e) const {
    if (!e.has_coordinate()) return;
    for (const Expr variable : varying_)
      if (mentions(e, variable)) own.insert(variable.id());
  }

  /// Returns the variables of a node's own loops.
  static std::vector<Expr> own_variables(const Node& node) {
    std::vector<Expr> variables;
    if (node.kind == NodeKind::sum)
      for (const Walk& walk : walks_of(node)) variables.push_back(walk.variable);
    if (node.kind != NodeKind::search) return variables;
    const Search search = search_of(node.coordinates);
    return {search.variable, search.low, search.high};
  }

  const Kernel& kernel_;
  const Graph& graph_;
  std::vector<Expr> varying_;
  std::map<NodeId, std::set<std::uint32_t>> depends_;  // by Expr::id
};

}  // namespace

void find_row_data(Kernel& kernel) {
  if (kernel.walk_variables.empty()) return;
  kernel.graph.set_row_data(RowDataFinder(kernel).find());
  const auto is_of_row = [&](const Kernel::WalkVariable& walk) { return kernel.graph.is_row_data(walk.variable); };
  std::ranges::copy_if(kernel.walk_variables, std::back_inserter(kernel.row_variables), is_of_row);
  std::erase_if(kernel.walk_variables, is_of_row);
}

}  // namespace padlock::compiler
