#include "compiler/schedule/gpu/covers.h"

#include <algorithm>

#include "compiler/schedule/cases/row_recurrence.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// Above the variables of a grid, below those of a tile's geometry (compiler/schedule/model/tiles.cpp).
enum VariableOrder { kCrossTile = 960, kColumnTile, kNeeded, kShift, kLowest, kHighest, kExtent };

/// Most small tiles of a launch that takes them. Large tiles would be half as many: 528, as many as an H100 or H200 has
/// at once (132 multiprocessors with four blocks of 256 threads). With fewer, some multiprocessors would be idle while
/// others do one tile after the other.
constexpr std::int64_t kMostSmallTiles = 1056;
/// Most medium tiles of a launch that takes them: 25 MiB of floats and of halves, 50 MiB of bytes. More blocks end more
/// evenly, and load more than they store. (On an H200, 8, 16, 24 and 32 MiB, aligned, of a copy: f32 1.02, 1.00, 0.97
/// and 0.96 with medium tiles, 0.88, 0.94, 0.95 and 0.96 with large ones; f16 0.93, 0.93, 0.92 and 0.91, and 0.82,
/// 0.90, 0.92 and 0.92. Misaligned f32 0.94, 0.92, 0.91 and 0.91, and 0.80, 0.86, 0.88 and 0.89; f16 0.77, 0.79, 0.77
/// and 0.77, and 0.65, 0.75, 0.77 and 0.78. i8 of 16, 32 and 48 MiB 0.78, 0.80 and 0.80, and 0.68, 0.79 and 0.83;
/// misaligned 0.66, 0.69 and 0.68, and 0.55, 0.63 and 0.67.)
constexpr std::int64_t kMostMediumTiles = 6336;

/// Shared memory that every GPU gives a block without a request.
constexpr int kSharedBytes = 48 << 10;

/// Most runs: more are not worth their tests.
constexpr std::size_t kMostRuns = 8;
/// Most cases: more are not worth their code.
constexpr std::size_t kMostCases = 2;

/// Index among a position's tests of the one for columns before the first.
constexpr std::size_t kFirstColumnTest = 2;

// Values for loads without an axis: columns do not move them, or not along one other axis.
constexpr int kStays = -2, kScattered = -1;

/// Returns the output axis, other than the innermost, along which a load that moves with columns is contiguous; else
/// kStays or kScattered.
int cross_axis(const Schedule& schedule, const LoadSource& source) {
  const Kernel& kernel = schedule.kernel;
  const ir::Layout& layout = kernel.graph.layout(source.layout);
  const Expr column = kernel.column();
  const auto moves = [&](Expr c) { return mentions(c, column); };
  if (std::ranges::none_of(source.coordinates, moves)) return kStays;
  int found = kScattered;
  for (std::size_t at = 0; at < source.coordinates.size(); ++at) {
    if (!layout.strides()[at].is_constant(1)) continue;
    for (int axis = 0; axis < kernel.rank(); ++axis) {
      if (!mentions(source.coordinates[at], kernel.coordinate(axis))) continue;
      if (found >= 0 || axis == kernel.rank() - 1) return kScattered;
      found = axis;
    }
  }
  return found;
}

/// Returns the axes of all bodies' loads, taken from the first segment of each body.
std::vector<std::vector<int>> cross_axes(const Schedule& schedule) {
  std::vector<std::vector<int>> axes(schedule.bodies.size());
  for (const SegmentCall& call : schedule.calls()) {
    std::vector<int>& known = axes[static_cast<std::size_t>(call.body)];
    if (!known.empty()) continue;
    for (const LoadSource& source : call.sources) known.push_back(cross_axis(schedule, source));
  }
  return axes;
}

/// Returns the axis of most loads, the last if several tie; -1 if there is none.
int most_frequent(const std::vector<std::vector<int>>& axes, int rank) {
  int best = -1;
  std::ptrdiff_t most = 0;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    std::ptrdiff_t count = 0;
    for (const std::vector<int>& loads : axes) count += std::ranges::count(loads, axis);
    if (count > 0 && count >= most) best = axis;
    most = std::max(most, count);
  }
  return best;
}

