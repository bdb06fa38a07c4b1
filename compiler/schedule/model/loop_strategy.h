#pragma once

#include <vector>

#include "ir/expr/expr.h"

// Loop strategies: how a body covers a run, the columns [begin, end) of one row, by loops over vectors of neighbouring
// elements. One description serves the code, the proof and the tests' interpreter, in Exprs over the variables of a
// run.
namespace padlock::compiler {

/// The variables of a run, each in [0, 2^47].
struct RunVariables {
  explicit RunVariables(ir::ExprContext& exprs);
  ir::Expr column_first, column_last;  ///< the columns of the task, [first, last)
  ir::Expr begin, end;
  ir::Expr shift;    ///< elements from the vector boundary before the output's element `begin` to that element
  ir::Expr peel;     ///< elements from `begin` to the next cache line of the output
  ir::Expr reached;  ///< end value of the main loop
};

/// for (c = from; c < limit; c += lanes * unroll): vectors at c, c + lanes, ..., c + (unroll - 1) * lanes.
struct VectorLoop {
  ir::Expr from, limit;
  int lanes = 1;
  int unroll = 1;
  bool single_trip = false;  ///< exactly one trip: from < limit <= from + lanes * unroll
  bool nontemporal = false;  ///< its stores go past the caches
  bool delegated = false;    ///< a run of its own, for any strategy except nontemporal
  bool masked = false;       ///< accesses no element from `limit` on: its last vector is masked; unroll is 1
  ir::Expr last = {};        ///< if given, a vector that would begin after it begins there; unroll is 1
  ir::Expr end_value = {};   ///< if given, the variable for the value of c after the loop

  /// Returns the elements of a trip.
  [[nodiscard]] int step() const { return lanes * unroll; }
};

enum class LoopStrategyKind : std::uint8_t {
  scalar,         ///< element by element
  overlapped,     ///< a run of one to two narrow vectors: one at begin, one ending at end; they may overlap
  peeled_vector,  ///< a vector at begin; `unroll` vectors a trip from where the output is aligned (if unroll > 1); then
                  ///< one a trip, the last ending at end. The first and the last may overlap their neighbours, which
                  ///< write the same values
  nontemporal,    ///< a run up to a cache line, whole lines past the caches, a run. No line is written both ways, since
                  ///< it would be fetched and written twice
  whole_vector,   ///< a run of all columns of one vector
  masked_vector,  ///< vectors from begin, for any length: the last is masked
  whole_vectors,  ///< vectors from begin, at least one; the last ends at end
};

struct LoopStrategy {
  LoopStrategyKind kind = LoopStrategyKind::scalar;
  int line = 0;  ///< nontemporal: elements of a cache line, at least a vector's
  /// Entry conditions, tested at run time: a strategy is chosen only if each is >= 0.
  std::vector<ir::Expr> entry_conditions = {};
  /// Invariants, true without a test: ranges of `shift` and `peel`, and (overlapped, whole_vector) the longest run.
  /// Each is >= 0.
  std::vector<ir::Expr> invariants = {};
  std::vector<VectorLoop> loops = {};
};

struct LoopStrategyOptions {
  int lanes = 1;        ///< elements of one vector
  int unroll = 1;       ///< vectors of one trip of the main loop
  int narrowest = 0;    ///< elements of the narrowest vectors of overlapped strategies; 0: no overlapped strategy
  int line = 0;         ///< elements of a cache line (at least `lanes`); 0: no nontemporal strategy
  bool whole = false;   ///< runs are parts of one vector
  bool masked = false;  ///< vectors may be masked: one strategy for all lengths
};

/// Returns all strategies of a body; each run takes one. For one lane there is only the scalar strategy, for masked
/// vectors only the masked one. Later strategies are for longer runs.
[[nodiscard]] std::vector<LoopStrategy> make_loop_strategies(ir::ExprContext& exprs,
                                                             const LoopStrategyOptions& options);

/// Returns the strategy of kind whole_vectors.
[[nodiscard]] LoopStrategy whole_vectors(ir::ExprContext& exprs, int lanes);

/// Returns the value of c after the loop, over `from` and `limit`.
[[nodiscard]] ir::Expr end_of(ir::ExprContext& exprs, const VectorLoop& loop);

/// Fewest whole cache lines of a nontemporal run, wherever in a line it begins.
inline constexpr int kNontemporalLines = 4;

}  // namespace padlock::compiler
