#include "compiler/schedule/gpu/tiles.h"

#include <algorithm>

#include "compiler/schedule/cases/row_recurrence.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above those of a grid of vectors, below the variables of a run.
enum VariableOrder {
  kCrossTile = 960,
  kColumnTile,
  kSlot,
  kRound,
  kVector,
  kVectorGroup,
  kRowGroup,
  kRowOfGroup,
  kRow,
  kColumn,
  kPhase,
  kNeeded,
  kSquare,
  kLine,
  kShift,
  kLowest,
  kHighest,
  kExtent
};

/// A block of more has 64 registers a thread at most, which a tile of bytes spills.
constexpr int kFewestThreads = 128, kMostThreads = 512;
/// The code has a bit for each round in which all threads load a block each.
static_assert(kTileWords * (kHaloWords + 2 * kTileWords) <= 32 * kFewestThreads);

/// Up to so many small tiles are taken instead of larger ones. Of large tiles there would be half as many: 528, as many
/// as an H100 or H200 has at once (132 multiprocessors with four blocks of 256 threads). With fewer, some
/// multiprocessors have nothing to do while others do one thing after the other.
constexpr std::int64_t kMostSmallTiles = 1056;
/// Up to so many medium tiles are taken instead of large ones: 25 MiB of floats and of halves, 50 MiB of bytes. More
/// blocks end more evenly, and load more than they store. (On an H200, 8, 16, 24 and 32 MiB, aligned, of a copy: f32
/// 1.02, 1.00, 0.97 and 0.96 with medium tiles, 0.88, 0.94, 0.95 and 0.96 with large ones; f16 0.93, 0.93, 0.92 and
/// 0.91, and 0.82, 0.90, 0.92 and 0.92. Misaligned f32 0.94, 0.92, 0.91 and 0.91, and 0.80, 0.86, 0.88 and 0.89; f16
/// 0.77, 0.79, 0.77 and 0.77, and 0.65, 0.75, 0.77 and 0.78. i8 of 16, 32 and 48 MiB 0.78, 0.80 and 0.80, and 0.68,
/// 0.79 and 0.83; misaligned 0.66, 0.69 and 0.68, and 0.55, 0.63 and 0.67.)
constexpr std::int64_t kMostMediumTiles = 6336;

/// Every GPU gives a block so much without being asked.
constexpr int kSharedBytes = 48 << 10;

/// Bounds the runs: more are not worth their tests.
constexpr std::size_t kMostRuns = 8;
/// Bounds the cases: more are not worth their code.
constexpr std::size_t kMostCases = 2;

/// Indexes the test, among a position's tests, of whether its column is before the first.
constexpr std::size_t kFirstColumnTest = 2;

// Axes of loads that have none: they do not move with the innermost coordinate, or not along one other axis.
constexpr int kStays = -2, kScattered = -1;

