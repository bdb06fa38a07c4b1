#include <algorithm>

#include "tests/compiler/seeded/wrong_schedule.h"

// Seeded bugs of GPU schedules: of the grid of vectors, and of tiles through shared memory.
namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

/// Without the test number `which`, of as many as there are.
template <class Test>
void drop(std::vector<Test>& tests, std::size_t which) {
  if (which < tests.size()) tests.erase(tests.begin() + static_cast<std::ptrdiff_t>(which));
}

class GridEditor {
 public:
  GridEditor(Schedule& schedule, Mutation mutation)
      : schedule_(schedule), grid_(*schedule.grid()), exprs_(schedule.exprs()), mutation_(mutation) {}

  void edit() {
    const Expr step = exprs_.constant(std::int64_t{grid_.threads} * grid_.lanes);
    if (mutation_ == vector_late) grid_.first = plus(grid_.first, 1);
    if (mutation_ == vectors_overlap) grid_.first = exprs_.sub(grid_.first, grid_.slot);
    if (mutation_ == vector_tiles_rounded_down)
      grid_.blocks = exprs_.floordiv(grid_.elements, exprs_.mul(step, grid_.used));
    if (mutation_ == vector_tiles_doubled) grid_.blocks = exprs_.mul(grid_.blocks, exprs_.constant(2));
    if (mutation_ == vectors_of_launch_many) grid_.launched = exprs_.constant(grid_.vectors + 1);
    edit_granules(grid_.granules);
    if (mutation_ == segment_end_half && grid_.uneven)
      for (Expr& past : *grid_.uneven) past = exprs_.mod(past, exprs_.constant(std::max(1, grid_.lanes / 2)));
    if (grid_.table) edit_table(*grid_.table);
    if (mutation_ != edge_taken_whole) return;
    for (Body& body : schedule_.bodies)
      for (LoopStrategy& strategy : body.strategies) strategy.entry_conditions.clear();
  }

 private:
  void edit_granules(Granules& granules) {
    if (mutation_ == granule_before_untested) drop(granules.tests, 0);
    if (mutation_ == granule_after_untested) drop(granules.tests, 1);
    if (mutation_ == granule_next) granules.offset = plus(granules.offset, grid_.lanes);
  }
  void edit_table(RowTable& table) {
    if (mutation_ == table_row_late) table.place = plus(table.place, table.row_bytes());
    if (mutation_ == table_row_short) table.bytes = plus(table.bytes, -table.row_bytes());
    if (mutation_ == table_begins_late) table.first = plus(table.first, 1);
    if (mutation_ == table_ends_early) table.last = plus(table.last, -1);
    if (mutation_ == table_ends_late) table.last = plus(table.last, 1);
  }
  Expr plus(Expr e, int c) { return exprs_.add(e, exprs_.constant(c)); }

  Schedule& schedule_;
  VectorGrid& grid_;
  ir::ExprContext& exprs_;
  Mutation mutation_;
};

class GeometryEditor {
 public:
  GeometryEditor(ir::ExprContext& exprs, TileGeometry& tile, Mutation mutation)
      : exprs_(exprs), tile_(tile), mutation_(mutation) {}

  void edit() {
    edit_positions();
    edit_words();
    edit_squares();
  }

 private:
  /// Which position is loaded or stored by whom.
  void edit_positions() {
    if (mutation_ == tile_loads_half)
      tile_.loaded_row = exprs_.mod(tile_.loaded_row, exprs_.constant(tile_.side() / 2));
    if (mutation_ == tile_loads_block) tile_.loaded_column = tile_.square_column;
    if (mutation_ == tile_stores_late) tile_.stored_column = plus(tile_.stored_column, 1);
    if (mutation_ == tile_stores_twice)
      tile_.stored_row = exprs_.floordiv(tile_.slot, exprs_.constant(2 * tile_.stored_columns()));
    if (mutation_ == tile_phase_ignored)
      for (Expr* column : {&tile_.stored_column, &tile_.copied_column}) *column = exprs_.add(*column, tile_.phase);
    if (mutation_ == tile_next_word_lost) tile_.copied_lane = exprs_.constant(0);
    if (mutation_ == tile_copies_wide) tile_.copied_row = exprs_.floordiv(tile_.copied_row, exprs_.constant(2));
    if (mutation_ == tile_copies_overlap)
      tile_.copied_column = exprs_.sub(tile_.copied_column, tile_.copied_digits[0].value);
    if (mutation_ == tile_copies_late) tile_.copied_word = plus(tile_.copied_word, 1);
    if (mutation_ == tile_copies_swapped) std::swap(tile_.copied_row, tile_.copied_column);
  }
  /// Where shared memory has a position.
  void edit_words() {
    if (mutation_ == tile_words_shared)
      tile_.word = exprs_.sub(tile_.word, exprs_.floordiv(tile_.row, exprs_.constant(2)));
    if (mutation_ == tile_words_late) tile_.word = plus(tile_.word, 8);
    if (mutation_ == tile_lane_ignored) tile_.lane = exprs_.constant(0);
  }
  void edit_squares() {
    if (mutation_ == tile_block_late) tile_.square_column = plus(tile_.square_column, 1);
    if (mutation_ == tile_block_word_late) tile_.square_word = plus(tile_.square_word, 1);
    if (mutation_ == tile_block_rows_shared) tile_.square_word = exprs_.add(tile_.square_word, tile_.line);
  }
  Expr plus(Expr e, int c) { return exprs_.add(e, exprs_.constant(c)); }

