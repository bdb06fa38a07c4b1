#pragma once

#include <vector>

#include "ir/expr/expr.h"

// Loop strategies: how a body covers a run, the columns [begin, end) of one row, in loops over vectors of neighbouring
// elements. One description serves the code, the proof and the tests' interpreter, in Exprs over the variables of a
// run. Where a team of threads shares a run (cooperative strategies), the threads take a loop's vectors in turn, and
// the description is of all threads together.
namespace padlock::compiler {

/// The variables of a run, each in [0, 2^47].
struct RunVariables {
  explicit RunVariables(ir::ExprContext& exprs);
  ir::Expr column_first, column_last;  ///< the columns of the task, [first, last)
  ir::Expr begin, end;
  ir::Expr shift;    ///< elements that the output at `begin` is past a boundary of a vector
  ir::Expr peel;     ///< elements from `begin` to the next cache line of the output
  ir::Expr reached;  ///< end value of the main loop
  ir::Expr rest;     ///< end value of the loop after it, which takes the vectors left after the last whole trip
  ir::Expr segment_begin, segment_end;  ///< the columns of the segment, whose elements may be loaded
};

/// Alignment of loads of neighbouring elements, in either order.
enum class VectorLoads : std::uint8_t {
  apart,      ///< none: the host loads a vector all the same, a GPU one element at a time
  aligned,    ///< a vector at a multiple of its size
  realigned,  ///< two such vectors, from which the elements are cut
};

/// for (c = from; c < limit; c += lanes * unroll): vectors at c, c + lanes, ..., c + (unroll - 1) * lanes.
struct VectorLoop {
  ir::Expr from, limit;
  int lanes = 1;
  int unroll = 1;
  /// Threads that share the loop. A trip is `unroll` vectors of each: vector i of thread t is number i * team + t of
  /// it.
  int team = 1;
  bool cyclic = false;       ///< cyclic distribution in a team: a trip is one vector, trip k is thread k mod team's
  bool single_trip = false;  ///< exactly one trip: from < limit <= from + lanes * unroll
  bool nontemporal = false;  ///< its stores go past the caches
  bool aligned = false;      ///< its stores are of whole vectors, at multiples of their size
  bool delegated = false;    ///< a run of its own, for any strategy that is not nontemporal
  VectorLoads loads = VectorLoads::apart;
  ir::Expr last = {};       ///< where given, a vector that would begin after it begins there; unroll is 1
  ir::Expr end_value = {};  ///< where given, the variable for the value of c after the loop

  /// Elements of a trip.
  [[nodiscard]] int step() const { return cyclic ? lanes : lanes * unroll * team; }
  /// Columns before and after a vector beyond which it loads nothing.
  [[nodiscard]] int reach() const { return loads == VectorLoads::realigned ? lanes : 0; }
};

enum class LoopStrategyKind : std::uint8_t {
  scalar,         ///< element by element
  overlapped,     ///< a run of one to two narrow vectors: one at begin, one that ends at end, which may overlap
  peeled_vector,  ///< a vector at begin; then, from where the output is aligned, `unroll` vectors a trip, where that is
                  ///< more than one; then one a trip, the last of which ends at end. The first and the last may overlap
                  ///< their neighbours, which write the same values
  nontemporal,  ///< a run up to a cache line, whole lines past the caches, a run. Never a byte of a line both ways: the
                ///< line would be fetched and written twice
  cooperative,  ///< elements up to a vector boundary of the output, whole vectors, elements. Nothing is written twice,
                ///< so that threads may share it. The first and the last loop are distributed as one. Loads need no
                ///< alignment
  cooperative_realigned,  ///< the same with loads that are realigned, but where they would reach beyond the segment
  cooperative_aligned,    ///< the same where the loads are aligned at the first vector, too
  whole_vector,           ///< a run that is all of one vector
};

struct LoopStrategy {
  LoopStrategyKind kind = LoopStrategyKind::scalar;
  int line = 0;  ///< nontemporal: elements of a cache line, at least those of a vector
  /// Entry conditions, tested at run time: a strategy is chosen only where each is >= 0.
  std::vector<ir::Expr> entry_conditions = {};
  /// Invariants, true without a test: ranges of `shift` and `peel`, that a run is in its segment, and (overlapped) that
  /// the run is no longer, since later strategies are tried first. Each is >= 0.
  std::vector<ir::Expr> invariants = {};
  std::vector<VectorLoop> loops = {};
};

struct LoopStrategyOptions {
  int lanes = 1;           ///< elements of one vector
  int unroll = 1;          ///< vectors of one trip of the main loop
  int narrowest = 0;       ///< elements of the narrowest vectors of overlapped strategies; 0: no such strategy
  int line = 0;            ///< elements of a cache line (at least `lanes`); 0: no nontemporal strategy
  int team = 0;            ///< threads that share a run; 0: one thread a run
  bool streaming = false;  ///< cooperative: whether whole vectors go past the caches
  bool loads = true;       ///< cooperative: whether there are vectors to load, which may be aligned or not
  bool whole = false;      ///< runs are parts of one vector
  bool realign = false;    ///< cooperative: load unaligned vectors from two aligned ones
};

/// Returns all strategies of a body, one of which is chosen for each run: the scalar one alone for one lane. The later
/// a strategy, the longer the runs that it is for.
[[nodiscard]] std::vector<LoopStrategy> make_loop_strategies(ir::ExprContext& exprs,
                                                             const LoopStrategyOptions& options);

/// Returns the value of c after the loop, as an expression of `from` and `limit`.
[[nodiscard]] ir::Expr end_of(ir::ExprContext& exprs, const VectorLoop& loop);

/// A nontemporal run has at least so many whole cache lines, wherever in a line it begins.
inline constexpr int kStreamedLines = 4;

}  // namespace padlock::compiler
