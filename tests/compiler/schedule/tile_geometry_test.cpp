#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>

#include "compiler/schedule/model/tiles.h"
#include "compiler/targets/gpu_config.h"
#include "tests/compiler/schedule/all_points.h"
#include "tests/compiler/seeded/seeded_bugs.h"
#include "tests/compiler/seeded/wrong_schedule.h"

// A tile's positions and words do not depend on sizes. So they are tested and not proved: all positions of each shape
// that a schedule can have, with the expressions from which code is made.
namespace padlock::compiler {
namespace {

using ir::Expr;

class TileCheck {
 public:
  TileCheck(ir::ExprContext& exprs, const TileGeometry& tile)
      : exprs_(exprs),
        tile_(tile),
        thread_(exprs.variable("thread", kThread)),
        turn_(exprs.variable("turn", kThread + 1)),
        element_(exprs.variable("element", kThread + 2)) {}

  /// Returns the first mistake, with the position, or nothing.
  std::string mistake() {
    const auto own = tile_.squares() - tile_.halo_squares();
    check("shared memory", places());
    check("squares of the halo", squares(0, tile_.halo_squares(), 0, tile_.halo()));
    check("squares", squares(tile_.halo_squares(), own, tile_.halo(), tile_.columns()));
    check("steps of squares", steps_of_squares());
    for (int phase = 0; phase < tile_.halo() && mistake_.empty(); ++phase) {
      check("stored positions", stored(phase));
      check("stored vectors", stored_vectors(phase));
      check("words of stored vectors", words_of_vectors(phase));
    }
    check("digits of threads", digits());
    return mistake_;
  }

 private:
  static constexpr int kThread = 2000;  // after those of a schedule

  void check(std::string_view what, const std::string& mistake) {
    if (!mistake_.empty() || mistake.empty()) return;
    mistake_ = fmt::format("tile of {} x {}, {} threads: {}: {}", tile_.side(), tile_.stored_columns(), tile_.threads,
                           what, mistake);
  }

  /// Each position of a tile has a word and a lane of an array for itself.
  std::string places() {
    return check_places(exprs_, {{{tile_.row, tile_.side()}, {tile_.column, tile_.columns()}}},
                        {{{tile_.word, 0, tile_.array_words()}, {tile_.lane, 0, tile_.lanes}}}, Times::at_most_once);
  }

  /// Checks that threads take squares in turn and have each position of some columns once: one by one, or by lines,
  /// whose elements lie in a word.
  std::string squares(int first, int count, int begin, int end) {
    Points points = in_turn(tile_.square, first, count);
    points.loops.push_back({tile_.slot, std::int64_t{tile_.lanes} * tile_.lanes});
    std::string mistake =
        check_places(exprs_, points, positions(tile_.loaded_row, tile_.loaded_column, begin, end), Times::once);
    if (!mistake.empty()) return mistake;
    points.loops.back() = {tile_.line, tile_.lanes};
    points.loops.push_back({element_, tile_.lanes});
    points.lets.emplace_back(tile_.row, exprs_.add(tile_.square_row, tile_.line));
    points.lets.emplace_back(tile_.column, exprs_.add(tile_.square_column, element_));
    mistake = check_places(exprs_, points, positions(tile_.row, tile_.column, begin, end), Times::once);
    if (!mistake.empty()) return mistake;
    return check_equal(exprs_, points,
                       {{"the word", tile_.square_word, tile_.word}, {"the lane", element_, tile_.lane}});
  }

  /// In the next round a thread has the same rows, and columns that lie a constant further; all have a square in it.
  std::string steps_of_squares() {
    if ((tile_.squares() - tile_.halo_squares()) % tile_.threads != 0) return "some threads have more than others";
    const Expr next = exprs_.add(tile_.square, constant(tile_.threads));
    const Expr step = constant(tile_.lanes * tile_.threads / kTileWords);
    return check_equal(
        exprs_, {{{tile_.square, tile_.squares()}}},
        {{"the row", with(tile_.square_row, tile_.square, next), tile_.square_row},
         {"the column", with(tile_.square_column, tile_.square, next), exprs_.add(tile_.square_column, step)}});
  }

  std::string stored(int phase) {
    Points points = in_turn(tile_.slot, 0, tile_.positions());
    points.lets.emplace_back(tile_.phase, constant(phase));
    return check_places(exprs_, points, stored_positions(tile_.stored_row, tile_.stored_column, phase), Times::once);
  }

