#pragma once

#include <array>

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Edits for small test cases: results of any size take short rows by chunks. Outputs of any rows and size that fit
/// shared memory take boxes; or those of any rows that fit are made element by element.
class PlanAlways : public PassEdits {
 public:
  /// `preferred`: the kind of boxes that is taken before boxes of whole rows; none: no boxes but vectors by element.
  explicit PlanAlways(BoxKind preferred) : preferred_(preferred) {}
  void covered(Schedule& schedule) const override {
    if (RowChunks* const chunks = schedule.row_chunks()) {
      chunks->loop.least_bytes = 0;
      choose_room(schedule.kernel, *chunks);
    }
    if (schedule.grid() != nullptr && schedule.grid()->by_element) return serve_by_element(schedule);
    if (schedule.boxes() == nullptr) return;
    const Boxes& boxes = *schedule.boxes();
    if (boxes.kind != BoxKind::rows && boxes.kind != preferred_) return;
    if (preferred_ == BoxKind::none) return;
    const ir::Expr bytes = at_launch(schedule.exprs(), boxes, boxes.shared_bytes);
    const ir::Expr apart = boxes.columns ? box_rows_apart(schedule.kernel, boxes) : bytes;
    std::erase_if(schedule.serves,
                  [&](const abi::Guard& guard) { return guard.holds.lhs != bytes && guard.holds.lhs != apart; });
  }

 private:
  void serve_by_element(Schedule& schedule) const {
    if (preferred_ == BoxKind::none) return schedule.serves.resize(1);  // that two rows have each vector
    const ir::Expr zero = schedule.exprs().constant(0);
    schedule.serves = {{abi::Assumption::many_edges, {schedule.columns, ir::Comparison::le, zero}}};
  }

  BoxKind preferred_;
};

[[nodiscard]] inline const PassEdits* plan_always(BoxKind preferred = BoxKind::joined) {
  static const std::array kPlans = {PlanAlways(BoxKind::none), PlanAlways(BoxKind::rows), PlanAlways(BoxKind::joined),
                                    PlanAlways(BoxKind::parts)};
  return &kPlans[static_cast<std::size_t>(preferred)];
}

}  // namespace padlock::compiler
