#pragma once

#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Returns for each node of the body of the rows' data whether its value may change from row to row along the row axis.
[[nodiscard]] std::vector<bool> changes_by_row(const Schedule& schedule);

}  // namespace padlock::compiler