  ir::ExprContext& exprs_;
  TileGeometry& tile_;
  Mutation mutation_;
};

class TileEditor {
 public:
  TileEditor(Schedule& schedule, Mutation mutation)
      : schedule_(schedule), tile_(schedule.tiles()->shapes.front()), exprs_(schedule.exprs()), mutation_(mutation) {}

  void edit() {
    edit_digits();
    edit_tests();
    edit_geometry(exprs_, tile_, mutation_);
    if (mutation_ != tile_rows_apart) return;
    for (ScheduledCase& row : schedule_.cases)
      for (SegmentCall& call : row.calls)
        for (LoadSource& source : call.sources) source.base = exprs_.mul(exprs_.constant(2), source.base);
  }

 private:
  /// Where along the axes a tile lies, and how many there are.
  void edit_digits() {
    if (mutation_ == tile_row_pitch_long)
      tile_.cross_first = exprs_.mul(exprs_.constant(tile_.side() + 1), tile_.cross_tile);
    if (mutation_ == tile_column_pitch_short)
      tile_.column_first = exprs_.mul(exprs_.constant(tile_.side() - 1), tile_.column_tile);
    if (mutation_ == tile_roles_swapped) std::swap(tile_.cross_first, tile_.column_first);
    std::vector<TileDigit>& digits = tile_.digits;
    if (mutation_ == tile_count_halved) digits[1].count = exprs_.floordiv(digits[1].count, exprs_.constant(2));
    if (mutation_ == tile_counts_swapped) std::swap(digits.back().count, digits[digits.size() - 2].count);
    if (mutation_ == tile_phase_not_launched)
      digits[0].count = exprs_.ceildiv(schedule_.columns, exprs_.constant(tile_.stored_columns()));
    if (mutation_ == tile_not_launched) tile_.tiles = plus(tile_.tiles, -1);
  }
  void edit_tests() {
    if (mutation_ == tile_row_untested) drop(tile_.tests, 0);
    if (mutation_ == tile_column_untested) drop(tile_.tests, 1);
    if (mutation_ == tile_column_before_untested) drop(tile_.tests, 2);
    if (mutation_ == tile_copies_untested) drop(tile_.copied_tests, 1);
    if (mutation_ == tile_test_strict) tile_.tests[0] = plus(tile_.tests[0], -1);
    if (mutation_ == tile_run_untested)
      for (TileRun& run : tile_.runs) drop(run.tests, run.tests.size() - 1);
    if (mutation_ == tile_part_untested)
      for (TileCase& one : tile_.cases) drop(one.tests, one.tests.size() - 1);
    if (mutation_ == tile_one_word_early) drop(tile_.loads.word_tests, 0);
    if (mutation_ == tile_one_word_late) drop(tile_.loads.word_tests, 1);
    if (mutation_ == tile_whole_untested) drop(tile_.whole, tile_.whole.size() - 1);
    if (mutation_ == tile_left_out_early) tile_.some = plus(tile_.some, -1);
    if (mutation_ == tile_word_before_untested) drop(tile_.loads.tests, 0);
    if (mutation_ == tile_word_after_untested) drop(tile_.loads.tests, 1);
  }
  Expr plus(Expr e, int c) { return exprs_.add(e, exprs_.constant(c)); }

  Schedule& schedule_;
  TransposeTile& tile_;
  ir::ExprContext& exprs_;
  Mutation mutation_;
};

}  // namespace

void edit_geometry(ir::ExprContext& exprs, TileGeometry& tile, Mutation mutation) {
  GeometryEditor(exprs, tile, mutation).edit();
}

void edit_grid(Schedule& schedule, Mutation mutation) {
  if (schedule.grid() != nullptr) GridEditor(schedule, mutation).edit();
  if (schedule.tiles() != nullptr) TileEditor(schedule, mutation).edit();
}

void edit_reaches(Schedule& schedule, Mutation mutation) {
  ir::ExprContext& exprs = schedule.exprs();
  for (TensorReach& reach : schedule.index32.reaches) {
    if (mutation == reach_begins_late) reach.least = exprs.add(reach.least, exprs.constant(1));
    if (mutation == reach_ends_early) reach.most = exprs.sub(reach.most, exprs.constant(1));
    if (mutation == reach_step_lost && !reach.steps.empty()) reach.steps.front() = exprs.constant(0);
  }
}

}  // namespace padlock::compiler
