#include "tests/compiler/prover/seeded_gpu_schedule.h"

// Tiles through shared memory for what reads rows across: what is proved of them, and that seeded bugs of them are
// refuted.
namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::string_view kTurned =
    "program p(x: f32[A, B], l: dim) where A >= 1, B >= 1, 0 <= l <= 64 "
    "{ t = transpose(x, perm = [1, 0]) y = pad(t, low = [l, 2], high = [1, l]) return y }";
constexpr std::string_view kBytes =
    "program p(x: i8[N, H, W], l: dim) where N >= 1, H >= 2, W >= 2, 0 <= l < H, l < W "
    "{ t = transpose(x, perm = [0, 2, 1]) y = pad(t, low = [0, l, l], high = [0, l, l], mode = reflect) "
    "z = relu(y) return z }";
constexpr std::string_view kHalves =
    "program p(x: f16[A, B], y: f16[B, A]) where A >= 1, B >= 1 "
    "{ t = transpose(x, perm = [1, 0]) z = add(t, y) return z }";
constexpr std::string_view kHalvesAlone =
    "program p(x: f16[A, B]) where A >= 1, B >= 1 { y = transpose(x, perm = [1, 0]) return y }";
constexpr std::string_view kWide =
    "program p(x: f64[A, B, C]) where A >= 1, B >= 1, C >= 1 { y = transpose(x, perm = [2, 0, 1]) return y }";
constexpr std::string_view kRows =
    "program p(x: f32[A, B]) where A >= 1, B >= 1 { y = pad(x, low = [1, 1], high = [1, 1]) return y }";

void check_schedule_refuted(std::string_view text, ObligationKind kind, std::string_view violation,
                            const std::function<void(Schedule&)>& edit) {
  check_gpu_refuted(text, "map=tiled", kind, violation, edit);
}

void check_refuted(std::string_view text, ObligationKind kind, std::string_view violation,
                   const std::function<void(TransposeTile&, ir::ExprContext&)>& edit) {
  check_schedule_refuted(text, kind, violation, [&](Schedule& schedule) { edit(*schedule.tile, schedule.exprs()); });
}

}  // namespace

TEST_CASE("tiles: every obligation is decided, for every number of threads") {
  for (const std::string_view text : {kTurned, kBytes, kHalves, kWide})
    for (const std::string_view config : {"threads=128", "threads=256", "threads=512,cache=streaming"}) {
      CAPTURE(text);
      CAPTURE(config);
      const Proof proof = gpu_proof_of(text, config, [](Schedule& schedule) { CHECK(schedule.tile.has_value()); });
      for (const Obligation& one : proof.obligations) {
        CAPTURE(to_string(one));
        CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded || one.verdict == Verdict::dead));
      }
    }
}

TEST_CASE("tiles: they are the default of what reads rows across, and of nothing else") {
  for (const auto& [text, map] :
       {std::pair(kTurned, "map=tiled"), {kBytes, "map=tiled"}, {kHalves, "map=tiled"}, {kRows, "map=stream"}}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    const Schedule schedule = gpu_schedule_of(program, "");
    CHECK(schedule.config.starts_with(map));
    CHECK(schedule.tile.has_value() != schedule.grid.has_value());
    CHECK(gpu_schedule_of(program, "map=stream").grid.has_value());
  }
}

TEST_CASE("tiles: a step that is off by one leaves elements out, or makes some twice") {
  check_refuted(kTurned, ObligationKind::cover, "is not in tile", [](TransposeTile& tile, ir::ExprContext& exprs) {
    tile.cross_first = exprs.mul(exprs.constant(tile.side() + 1), tile.cross_tile);
  });
  check_refuted(kBytes, ObligationKind::disjoint, "is made twice", [](TransposeTile& tile, ir::ExprContext& exprs) {
    tile.column_first = exprs.mul(exprs.constant(tile.side() - 1), tile.column_tile);
  });
}

TEST_CASE("tiles: rounded down they leave elements out, and one of another axis makes too few of a coordinate") {
  check_refuted(kTurned, ObligationKind::cover, "is not in tile", [](TransposeTile& tile, ir::ExprContext& exprs) {
    tile.digits[1].count = exprs.floordiv(tile.digits[1].count, exprs.constant(2));
  });
  check_refuted(kBytes, ObligationKind::cover, "values of a coordinate are made of",
                [](TransposeTile& tile, ir::ExprContext&) { std::swap(tile.digits[1].count, tile.digits[2].count); });
  check_refuted(kWide, ObligationKind::cover, "tiles are launched of",
                [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.tiles, -1); });
}

TEST_CASE("tiles: a position that is not tested lies outside of the output") {
  for (const std::size_t dropped : {0U, 1U})
    check_refuted(kTurned, ObligationKind::store, "is made, the extent is",
                  [=](TransposeTile& tile, ir::ExprContext&) { tile.tests.erase(tile.tests.begin() + dropped); });
  check_refuted(kTurned, ObligationKind::cover, "is not in tile",
                [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.tests[0], -1); });
}

