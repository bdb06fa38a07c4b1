#include "compiler/emit/rows/row_changes.h"

#include <algorithm>

#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

class RowChanges {
 public:
  explicit RowChanges(const Schedule& schedule)
      : graph_(schedule.kernel.graph),
        call_(*schedule.row_data_call()),
        body_(schedule.body_of(call_)),
        varying_({schedule.row_coordinate()}),
        changes_(body_.nodes.size()) {}

  std::vector<bool> find() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const BodyNode& node = body_.nodes[i];
      changes_[i] = changes(node);
      if (node.kind == NodeKind::data && changes_[i]) varying_.push_back(data_of(node.terms).variable);
    }
    return changes_;
  }

 private:
  [[nodiscard]] bool mentions_any(ir::Expr e) const {
    return e.valid() && std::ranges::any_of(varying_, [&](ir::Expr variable) { return mentions(e, variable); });
  }

  [[nodiscard]] bool mentions_any(PredicateId guard) const {
    return std::ranges::any_of(graph_.conditions_of(guard),
                               [&](ConditionId id) { return mentions_any(graph_.condition(id).expr); });
  }

  [[nodiscard]] bool changes(const BodyNode& node) const {
    if (node.kind == NodeKind::sum) return true;
    if (node.kind == NodeKind::load) {
      const auto number = static_cast<std::size_t>(node.load);
      const BodyLoad& load = body_.loads[number];
      return mentions_any(load.offset) || mentions_any(load.guard) || mentions_any(call_.sources[number].base);
    }
    return mentions_any(node.index) || mentions_any(node.guard) || std::ranges::any_of(node.operands, [&](int operand) {
             return static_cast<bool>(changes_[static_cast<std::size_t>(operand)]);
           });
  }

  const Graph& graph_;
  const SegmentCall& call_;
  const Body& body_;
  std::vector<ir::Expr> varying_;
  std::vector<bool> changes_;
};

}  // namespace

std::vector<bool> changes_by_row(const Schedule& schedule) { return RowChanges(schedule).find(); }

}  // namespace padlock::compiler