/// Gives each result an array if shared memory has room for all, and every load goes along the axis or stays. Else
/// gives one to each load along the axis, numbered anew in each body. A load in a sum's walks runs many times an
/// element, so it gets no array.
void choose_arrays(const Schedule& schedule, TransposeTile& tile, const std::vector<std::vector<int>>& axes) {
  const int most = kSharedBytes / (tile.array_words() * tile.word_bytes);
  const auto results = static_cast<int>(schedule.kernel.results.size());
  tile.holds_results =
      results <= most && std::ranges::all_of(axes, [&](const std::vector<int>& loads) {
        return std::ranges::all_of(loads, [&](int axis) { return axis == tile.axis || axis == kStays; });
      });
  if (tile.holds_results) tile.array_count = results;
  for (std::size_t body = 0; body < axes.size(); ++body) {
    int count = 0;
    std::vector<int>& arrays = tile.arrays.emplace_back();
    for (std::size_t load = 0; load < axes[body].size(); ++load) {
      const bool once = schedule.bodies[body].loads[load].scope < 0;
      const bool held = !tile.holds_results && once && axes[body][load] == tile.axis && count < most;
      arrays.push_back(held ? count++ : -1);
    }
    tile.array_count = std::max(tile.array_count, count);
  }
}

/// Makes the tests that code asks before it loads words.
void test_words(ir::ExprContext& exprs, TransposeTile& tile) {
  tile.loads.shift = exprs.variable("word_shift", kShift);
  tile.loads.lowest = exprs.variable("lowest", kLowest);
  tile.loads.highest = exprs.variable("highest", kHighest);
  tile.loads.extent = exprs.variable("loaded_extent", kExtent);
  tile.loads.tests = {
      exprs.sub(tile.loads.lowest, exprs.constant(tile.lanes - 1)),
      exprs.sub(tile.loads.extent, exprs.add(tile.loads.highest, exprs.constant(Int128{2} * tile.lanes)))};
  tile.loads.word_tests = {exprs.sub(tile.loads.lowest, tile.loads.shift),
                           exprs.sub(tile.loads.extent, exprs.add(tile.loads.highest, exprs.constant(tile.lanes)))};
}

/// Returns a position's tests, for all columns from `first` to `last`.
std::vector<Expr> tests_at(ir::ExprContext& exprs, const TransposeTile& tile, Expr row, Expr last, Expr first) {
  std::vector<Expr> all;
  for (std::size_t i = 0; i < tile.tests.size(); ++i)
    all.push_back(replaced(exprs, replaced(exprs, tile.tests[i], tile.row, row), tile.column,
                           i == kFirstColumnTest ? first : last));
  return all;
}

/// Numbers the tiles of a launch. Parts of the innermost axis change fastest, so neighbouring blocks write adjacent
/// memory: a sector shared by two tiles is whole before it leaves the cache. (On an H200, misaligned f32: 0.68 of a
/// copy, and 0.59 with the cross axis fastest; aligned 0.73 and 0.72.)
void number_tiles(const Kernel& kernel, ir::ExprContext& exprs, TransposeTile& tile) {
  const Expr side = exprs.constant(tile.side());
  const Expr one = exprs.constant(1);
  const Expr cross = kernel.extent(tile.axis);
  const Expr columns = kernel.extents.back();
  const Expr stored = exprs.constant(tile.stored_columns());
  const Expr halo = exprs.constant(tile.halo());
  tile.stored_step = ir::Layout::dense(exprs, kernel.extents).step_of(exprs, tile.axis, 1);
  tile.cross_first = exprs.mul(side, tile.cross_tile);
  tile.column_first = exprs.sub(exprs.mul(stored, tile.column_tile), halo);
  const auto left = [&](Expr extent, Expr at) { return exprs.sub(exprs.sub(extent, at), one); };
  tile.tests = {left(cross, exprs.add(tile.cross_first, tile.row)),
                left(columns, exprs.add(tile.column_first, tile.column)), exprs.add(tile.column_first, tile.column)};
  const Expr last_column = exprs.constant(tile.columns() - 1);
  tile.whole = tests_at(exprs, tile, exprs.sub(side, one), last_column, tile.needed);
  tile.some = left(columns, exprs.add(tile.column_first, tile.needed));
  const Expr last_lane = exprs.add(tile.copied_column, exprs.constant(tile.vector_elements() - 1));
  tile.copied_tests = tests_at(exprs, tile, tile.copied_row, last_lane, tile.copied_column);
  // The last rows may begin in the halo of a tile that has no other part of them.
  const Expr reached = exprs.sub(exprs.add(columns, halo), one);
  tile.digits = {{tile.column_tile, exprs.ceildiv(reached, stored)}, {tile.cross_tile, exprs.ceildiv(cross, side)}};
  for (int axis = kernel.rank() - 2; axis >= 0; --axis)
    if (axis != tile.axis) tile.digits.push_back({kernel.coordinate(axis), kernel.extent(axis)});
  tile.tiles = one;
  for (const TileDigit& digit : tile.digits) tile.tiles = exprs.mul(tile.tiles, digit.count);
}

