#include <algorithm>
#include <optional>

#include "compiler/schedule/gpu/covers.h"
#include "compiler/schedule/model/row_columns.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

/// A vector a thread. (Blocks of 128 threads take 1.0 to 1.7 times as long, of 512 1.0 to 1.07, two vectors a thread
/// .96 to 1.05.)
constexpr int kThreads = 256;
/// Most loads of a vector: one for each lane of halves, two for each of words. (An H200: two tensors joined, f32 1.13
/// to 1.20 times as fast as by a grid, f16 .80.)
constexpr int kMostLoads = 8;
/// Most loads of one element a row, as of a bias for each channel: two registers each.
constexpr int kMostOfRows = 4;

// Longest rows that are made element by element, in bytes for each edge: a column where a segment or the row ends
// within a vector. Longer rows have most vectors whole. Figures are an H200's, time in a grid over time by element.
/// Words: images of 7 to 112 and rows of 20 to 333 1.05 to 1.6, of 500 1.0. Halves: images 1.1 to 2.9, rows of 100 and
/// 150 1.03, of 200 .99, of 301 .96.
constexpr int kLongestWords = 1024, kLongestHalves = 128;
/// The same where columns move unevenly, as where they are reflected: each vector then costs a grid more, and a row
/// has two edges at least. Words of 130 to 1026 .98 to 1.28; halves of 58 to 280 1.1 to 2.5, of 514 and 1026 .9.
constexpr int kLongestUnevenWords = 2048, kLongestUnevenHalves = 320;
constexpr int kFewestUnevenEdges = 2;
/// Most columns if elements of a row lie apart, and follow those of the row before: channels to the innermost axis. (3
/// to 40 of f32 .99 to 1.33, 48 .98; f16 of 10, 12 and 40 1.15 to 1.40, of 16 to 32 1.0, 17 .94, below 8 .97 to 1.0.)
constexpr int kMostAcross = 40;
/// Farthest apart otherwise: each cache line is then asked for this many times. (Channels of f32 from the innermost
/// axis 1.02 and 1.12 for 3 and 4, .81 for 5; of f16 1.13, 1.05 and 1.12 for 3 to 5, .75 for 6; of bytes 1.22 for 3,
/// .92 for 4.)
constexpr int kFarthestWords = 4, kFarthestHalves = 5, kFarthestBytes = 3;

class ByElement {
 public:
  explicit ByElement(const Schedule& schedule)
      : schedule_(schedule), kernel_(schedule.kernel), exprs_(schedule.exprs()) {}

  /// Returns whether vectors can be made element by element, and are worth it for some sizes.
  [[nodiscard]] bool applies() const {
    return kernel_.rank() >= 2 && schedule_.cases.size() == 1 && schedule_.cases[0].calls.size() == 1 &&
           std::ranges::all_of(body().nodes, [&](const BodyNode& node) { return takes(node); }) &&
           operation_count(body()) <= kMostVectorOperations && takes_loads();
  }
  [[nodiscard]] int lanes(int vector_bytes) const { return vector_bytes / widest_; }

  /// Returns expressions that are at most 0 for the sizes to serve.
  [[nodiscard]] std::vector<Expr> beyond(const Schedule& segmented) const {
    const Expr lanes = exprs_.constant(schedule_.grid()->lanes), columns = schedule_.columns;
    const Expr rows = exprs_.sub(exprs_.sub(lanes, exprs_.constant(1)), columns);  // two rows have any vector
    const Places places = *this->places();
    if (!places.apart.valid()) return {rows, beyond_edges(segmented, places.are_even)};
    const int farthest = widest_ == 1 ? kFarthestBytes : widest_ == 2 ? kFarthestHalves : kFarthestWords;
    const Expr far = exprs_.sub(places.apart, exprs_.constant(farthest));
    if (!places.follow_rows) return {rows, far};
    const Expr many = exprs_.sub(columns, exprs_.constant(kMostAcross));
    const Expr few = exprs_.sub(lanes, columns);  // halves of short rows are as good in boxes
    return {rows, exprs_.min(far, widest_ < kWord ? exprs_.max(few, many) : many)};
  }

 private:
  static constexpr int kWord = 4;

  [[nodiscard]] const Body& body() const { return schedule_.bodies[0]; }
  [[nodiscard]] const std::vector<LoadSource>& sources() const { return schedule_.cases[0].calls[0].sources; }

