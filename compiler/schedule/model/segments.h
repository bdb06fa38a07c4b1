#pragma once

#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/constraint.h"

// Along the innermost axis pads, slices and concats put symbolic cut points. Between two cuts the predicates of that
// axis are constant and the index maps affine with a literal slope, so that a segment is a plain loop. Cuts nest: an
// operation's cuts are clamped to the segment of its consumer, so they form a tree and need no sorting. Predicates of
// the outer axes are constant along a row, and choose between cases of a row.
namespace padlock::compiler {

/// A cut of a piece [begin, end) at min(max(at, begin), end), and which part was kept.
struct Cut {
  ir::Expr at;
  bool above = false;  ///< the part from the cut on
  ir::Expr claim;      ///< what the specialisation takes to hold of every column of that part: it is >= 0
};

/// A piece [begin, end) of the innermost axis, and the nodes specialised to it.
struct Segment {
  ir::Expr begin, end;    // over symbols alone, so that the launch computes them
  std::vector<Cut> cuts;  // from [0, columns) to it
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
