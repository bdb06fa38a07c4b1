#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/expr/constraint.h"

namespace padlock::compiler {

struct Schedule;

/// Rows that are so short that the neighbouring vectors which a warp takes at a time lie in several of them, and in no
/// more than a table of the warp has places for: row r has place r mod `places`.
struct ShortRows {
  int vectors = 0;          ///< that a warp takes at a time: one a thread
  int lanes = 0;            ///< elements of each
  int places = 0;           ///< of its table, a power of two
  std::int64_t fewest = 0;  ///< elements of an output that is worth tables
  // Variables:
  ir::Expr columns;                   ///< of a row
  std::vector<ir::Constraint> tests;  ///< over them: asked of a launch
};

/// Returns them for a grid of vectors whose rows have what is worth a table: elements of one byte, several outer axes,
/// and bodies that take nothing of a row but where their loads start. Rows whose ends all lie between vectors have
/// none.
[[nodiscard]] std::optional<ShortRows> find_short_rows(const Schedule& schedule);

}  // namespace padlock::compiler
