#pragma once

#include <optional>

#include "compiler/schedule/model/row_table.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Returns them for a grid of vectors whose rows have what is worth a table: elements of one byte, several outer axes,
/// and bodies that take nothing of a row but where their loads start. Rows whose ends all lie between vectors have
/// none.
[[nodiscard]] std::optional<RowTable> make_row_table(const Schedule& schedule, const VectorGrid& grid);

}  // namespace padlock::compiler
