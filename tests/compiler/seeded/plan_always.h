#pragma once

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Edits for small test cases: results of any size take short rows by chunks, and outputs of any rows and size that fit
/// shared memory take boxes.
class PlanAlways : public PassEdits {
 public:
  /// `preferred`: the kind of boxes that is taken before boxes of whole rows.
  explicit PlanAlways(BoxKind preferred) : preferred_(preferred) {}
  void covered(Schedule& schedule) const override {
    if (RowChunks* const chunks = schedule.row_chunks()) {
      chunks->loop.least_bytes = 0;
      choose_room(schedule.kernel, *chunks);
    }
    if (schedule.boxes() == nullptr) return;
    const Boxes& boxes = *schedule.boxes();
    if (boxes.kind != BoxKind::rows && boxes.kind != preferred_) return;
    const ir::Expr bytes = at_launch(schedule.exprs(), boxes, boxes.shared_bytes);
    const ir::Expr apart = boxes.columns ? box_rows_apart(schedule.kernel, boxes) : bytes;
    std::erase_if(schedule.serves,
                  [&](const abi::Guard& guard) { return guard.holds.lhs != bytes && guard.holds.lhs != apart; });
  }

 private:
  BoxKind preferred_;
};

[[nodiscard]] inline const PassEdits* plan_always(BoxKind preferred = BoxKind::joined) {
  static const PlanAlways kRows(BoxKind::rows), kJoined(BoxKind::joined), kParts(BoxKind::parts);
  return preferred == BoxKind::rows ? &kRows : preferred == BoxKind::joined ? &kJoined : &kParts;
}

}  // namespace padlock::compiler