  [[nodiscard]] bool takes(PredicateId guard) const {
    return std::ranges::all_of(kernel_.graph.conditions_of(guard), [&](ConditionId id) {
      return column_condition(kernel_, kernel_.rank() - 1, kernel_.graph.condition(id)).has_value();
    });
  }
  [[nodiscard]] bool takes(const BodyNode& node) const {
    switch (node.kind) {
      case NodeKind::constant:
      case NodeKind::scalar:
      case NodeKind::load:
      case NodeKind::operation:
        return true;
      case NodeKind::when:
        return takes(node.guard);
      default:
        return false;
    }
  }
  /// Vectors of bytes are worth their sixteen loads only where a grid would load each byte, too.
  [[nodiscard]] bool takes_loads() const {
    const std::optional<Places> places = this->places();
    const auto is_taken = [&](const BodyLoad& load) {
      return ir::byte_size(load.dtype) == widest_ && takes(load.guard);
    };
    if (!places || body().loads.empty() || !std::ranges::all_of(body().loads, is_taken)) return false;
    if (places->of_rows > kMostOfRows) return false;
    const int moving = static_cast<int>(body().loads.size()) - places->of_rows;
    if (widest_ == 1) return moving == 1 && places->apart.valid() && !places->follow_rows;
    return moving >= 1 && moving * lanes(/*vector_bytes=*/16) <= kMostLoads;
  }

  /// How a row's elements lie in the tensors.
  struct Places {
    bool are_even = true;     ///< each load moves by as many elements from column to column
    int of_rows = 0;          ///< loads of one element a row
    Expr apart = {};          ///< elements of a row lie so far apart; invalid if they are neighbours
    bool follow_rows = true;  ///< where they lie apart, they follow those of the row before
  };
  /// Returns nothing if what a column adds depends on the row.
  [[nodiscard]] std::optional<Places> places() const {
    Places places;
    for (const LoadSource& source : sources()) {
      const auto split = split_by_column(kernel_, source);
      if (!split) return std::nullopt;
      places.are_even = places.are_even && split->step.valid();
      const Expr step = split->step;
      places.of_rows += step.valid() && step.is_constant(0) ? 1 : 0;
      if (!step.valid() || step.is_constant(0) || step.is_constant(1) || step.is_constant(-1)) continue;
      const Expr apart = exprs_.max(step, exprs_.neg(step));
      places.apart = places.apart.valid() ? exprs_.max(places.apart, apart) : apart;
      const auto along = linear_in(exprs_, split->at_first, kernel_.coordinate(kernel_.rank() - 2));
      places.follow_rows = places.follow_rows && along && along->slope == 1;
    }
    return places;
  }

  [[nodiscard]] Expr beyond_edges(const Schedule& segmented, bool are_even) const {
    const Expr lanes = exprs_.constant(schedule_.grid()->lanes), one = exprs_.constant(1);
    const auto is_edge = [&](Expr column) { return exprs_.min(exprs_.mod(column, lanes), one); };
    Expr most = exprs_.constant(are_even ? 0 : kFewestUnevenEdges);
    for (const ScheduledCase& row : segmented.cases) {
      Expr edges = is_edge(segmented.columns);
      for (std::size_t i = 0; i + 1 < row.calls.size(); ++i) edges = exprs_.add(edges, is_edge(row.calls[i].end));
      most = exprs_.max(most, edges);
    }
    const int longest = widest_ < kWord ? (are_even ? kLongestHalves : kLongestUnevenHalves)
                                        : (are_even ? kLongestWords : kLongestUnevenWords);
    return exprs_.sub(schedule_.columns, exprs_.mul(most, exprs_.constant(longest / widest_)));
  }

  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  int widest_ = widest_bytes(schedule_.bodies[0], /*for_threads=*/true);
};

}  // namespace

bool cover_by_element(Schedule& schedule, const ScheduleOptions& options) {
  const ByElement vectors(schedule);
  if (!vectors.applies()) return false;
  ir::ExprContext& exprs = schedule.exprs();
  VectorGrid grid = make_vector_grid(exprs, kThreads, /*vectors=*/1, vectors.lanes(options.vector_bytes));
  grid.by_element = true;
  schedule.bodies[0].strategies = make_loop_strategies(exprs, {.whole = true});
  schedule.bodies[0].lanes = 1;
  schedule.cover = std::move(grid);
  for (const Expr beyond : vectors.beyond(*options.blocks->segmented))
    schedule.serves.push_back({abi::Assumption::many_edges, {beyond, ir::Comparison::le, exprs.constant(0)}});
  return true;
}

}  // namespace padlock::compiler