  std::string stored_vectors(int phase) {
    return check_places(exprs_, vectors(phase), stored_positions(tile_.row, tile_.column, phase), Times::once);
  }

  /// Checks the words of stored vectors. Element n of a vector is number `copied_lane` + n of the words from
  /// `copied_word` on; the code loads one word more than a vector has. A vector's address is a multiple of its size,
  /// and differs from the first vector's by steps of rounds and of phases.
  std::string words_of_vectors(int phase) {
    const Points points = vectors(phase);
    const Expr lanes = constant(tile_.lanes);
    const Expr taken = exprs_.add(tile_.copied_lane, element_);
    const Expr past = exprs_.sub(exprs_.add(tile_.copied_column, tile_.phase), constant(tile_.halo()));
    const auto row_of = [&](int round) { return with(tile_.copied_row, tile_.round, constant(round)); };
    const Expr step = exprs_.sub(row_of(1), row_of(0));
    std::string mistake = check_equal(
        exprs_, points,
        {{"the word", exprs_.add(tile_.copied_word, exprs_.floordiv(taken, lanes)), tile_.word},
         {"the lane", exprs_.mod(taken, lanes), tile_.lane},
         {"elements past a multiple of a vector", exprs_.mod(past, constant(tile_.vector_elements())), constant(0)},
         {"the row", exprs_.add(row_of(0), exprs_.mul(tile_.round, step)), tile_.copied_row},
         {"the column", exprs_.sub(with(tile_.copied_column, tile_.phase, constant(0)), tile_.phase),
          tile_.copied_column}});
    if (!mistake.empty()) return mistake;
    Points each = points;
    each.loops.pop_back();
    each.lets.pop_back();  // of the element's column
    return check_places(exprs_, each, {{{tile_.copied_word, 0, tile_.array_words() - tile_.vector_words()}}},
                        Times::any);
  }

  /// Code takes digits by masks and shifts.
  std::string digits() {
    std::int64_t product = 1;
    for (const TileDigit& digit : tile_.copied_digits) {
      const auto count = static_cast<std::uint64_t>(digit.count.constant());
      if (!std::has_single_bit(count)) return fmt::format("{} has {} values", to_string(exprs_, digit.value), count);
      product *= static_cast<std::int64_t>(count);
    }
    return product == tile_.copiers() ? "" : fmt::format("{} threads store vectors of {}", tile_.copiers(), product);
  }

  // --- points and positions -----------------------------------------------------------------------------------------

  /// Numbers from `first` on, which threads take in turn.
  [[nodiscard]] Points in_turn(Expr number, std::int64_t first, std::int64_t count) {
    const Expr own = exprs_.add(thread_, exprs_.mul(constant(tile_.threads), turn_));
    return {.loops = {{turn_, (count + tile_.threads - 1) / tile_.threads}, {thread_, tile_.threads}},
            .lets = {{number, exprs_.add(own, constant(first))}},
            .conditions = {exprs_.sub(constant(count - 1), own)}};
  }
  /// The elements of the vectors that threads store in rows of a phase.
  [[nodiscard]] Points vectors(int phase) {
    Points points{
        .loops = {{tile_.round, tile_.rounds()}, {thread_, tile_.copiers()}, {element_, tile_.vector_elements()}}};
    points.lets.emplace_back(tile_.phase, constant(phase));
    Expr left = thread_;
    for (const TileDigit& digit : tile_.copied_digits) {
      const bool is_last = &digit == &tile_.copied_digits.back();
      points.lets.emplace_back(digit.value, is_last ? left : exprs_.mod(left, digit.count));
      left = exprs_.floordiv(left, digit.count);
    }
    points.lets.emplace_back(tile_.row, tile_.copied_row);
    points.lets.emplace_back(tile_.column, exprs_.add(tile_.copied_column, element_));
    return points;
  }
  [[nodiscard]] Box positions(Expr row, Expr column, int begin, int end) const {
    return {{{row, 0, tile_.side()}, {column, begin, end}}};
  }
  [[nodiscard]] Box stored_positions(Expr row, Expr column, int phase) const {
    return positions(row, column, tile_.halo() - phase, tile_.halo() - phase + tile_.stored_columns());
  }
  [[nodiscard]] Expr with(Expr e, Expr variable, Expr value) {
    return exprs_.substitute(e, [&](Expr symbol) { return symbol == variable ? value : symbol; });
  }
  [[nodiscard]] Expr constant(std::int64_t value) { return exprs_.constant(value); }

