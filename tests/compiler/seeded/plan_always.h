#pragma once

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Edits after which short rows are taken by chunks in tasks of any size, and outputs of any rows and size by boxes
/// that fit shared memory: a test's are small.
class PlanAlways : public PassEdits {
 public:
  void covered(Schedule& schedule) const override {
    for (std::size_t i = 0; i < schedule.cases.size(); ++i)
      if (RowChunks* const chunks = schedule.row_chunks(i)) chunks->loop.least_bytes = 0;
    if (schedule.boxes() == nullptr) return;
    const Boxes& boxes = *schedule.boxes();
    const ir::Expr bytes = at_launch(schedule.exprs(), boxes, boxes.shared_bytes);
    const ir::Expr apart = boxes.columns ? box_rows_apart(schedule.kernel, boxes) : bytes;
    std::erase_if(schedule.serves,
                  [&](const abi::Guard& guard) { return guard.holds.lhs != bytes && guard.holds.lhs != apart; });
  }
};

[[nodiscard]] inline const PassEdits* plan_always() {
  static const PlanAlways kEdits;
  return &kEdits;
}

}  // namespace padlock::compiler
