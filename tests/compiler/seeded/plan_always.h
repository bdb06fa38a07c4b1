#pragma once

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Edits after which short rows are permuted in tasks of any size: a test's are small.
class PlanAlways : public PassEdits {
 public:
  void walked(Schedule& schedule) const override {
    for (ScheduledCase& row : schedule.cases)
      if (row.permuted) row.permuted->loop.least_bytes = 0;
  }
};

[[nodiscard]] inline const PassEdits* plan_always() {
  static const PlanAlways edits;
  return &edits;
}

}  // namespace padlock::compiler