TEST_CASE("tiles: roles of the axes that are swapped are none of the output") {
  check_refuted(kTurned, ObligationKind::cover, "is not in tile",
                [](TransposeTile& tile, ir::ExprContext&) { std::swap(tile.cross_first, tile.column_first); });
  check_refuted(kTurned, ObligationKind::cover, "is not in tile",
                [](TransposeTile& tile, ir::ExprContext&) { std::swap(tile.digits[0].count, tile.digits[1].count); });
}

TEST_CASE("tiles: positions that are left out, on either side of the barrier") {
  for (const std::string_view text : {kTurned, kBytes, kHalves}) {
    check_refuted(text, ObligationKind::cover, "is not in number", [](TransposeTile& tile, ir::ExprContext& exprs) {
      tile.loaded_row = exprs.mod(tile.loaded_row, exprs.constant(tile.side() / 2));
    });
    check_refuted(text, ObligationKind::cover, "is not in number",
                  [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.stored_column, 1); });
  }
  check_refuted(kBytes, ObligationKind::cover, "is not in number",
                [](TransposeTile& tile, ir::ExprContext&) { tile.loaded_column = tile.block_column; });
  check_refuted(kTurned, ObligationKind::disjoint, "is in number", [](TransposeTile& tile, ir::ExprContext& exprs) {
    tile.stored_row = exprs.floordiv(tile.slot, exprs.constant(2 * tile.side()));
  });
}

TEST_CASE("tiles: a place of shared memory that two positions have, or that is in no array") {
  for (const std::string_view text : {kTurned, kBytes, kHalves}) {
    check_refuted(text, ObligationKind::disjoint, "holds the positions",
                  [](TransposeTile& tile, ir::ExprContext& exprs) {
                    tile.word = exprs.sub(tile.word, exprs.floordiv(tile.row, exprs.constant(2)));
                  });
    check_refuted(text, ObligationKind::store, "of an array of",
                  [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.word, 2); });
  }
  check_refuted(kBytes, ObligationKind::disjoint, "holds the positions",
                [](TransposeTile& tile, ir::ExprContext& exprs) { tile.lane = exprs.constant(0); });
}

TEST_CASE("tiles by words: a run with a test less is of positions of other segments, or of none") {
  const ir::Program program = testing::program_of(kTurned);
  const std::size_t tests = gpu_schedule_of(program, "").tile->runs.front().tests.size();
  CHECK(tests == 6);  // both ends of the rows for each condition, and both of the columns
  // In a case of rows the one end implies the other: of two tests of a condition one is enough.
  for (const std::size_t dropped : {0U, 3U, 4U, 5U})
    check_refuted(kTurned, ObligationKind::load, "is of another segment", [=](TransposeTile& tile, ir::ExprContext&) {
      std::vector<Expr>& all = tile.runs.front().tests;
      all.erase(all.begin() + dropped);
    });
  check_refuted(kTurned, ObligationKind::store, "is made of a whole tile",
                [](TransposeTile& tile, ir::ExprContext&) { tile.whole.pop_back(); });
}

TEST_CASE("tiles by words: rows of a block that lie apart in memory are no words") {
  check_schedule_refuted(kHalvesAlone, ObligationKind::load, "rows after", [](Schedule& schedule) {
    Expr& base = schedule.cases.front().calls.front().streams.front().base;
    base = schedule.exprs().mul(schedule.exprs().constant(2), base);
  });
}

TEST_CASE("tiles by words: blocks and stored words have each position once, where shared memory has it") {
  for (const std::string_view text : {kTurned, kBytes, kHalvesAlone}) {
    check_refuted(text, ObligationKind::cover, "is not in number",
                  [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.block_column, 1); });
    check_refuted(text, ObligationKind::store, "is taken for word",
                  [](TransposeTile& tile, ir::ExprContext& exprs) { shift(exprs, tile.block_word, 1); });
    check_refuted(text, ObligationKind::cover, "is not in number", [](TransposeTile& tile, ir::ExprContext& exprs) {
      tile.copied_row = exprs.floordiv(tile.slot, exprs.constant(kTilePitch));
    });
    check_refuted(text, ObligationKind::cover, "is not in number",
                  [](TransposeTile& tile, ir::ExprContext&) { std::swap(tile.copied_row, tile.copied_column); });
  }
  check_refuted(kBytes, ObligationKind::store, "is taken for word", [](TransposeTile& tile, ir::ExprContext& exprs) {
    tile.block_word = exprs.add(tile.block_word, tile.part);
  });
}

TEST_CASE("tiles by words: misaligned words that are not tested are loaded from outside of the tensor") {
  for (const std::size_t dropped : {0U, 1U})
    check_refuted(
        kBytes, ObligationKind::load, "are loaded of a tensor that has",
        [=](TransposeTile& tile, ir::ExprContext&) { tile.loads.tests.erase(tile.loads.tests.begin() + dropped); });
}

}  // namespace padlock::compiler
