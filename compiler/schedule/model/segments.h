#pragma once

#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/constraint.h"

// Pads, slices and concats put symbolic cut points along the innermost axis. Between two cuts that axis's predicates
// are constant and index maps are affine with a literal slope, so a segment is a plain loop. Cuts nest: an operation's
// cuts are clamped to the segment of its consumer, so they form a tree and need no sorting. Predicates of the outer
// axes are constant along a row, and choose between cases of a row.
namespace padlock::compiler {

/// A cut of a piece [begin, end) at min(max(at, begin), end), and the part that was kept.
struct Cut {
  ir::Expr at;
  bool above = false;  ///< the kept part begins at the cut
  ir::Expr claim;      ///< >= 0 for every column of the kept part, as specialisation assumes
};

/// A piece [begin, end) of the innermost axis, and the nodes specialised to it.
struct Segment {
  ir::Expr begin, end;    // over symbols alone, so that the launch computes them
  std::vector<Cut> cuts;  // the cuts that lead from [0, columns) to it
  std::vector<NodeId> roots;
};

/// A decision tree over the predicates of the outer axes. Either a test (`segments` empty) or a list of segments that
/// cover [0, columns) in order.
struct RowCase {
  PredicateId test = kAlways;
  int holds = -1;  // index of the case where the test holds
  int fails = -1;
  std::vector<Segment> segments;

  [[nodiscard]] bool is_test() const { return holds >= 0; }
};

}  // namespace padlock::compiler