/// Finds the runs of a tile.
class RunFinder {
 public:
  RunFinder(const Schedule& schedule, TransposeTile& tile)
      : schedule_(schedule),
        exprs_(schedule.exprs()),
        tile_(tile),
        cross_(schedule.kernel.coordinate(tile.axis)),
        side_(exprs_.constant(tile.side())) {}

  void find() { visit(0, {}); }

 private:
  /// Visits the tree of cases, with the tests of a path.
  void visit(std::size_t index, const std::vector<Expr>& path) {
    const ScheduledCase& row = schedule_.cases[index];
    if (!row.is_test()) {
      for (std::size_t call = 0; call < row.calls.size(); ++call) add_run(index, call, path);
      if (tile_.cases.size() < kMostCases &&
          std::ranges::all_of(row.calls, [&](const SegmentCall& call) { return goes_by_words(call); }))
        tile_.cases.push_back({.row_case = index, .tests = path});
      return;
    }
    std::vector<Expr> holds = path;
    bool possible = true;
    for (const ConditionId id : schedule_.kernel.graph.conditions_of(row.test)) {
      const Condition& condition = schedule_.kernel.graph.condition(id);
      const bool is_zero = condition.kind == Condition::Kind::zero;
      possible &= add_at_ends(holds, condition.expr) && (!is_zero || add_at_ends(holds, exprs_.neg(condition.expr)));
      // A condition that fails at both ends fails between them.
      std::vector<Expr> fails = path;
      const Expr below = exprs_.sub(exprs_.neg(condition.expr), exprs_.constant(1));
      if (!is_zero && add_at_ends(fails, below)) visit(static_cast<std::size_t>(row.fails), fails);
    }
    if (possible) visit(static_cast<std::size_t>(row.holds), holds);
  }

  /// Adds e >= 0 at both ends of a tile's rows, which suffices for a linear e; returns false if e is not linear.
  bool add_at_ends(std::vector<Expr>& tests, Expr e) {
    if (!mentions(e, cross_)) {
      tests.push_back(e);
      return true;
    }
    const auto recurrence = recurrence_in(exprs_, e, cross_);
    if (!recurrence || !recurrence->is_even()) return false;
    const Expr last = exprs_.sub(exprs_.add(tile_.cross_first, side_), exprs_.constant(1));
    for (const Expr end : {tile_.cross_first, last}) tests.push_back(replaced(exprs_, e, cross_, end));
    return true;
  }

  void add_run(std::size_t row_case, std::size_t index, const std::vector<Expr>& path) {
    const SegmentCall& call = schedule_.cases[row_case].calls[index];
    if (schedule_.body_of(call).loads.empty() || !goes_by_words(call) || tile_.runs.size() == kMostRuns) return;
    TileRun run{.row_case = row_case, .call = index, .tests = path};
    run.tests.push_back(exprs_.sub(exprs_.add(tile_.column_first, tile_.needed), call.begin));
    run.tests.push_back(exprs_.sub(call.end, exprs_.add(tile_.column_first, exprs_.constant(tile_.columns()))));
    tile_.runs.push_back(std::move(run));
  }