/// Returns the axis of the output, none the innermost, along which a load is contiguous that moves with the innermost
/// coordinate.
int cross_axis(const Schedule& schedule, const LoadSource& source) {
  const Kernel& kernel = schedule.kernel;
  const ir::Layout& layout = kernel.graph.layout(source.layout);
  const Expr column = kernel.coordinate(kernel.rank() - 1);
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

/// The axes of the loads of all bodies, each by the first segment that has the body.
std::vector<std::vector<int>> cross_axes(const Schedule& schedule) {
  std::vector<std::vector<int>> axes(schedule.bodies.size());
  for (const ScheduledCase& row : schedule.cases)
    for (const SegmentCall& call : row.calls) {
      std::vector<int>& known = axes[static_cast<std::size_t>(call.body)];
      if (!known.empty()) continue;
      for (const LoadSource& source : call.sources) known.push_back(cross_axis(schedule, source));
    }
  return axes;
}

/// Returns the axis of most loads, the last of several; -1 where there is none.
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

/// An array for each result, where shared memory has room for all and every load goes along the axis or stays; else one
/// for each load along the axis, numbered in each body anew. A load in a sum's walks is done many times an element, and
/// so where the element is.
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

/// Which positions the slots are, and where shared memory has them.
void place_slots(ir::ExprContext& exprs, TransposeTile& tile) {
  const Expr columns = exprs.constant(tile.stored_columns());
  const Expr lanes = exprs.constant(tile.lanes);
  const Expr words = exprs.constant(kTileWords);
  const Expr halo = exprs.constant(tile.halo());
  tile.stored_row = exprs.floordiv(tile.slot, columns);
  const Expr first = exprs.sub(halo, tile.phase);  // of a row that is stored
  tile.stored_column = exprs.add(first, exprs.mod(tile.slot, columns));
  const auto line_at = [&](Expr plane, Expr line) {
    return exprs.add(exprs.mul(exprs.constant(tile.plane_words()), plane),
                     exprs.mul(exprs.constant(tile.pitch()), line));
  };
  const Expr group = exprs.floordiv(tile.row, halo);  // of eight lines
  tile.word = exprs.add(line_at(exprs.mod(tile.row, lanes), exprs.floordiv(tile.row, lanes)),
                        exprs.add(group, exprs.floordiv(tile.column, lanes)));
  tile.lane = exprs.mod(tile.column, lanes);
  const Expr block_row = exprs.mod(tile.square, words);
  const Expr block_column = exprs.floordiv(tile.square, words);
  const Expr block_group = exprs.floordiv(block_row, exprs.constant(kHaloWords));
  tile.square_row = exprs.mul(lanes, block_row);
  tile.square_column = exprs.mul(lanes, block_column);
  tile.loaded_row = exprs.add(tile.square_row, exprs.mod(tile.slot, lanes));
  tile.loaded_column = exprs.add(tile.square_column, exprs.floordiv(tile.slot, lanes));
  tile.square_word = exprs.add(line_at(tile.line, block_row), exprs.add(block_group, block_column));
}

/// Which vectors a thread stores.
void place_vectors(ir::ExprContext& exprs, TransposeTile& tile) {
  constexpr int kGroups = kTileWords / kHaloWords;
  const int together = std::min(8, tile.row_vectors());
  const int rows = std::min(tile.halo(), tile.threads / (kGroups * tile.row_vectors()));  // that are stored in a round
  const Expr of_eight = exprs.variable("vector", kVector);
  const Expr eight = exprs.variable("vector_group", kVectorGroup);
  const Expr group = exprs.variable("row_group", kRowGroup);
  const Expr of_group = exprs.variable("row_of_group", kRowOfGroup);
  tile.copied_digits = {{of_eight, exprs.constant(together)},
                        {group, exprs.constant(kGroups)},
                        {eight, exprs.constant(tile.row_vectors() / together)},
                        {of_group, exprs.constant(rows)}};
  const auto scaled = [&](int by, Expr e) { return exprs.mul(exprs.constant(by), e); };
  const Expr lanes = exprs.constant(tile.lanes);
  const Expr vector = exprs.add(of_eight, scaled(together, eight));
  const Expr row = exprs.add(of_group, scaled(rows, tile.round));
  const Expr first = exprs.sub(exprs.constant(tile.halo()), tile.phase);
  tile.copied_row = exprs.add(scaled(tile.halo(), group), row);
  tile.copied_column = exprs.add(first, scaled(tile.vector_elements(), vector));
  const Expr line =
      exprs.add(scaled(tile.plane_words(), exprs.mod(row, lanes)), scaled(tile.pitch(), exprs.floordiv(row, lanes)));
  const Expr in_line = exprs.add(exprs.floordiv(first, lanes), scaled(tile.vector_words(), vector));
  tile.copied_word = exprs.add(exprs.add(line, scaled(kHaloWords * tile.pitch() + 1, group)), in_line);
  tile.copied_lane = exprs.mod(first, lanes);
}

/// Makes the tests that code asks before it loads words.
void test_words(ir::ExprContext& exprs, TransposeTile& tile) {
  tile.loads.shift = exprs.variable("word_shift", kShift);
  tile.loads.lowest = exprs.variable("lowest", kLowest);
  tile.loads.highest = exprs.variable("highest", kHighest);
  tile.loads.extent = exprs.variable("loaded_extent", kExtent);
  tile.loads.tests = {exprs.sub(tile.loads.lowest, exprs.constant(tile.lanes - 1)),
                      exprs.sub(tile.loads.extent, exprs.add(tile.loads.highest, exprs.constant(2 * tile.lanes)))};
  tile.loads.word_tests = {exprs.sub(tile.loads.lowest, tile.loads.shift),
                           exprs.sub(tile.loads.extent, exprs.add(tile.loads.highest, exprs.constant(tile.lanes)))};
}

/// Returns the tests of a position for all columns between two.
std::vector<Expr> tests_at(ir::ExprContext& exprs, const TransposeTile& tile, Expr row, Expr last, Expr first) {
  std::vector<Expr> all;
  for (std::size_t i = 0; i < tile.tests.size(); ++i)
    all.push_back(exprs.substitute(tile.tests[i], [&](Expr symbol) {
      if (symbol == tile.row) return row;
      if (symbol != tile.column) return symbol;
      return i == kFirstColumnTest ? first : last;
    }));
  return all;
}

/// The tiles of a launch: the parts of the innermost axis change first, so that neighbouring blocks write what lies
/// together: a sector of memory of which two tiles have a part is then whole before it leaves the cache. (On an H200,
/// misaligned f32: 0.68 of a copy, and 0.59 where the cross axis is first; aligned 0.73 and 0.72.)
void number_tiles(const Kernel& kernel, ir::ExprContext& exprs, TransposeTile& tile) {
  const Expr side = exprs.constant(tile.side());
  const Expr one = exprs.constant(1);
  const Expr cross = kernel.extents[static_cast<std::size_t>(tile.axis)];
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
  // The last rows begin in the halo of a tile that they may have no other part of.
  const Expr reached = exprs.sub(exprs.add(columns, halo), one);
  tile.digits = {{tile.column_tile, exprs.ceildiv(reached, stored)}, {tile.cross_tile, exprs.ceildiv(cross, side)}};
  for (int axis = kernel.rank() - 2; axis >= 0; --axis)
    if (axis != tile.axis)
      tile.digits.push_back({kernel.coordinate(axis), kernel.extents[static_cast<std::size_t>(axis)]});
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
  /// Goes down the tree of cases with the tests of a path.
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
      // One condition that fails at both ends fails between them.
      std::vector<Expr> fails = path;
      const Expr below = exprs_.sub(exprs_.neg(condition.expr), exprs_.constant(1));
      if (!is_zero && add_at_ends(fails, below)) visit(static_cast<std::size_t>(row.fails), fails);
    }
    if (possible) visit(static_cast<std::size_t>(row.holds), holds);
  }

  /// Adds e >= 0 at both ends of a tile's rows, between which it is linear; false where it is not.
  bool add_at_ends(std::vector<Expr>& tests, Expr e) {
    if (!mentions(e, cross_)) {
      tests.push_back(e);
      return true;
    }
    const auto recurrence = recurrence_in(exprs_, e, cross_);
    if (!recurrence || !recurrence->is_even()) return false;
    const Expr last = exprs_.sub(exprs_.add(tile_.cross_first, side_), exprs_.constant(1));
    for (const Expr end : {tile_.cross_first, last})
      tests.push_back(exprs_.substitute(e, [&](Expr symbol) { return symbol == cross_ ? end : symbol; }));
    return true;
  }

  void add_run(std::size_t row_case, std::size_t index, const std::vector<Expr>& path) {
    const SegmentCall& call = schedule_.cases[row_case].calls[index];
    if (body_of(call).loads.empty() || !goes_by_words(call) || tile_.runs.size() == kMostRuns) return;
    TileRun run{.row_case = row_case, .call = index, .tests = path};
    run.tests.push_back(exprs_.sub(exprs_.add(tile_.column_first, tile_.needed), call.begin));
    run.tests.push_back(exprs_.sub(call.end, exprs_.add(tile_.column_first, exprs_.constant(tile_.columns()))));
    tile_.runs.push_back(std::move(run));
  }

  [[nodiscard]] const Body& body_of(const SegmentCall& call) const {
    return schedule_.bodies[static_cast<std::size_t>(call.body)];
  }

  bool goes_by_words(const SegmentCall& call) {
    const Body& body = body_of(call);
    if (body.uses_rows || reads_indices(body)) return false;
    for (std::size_t i = 0; i < body.loads.size(); ++i)
      if (body.loads[i].kind != LoadKind::strided || !is_word(call.sources[i])) return false;
    return true;
  }

  /// Returns whether the elements of the rows of a block are neighbours in memory.
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

