#pragma once

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Edits for small test cases: results of any size take short rows by chunks, and outputs of any rows and size that fit
/// shared memory take boxes.
class PlanAlways : public PassEdits {
 public:
  /// `joins`: boxes whose columns have two axes are preferred to those with one.
  explicit PlanAlways(bool joins) : joins_(joins) {}
  void covered(Schedule& schedule) const override {
    if (RowChunks* const chunks = schedule.row_chunks()) {
      chunks->loop.least_bytes = 0;
      choose_room(schedule.kernel, *chunks);
    }
    if (schedule.boxes() == nullptr) return;
    const Boxes& boxes = *schedule.boxes();
    if (boxes.kind == BoxKind::joined && !joins_) return;
    const ir::Expr bytes = at_launch(schedule.exprs(), boxes, boxes.shared_bytes);
    const ir::Expr apart = boxes.columns ? box_rows_apart(schedule.kernel, boxes) : bytes;
    std::erase_if(schedule.serves,
                  [&](const abi::Guard& guard) { return guard.holds.lhs != bytes && guard.holds.lhs != apart; });
  }

 private:
  bool joins_;
};

[[nodiscard]] inline const PassEdits* plan_always(bool joins = true) {
  static const PlanAlways kJoined(true), kApart(false);
  return joins ? &kJoined : &kApart;
}

}  // namespace padlock::compiler
