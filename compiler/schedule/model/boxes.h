#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"
#include "ir/program.h"

// Boxes of a GPU's output, for rows that are short. A block makes some rows that follow each other. Rows of an input
// follow each other, too, so that one run of its storage has all that the block reads: that run is copied to shared
// memory, and the output's vectors are made from there, whatever rows they lie in. One description serves the code and
// the proof.
namespace padlock::compiler {

/// Bytes of a stage before and after the elements that a box may read. A vector is read where it has one of those
/// elements: it begins at most a vector before it, and ends with the word after it.
inline constexpr int kStageMargin = 32;
/// Bytes that are copied at a time, at multiples of as many.
inline constexpr int kStageVectorBytes = 16;

/// The part of an input that a box reads, in memory that a block's threads share: a run of the input's storage.
struct BoxStage {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// For each axis of the tensor the coordinate at which the run begins, and that at which it ends, which it has, too.
  /// Over the first and the last row of a box, and symbols.
  std::vector<ir::Expr> from, last;
  ir::Expr first;         ///< the element at `from`
  ir::Expr elements;      ///< from it to that at `last`: none where it is below 1
  ir::Expr columns;       ///< of a row that are read: nothing is where there are less than 1
  ir::Expr capacity;      ///< elements of any run, at most
  ir::Expr place, bytes;  ///< where shared memory has the stage, and how large it is
};

struct Boxes {
  int threads = 0;  ///< of a block
  int lanes = 1;    ///< elements of a vector that is stored
  // Variables:
  ir::Expr step;                      ///< rows that a box has, the last one fewer
  ir::Expr box;                       ///< number
  std::vector<ir::Expr> first, last;  ///< the outer coordinates of its first and of its last row
  // Over them:
  ir::Expr first_row;  ///< of a box, among the flattened rows of the output
  ir::Expr rows;       ///< of a box
  ir::Expr boxes;      ///< of a launch
  std::vector<BoxStage> stages;
  std::vector<int> stage_of;  ///< of each load of the body; -1: one element a row, which is read where it is needed
  ir::Expr shared_bytes;      ///< of a block
  ir::Expr launched;          ///< the step of a launch, over symbols
};

/// Returns an expression of the boxes for the step of a launch.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const Boxes& boxes, ir::Expr e);

/// The coordinates of an axis of a tensor at which a run begins and ends: both are its.
struct RunEnds {
  ir::Expr from, last;
};
/// Returns them for coordinates `first` to `last` of the output that read those `moved` further on, as far as the axis
/// has them: `from` is at most the extent, and `last` at least -1.
[[nodiscard]] RunEnds run_ends(ir::ExprContext& exprs, ir::Expr first, ir::Expr last, ir::Expr moved, ir::Expr extent);

/// Returns how many rows of a tensor the run of a stage has at most, for a load whose coordinates move as the output's
/// do: one for each row of a box, and, where the output lacks some rows of the tensor's last but one axis, these as
/// often as a box goes on from one coordinate of the axis before to the next. (docs/proofs.md, the lemma of boxes.)
[[nodiscard]] ir::Expr box_stage_rows(ir::ExprContext& exprs, const Kernel& kernel, const Boxes& boxes,
                                      const LoadSource& source, const ir::Layout& layout);

}  // namespace padlock::compiler