/// Chooses how many words a row has, and who makes them. Each of 256 threads has eight words, or 16 of bytes: with
/// fewer, too few loads are on their way. (On an H200, aligned, 256 MiB, by hand: f32 0.85 of a copy with four words a
/// thread and 0.95 with eight; f16 0.76 and 0.93; i8 0.90 with eight and 0.94 with 16.) Of a small output that is all
/// that a multiprocessor does, one thing after the other: smaller tiles, and more threads for each. (Misaligned i8,
/// 1 MiB, by hand: 0.13 to 0.6 of a copy with large tiles, 0.88 with 16 words and 512 threads.)
void choose_shape(const Schedule& schedule, int threads, TransposeTile& tile) {
  tile.threads = std::max(kFewestThreads, threads);
  const bool is_element = tile.lanes == 1 && tile.word_bytes == 4;
  if (tile.size != TileSize::large) {
    if (!is_element) tile.column_words /= 2;
    if (tile.size == TileSize::small) tile.threads = std::min(kMostThreads, 2 * tile.threads);
    tile.most_tiles = tile.size == TileSize::small ? kMostSmallTiles : kMostMediumTiles;
    return;
  }
  // Words that are one element make small tiles, of which the halo would be a fifth. (Misaligned f32, 64 MiB, by hand:
  // 0.71 of a copy, and 0.89 with twice the columns. Bytes and halves, whose tiles are larger, lose by it.)
  if (is_element && schedule.kernel.results.size() == 1) tile.column_words *= 2;
}