  bool goes_by_words(const SegmentCall& call) {
    const Body& body = schedule_.body_of(call);
    if (body.uses_rows || reads_indices(body)) return false;
    for (std::size_t i = 0; i < body.loads.size(); ++i)
      if (body.loads[i].kind != LoadKind::strided || !is_word(call.sources[i])) return false;
    return true;
  }

  /// Returns whether a load's elements of neighbouring rows in a block are adjacent in memory.
  bool is_word(const LoadSource& source) {
    if (tile_.lanes == 1) return true;
    const auto recurrence = recurrence_in(exprs_, source.base, cross_);
    return recurrence && recurrence->is_even() && recurrence->step.is_constant(1);
  }

  const Schedule& schedule_;
  ir::ExprContext& exprs_;
  TransposeTile& tile_;
  Expr cross_, side_;
};

/// Makes a tile of this size (large for `by_output`) of a schedule that has its bodies. Nothing if no load that moves
/// with the innermost coordinate is contiguous along another output axis. Of several such axes it takes the one of most
/// loads. Other loads, and those without room in shared memory, are done element by element where they are needed.
std::optional<TransposeTile> make_transpose_tile(const Schedule& schedule, int threads, TileSize size) {
  const std::vector<std::vector<int>> axes = cross_axes(schedule);
  const int axis = most_frequent(axes, schedule.kernel.rank());
  if (axis < 0) return std::nullopt;
  int widest = 1;
  for (const Body& body : schedule.bodies) widest = std::max(widest, widest_bytes(body, /*for_threads=*/true));
  ir::ExprContext& exprs = schedule.exprs();
  TransposeTile tile;
  static_cast<TileGeometry&>(tile) =
      tile_geometry(exprs, tile_shape(size, widest, threads, /*has_one_result=*/schedule.kernel.results.size() == 1));
  tile.size = size == TileSize::by_output ? TileSize::large : size;
  if (tile.size != TileSize::large) tile.most_tiles = tile.size == TileSize::small ? kMostSmallTiles : kMostMediumTiles;
  tile.axis = axis;
  tile.cross_tile = exprs.variable("cross_tile", kCrossTile);
  tile.column_tile = exprs.variable("inner_tile", kColumnTile);
  tile.needed = exprs.variable("first_needed", kNeeded);
  choose_arrays(schedule, tile, axes);
  number_tiles(schedule.kernel, exprs, tile);
  test_words(exprs, tile);
  if (tile.holds_results) RunFinder(schedule, tile).find();
  return tile;
}

/// Adds smaller tiles, except those of a shape that is there already.
void add_smaller_tiles(const Schedule& schedule, int threads, std::vector<TransposeTile>& shapes) {
  for (const TileSize size : {TileSize::medium, TileSize::small}) {
    std::optional<TransposeTile> tile = make_transpose_tile(schedule, threads, size);
    const TransposeTile& larger = shapes.back();
    if (tile->column_words != larger.column_words || tile->threads != larger.threads)
      shapes.push_back(std::move(*tile));
  }
}

}  // namespace

bool cover_by_tiles(Schedule& schedule, const ScheduleOptions& options) {
  const int threads = options.blocks->threads;
  const TileSize size = options.blocks->tile_size;
  std::optional<TransposeTile> tile = make_transpose_tile(schedule, threads, size);
  if (!tile) return false;
  Tiles tiles;
  tiles.shapes.push_back(std::move(*tile));
  if (size == TileSize::by_output) add_smaller_tiles(schedule, threads, tiles.shapes);
  // Positions of a tile are computed one by one.
  for (Body& body : schedule.bodies) body.strategies = make_loop_strategies(schedule.exprs(), {});
  schedule.cover = std::move(tiles);
  return true;
}

}  // namespace padlock::compiler