  ir::ExprContext& exprs_;
  const TileGeometry& tile_;
  Expr thread_, turn_, element_;
  std::string mistake_;
};

std::string mistake_in(ir::ExprContext& exprs, const TileGeometry& tile) { return TileCheck(exprs, tile).mistake(); }

struct Mutant {
  Mutation mutation;
  int lanes;                 ///< of the narrowest word in which it is one
  std::string_view mistake;  ///< in the first shape
};
using enum Mutation;

constexpr auto kMutants = std::to_array<Mutant>({
    {tile_loads_half, 1, "squares of the halo: (0, 0) is at"},
    {tile_loads_block, 2, "squares of the halo: (0, 0) is at"},
    {tile_stores_late, 1, "stored positions: (0, 160) at"},
    {tile_stores_twice, 1, "stored positions: (0, 32) is at"},
    {tile_words_shared, 1, "squares of the halo: the word is 2824 or 2823 at"},
    {tile_words_late, 1, "shared memory: (5648, 0) at"},
    {tile_lane_ignored, 2, "shared memory: (0, 0) is at"},
    {tile_block_late, 1, "squares of the halo: (0, 32) at"},
    {tile_block_word_late, 1, "squares of the halo: the word is 1 or 0 at"},
    {tile_block_rows_shared, 2, "squares of the halo: the word is 1413 or 1412 at"},
    {tile_copies_wide, 1, "stored vectors: (0, 32) is at"},
    {tile_copies_swapped, 1, "stored vectors: (32, 0) at"},
    {tile_copies_overlap, 1, "stored vectors: (0, 47) is at"},
    {tile_copies_late, 1, "words of stored vectors: the word is 9 or 8 at"},
    {tile_phase_ignored, 1, "stored positions: (0, 159) at"},
    {tile_next_word_lost, 2, "words of stored vectors: the lane is 0 or 3 at"},
});

}  // namespace

TEST_CASE("every shape of a tile has each of its positions once, and in a place of its own") {
  const std::vector<TileShape> shapes = tile_shapes();
  CHECK(shapes.size() == 24);
  for (const TileShape& shape : shapes) {
    ir::ExprContext exprs;
    CHECK(mistake_in(exprs, tile_geometry(exprs, shape)) == "");
  }
}

TEST_CASE("tiles have no other shapes, whatever the config, the types and the results are") {
  const std::vector<TileShape> shapes = tile_shapes();
  std::set<std::pair<TileSize, int>> configs;
  for (const GpuConfig& config : GpuConfig::all())
    for (const TileSize size : {config.tiles, TileSize::medium, TileSize::small}) configs.emplace(size, config.threads);
  CHECK(configs.size() == 16);
  for (const auto& [size, threads] : configs)
    for (const int widest : {1, 2, 4, 8})
      for (const bool has_one_result : {true, false})
        CHECK(std::ranges::find(shapes, tile_shape(size, widest, threads, has_one_result)) != shapes.end());
}

TEST_CASE("every seeded bug of a tile's geometry is found, in every shape that has it") {
  std::set<Mutation> seeded;
  for (const Mutant& mutant : kMutants) {
    CAPTURE(std::string(name_of(mutant.mutation)));
    CHECK(seeded.insert(mutant.mutation).second);
    CHECK(judge_of(mutant.mutation) == Judge::geometry);
    for (const TileShape& shape : tile_shapes()) {
      ir::ExprContext exprs;
      TileGeometry tile = tile_geometry(exprs, shape);
      edit_geometry(exprs, tile, mutant.mutation);
      const std::string mistake = mistake_in(exprs, tile);
      CAPTURE(mistake);
      CHECK((mistake != "") == (shape.lanes >= mutant.lanes));
      if (shape != tile_shapes().front()) continue;
      CHECK(mistake.starts_with(fmt::format("tile of 128 x 128, 128 threads: {}", mutant.mistake)));
    }
  }
  CHECK(std::ssize(seeded) == kByGeometry);
}

}  // namespace padlock::compiler