/// Makes a tile of this size, large for `by_output`, of a schedule that has its bodies. Nothing where no load that
/// moves with the innermost coordinate is contiguous along another axis of the output, whatever the size. (Where there
/// are several such axes, it is the one of most loads; the other loads are done element by element where they are
/// needed, as those are that shared memory has no room for.)
std::optional<TransposeTile> make_transpose_tile(const Schedule& schedule, int threads, TileSize size) {
  const std::vector<std::vector<int>> axes = cross_axes(schedule);
  const int axis = most_frequent(axes, schedule.kernel.rank());
  if (axis < 0) return std::nullopt;
  int widest = 1;
  for (const Body& body : schedule.bodies) widest = std::max(widest, widest_bytes(body, /*for_threads=*/true));
  ir::ExprContext& exprs = schedule.exprs();
  TransposeTile tile;
  tile.size = size == TileSize::by_output ? TileSize::large : size;
  tile.axis = axis;
  tile.lanes = std::max(1, 4 / widest);
  tile.word_bytes = std::max(4, widest);
  choose_shape(schedule, threads, tile);
  tile.cross_tile = exprs.variable("cross_tile", kCrossTile);
  tile.column_tile = exprs.variable("inner_tile", kColumnTile);
  tile.slot = exprs.variable("position", kSlot);
  tile.round = exprs.variable("round", kRound);
  tile.row = exprs.variable("tile_row", kRow);
  tile.column = exprs.variable("tile_column", kColumn);
  tile.phase = exprs.variable("phase", kPhase);
  tile.needed = exprs.variable("first_needed", kNeeded);
  tile.square = exprs.variable("tile_square", kSquare);
  tile.line = exprs.variable("line", kLine);
  choose_arrays(schedule, tile, axes);
  place_slots(exprs, tile);
  place_vectors(exprs, tile);
  number_tiles(schedule.kernel, exprs, tile);
  test_words(exprs, tile);
  if (tile.holds_results) RunFinder(schedule, tile).find();
  return tile;
}

/// Adds tiles that are smaller, without those that are no other.
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
  const auto& [threads, _, size] = *options.blocks;
  std::optional<TransposeTile> tile = make_transpose_tile(schedule, threads, size);
  if (!tile) return false;
  Tiles tiles;
  tiles.shapes.push_back(std::move(*tile));
  if (size == TileSize::by_output) add_smaller_tiles(schedule, threads, tiles.shapes);
  // Positions of a tile are made one by one.
  for (Body& body : schedule.bodies) body.strategies = make_loop_strategies(schedule.exprs(), {});
  schedule.cover = std::move(tiles);
  return true;
}

}  // namespace padlock::compiler
