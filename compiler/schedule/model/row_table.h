#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/constraint.h"

namespace padlock::compiler {

/// Rows that are so short that the neighbouring vectors which a warp takes at a time lie in several of them, and in no
/// more than a table of the warp has places for: row r has place r mod `places`.
struct RowTable {
  int vectors = 0;          ///< that a warp takes at a time: one a thread
  int lanes = 0;            ///< elements of each
  int places = 0;           ///< of its table, a power of two
  std::int64_t fewest = 0;  ///< elements of an output that is worth tables
  // Variables:
  ir::Expr columns;                   ///< of a row
  std::vector<ir::Constraint> tests;  ///< over them: asked of a launch
};

}  // namespace padlock::compiler
