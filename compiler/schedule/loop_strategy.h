#pragma once

#include <vector>

#include "ir/expr/expr.h"

// How a body strategies a run, the columns [begin, end) of one row: in loops over chunks of neighbouring elements. One
// description for the code, the proof and the tests' interpreter, in Exprs over the variables of a run. Where a team of
// threads shares a run, a loop's chunks are dealt to them in turn; what is said of the loop is said of all together.
namespace padlock::compiler {

/// The variables of a run, each in [0, 2^47].
struct RunVariables {
  explicit RunVariables(ir::ExprContext& exprs);
  ir::Expr column_first, column_last;  ///< the columns of the task, [first, last)
  ir::Expr begin, end;
  ir::Expr shift;    ///< elements that the output at `begin` is past a boundary of a vector
  ir::Expr peel;     ///< elements from `begin` to the next cache line of the output
  ir::Expr reached;  ///< where the main loop ended
  ir::Expr rest;     ///< where the loop after it ended, which takes the vectors that are no whole trip
  ir::Expr segment_begin, segment_end;  ///< the columns of the segment: those of which elements may be loaded
};

/// How the elements are loaded that lie next to each other, in either order.
enum class VectorLoads : std::uint8_t {
  apart,      ///< they have no alignment: on the host a vector all the same, on a GPU one by one
  aligned,    ///< a vector at a multiple of its size
  realigned,  ///< two such vectors, of which the elements are cut
};

/// for (c = from; c < limit; c += lanes * unroll): chunks at c, c + lanes, ..., c + (unroll - 1) * lanes.
struct VectorLoop {
  ir::Expr from, limit;
  int lanes = 1;
  int unroll = 1;
  /// Threads that share the loop. A trip is `unroll` chunks of each: chunk i of thread t is number i * team + t of it.
  int team = 1;
  bool dealt = false;        ///< of a team: a trip is one chunk, and trip number k is thread k mod team's
  bool once = false;         ///< exactly one trip: from < limit <= from + lanes * unroll
  bool nontemporal = false;  ///< its stores go past the caches
  bool aligned = false;      ///< its stores are of whole vectors, at multiples of their size
  bool run = false;          ///< it is a run of its own, which any walk takes that is not streamed
  VectorLoads loads = VectorLoads::apart;
  ir::Expr last = {};     ///< where given, a chunk that would begin after it begins there; unroll is 1
  ir::Expr reached = {};  ///< where given, the variable that stands for c after the loop

  /// Elements of a trip.
  [[nodiscard]] int step() const { return dealt ? lanes : lanes * unroll * team; }
  /// Columns before and after a chunk beyond which it loads nothing.
  [[nodiscard]] int reach() const { return loads == VectorLoads::realigned ? lanes : 0; }
};

enum class LoopStrategyKind : std::uint8_t {
  elements,  ///< element by element
  ends,      ///< a run of one to two narrow vectors: one at begin, one that ends at end, which may overlap
  vectors,   ///< a vector at begin; then, from where the output is aligned, `unroll` vectors a trip, where that is more
             ///< than one; then one a trip, the last of which ends at end. The first and the last may overlap their
             ///< neighbours, which write the same values
  streamed,  ///< a run up to a cache line, whole lines past the caches, a run. Never a byte of a line both ways: the
             ///< line would be fetched and written twice
  shared,    ///< elements up to a vector boundary of the output, whole vectors, elements. Nothing is written twice, so
             ///< that threads may share it. The first and the last loop are dealt as one. Loads need no alignment
  shared_realigned,  ///< the same with loads that are realigned, but where they would reach beyond the segment
  shared_aligned,    ///< the same where the loads are aligned at the first vector, too
};

struct LoopStrategy {
  LoopStrategyKind kind = LoopStrategyKind::elements;
  int line = 0;  ///< streamed: elements of a cache line, at least those of a vector
  /// The run-time test that it is chosen by (among others): each is >= 0.
  std::vector<ir::Expr> tests = {};
  /// What `shift` and `peel` are by construction, where a run is in its segment, and (ends) that it is not longer: a
  /// later walk that takes it is asked before. Each is >= 0.
  std::vector<ir::Expr> bounds = {};
  std::vector<VectorLoop> loops = {};
};

struct LoopStrategyOptions {
  int lanes = 1;           ///< elements of one vector
  int unroll = 1;          ///< vectors of one trip of the main loop
  int narrowest = 0;       ///< elements of the narrowest vectors of strategies by ends; 0: there are none
  int line = 0;            ///< elements of a cache line (at least `lanes`); 0: no streamed walk
  int team = 0;            ///< threads that share a run; 0: a run is one thread's
  bool streaming = false;  ///< shared: whether whole vectors go past the caches
  bool loads = true;       ///< shared: whether there are vectors to load, which may be aligned or not
  bool realign = false;    ///< shared: those that are not from two that are
};

/// All ways in which a body may walk a run, one of which is chosen for each: elements alone for one lane. The later a
/// walk, the longer the runs that it is for.
[[nodiscard]] std::vector<LoopStrategy> make_loop_strategies(ir::ExprContext& exprs, const LoopStrategyOptions& options);

/// The value of the loop's c after it, as an expression of `from` and `limit`.
[[nodiscard]] ir::Expr end_of(ir::ExprContext& exprs, const VectorLoop& loop);

/// A streamed run has at least so many whole cache lines, wherever in a line it begins.
inline constexpr int kStreamedLines = 4;

}  // namespace padlock::compiler
