#include "tests/compiler/prover/gpu_programs.h"
#include "tests/compiler/prover/seeded_gpu_schedule.h"

// The proof of GPU schedules: the grid of vectors over a flattened output, and tiles through shared memory for loads
// across rows.
namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::string_view kGathered =
    "program p(x: f16[H, W]) where H >= 1, W >= 1 { y = transpose(x, perm = [1, 0]) return y }";
constexpr std::string_view kTwoTypes =
    "program p(x: i8[A, B], y: f64[A, B]) where A >= 1, B >= 1 { a = relu(x) b = relu(y) return a, b }";

}  // namespace

TEST_CASE("walk over vectors: every obligation is decided, for every number of threads and vectors") {
  for (const std::string_view program : {kPad, kBytes, kGathered, kTwoTypes})
    for (const std::string_view config : {"map=vector_grid,threads=128,items=1", "map=vector_grid,threads=256,items=2",
                                          "map=vector_grid,threads=512,items=4", "map=vector_grid,split=0"})
      check_gpu_proved(program, config);
}

TEST_CASE("tiles: every obligation is decided, for every number of threads") {
  const ScheduleEdit has_tile([](Schedule& schedule) { CHECK(schedule.tiles() != nullptr); });
  for (const std::string_view text : {kTurned, kTurnedBytes, kTurnedAndNot, kRotated})
    for (const std::string_view config : {"threads=128", "threads=256", "threads=512,cache=evict_first"})
      check_gpu_proved(text, config, &has_tile);
}

TEST_CASE("tiles: small ones, which a launch may take instead, are proved as the others are") {
  for (const std::string_view text : {kTurned, kTurnedBytes, kTurnedAndNot, kRotated})
    for (const std::string_view config : {"tiles=small,threads=64", "tiles=small", "tiles=medium", "tiles=large"})
      check_gpu_proved(text, config);
  const ScheduleEdit untested([](Schedule& schedule) {
    schedule.tiles()->shapes.back().tests.erase(schedule.tiles()->shapes.back().tests.begin());
  });
  check_gpu_refuted(kTurned, "map=tiles", ObligationKind::store, "is made, the extent is", &untested);
  const ScheduleEdit early([](Schedule& schedule) {
    Expr& column = schedule.tiles()->shapes[1].square_column;
    column = schedule.exprs().add(column, schedule.exprs().constant(1));
  });
  check_gpu_refuted(kTurnedBytes, "map=tiles", ObligationKind::cover, "are of no shape that is tested", &early);
}

TEST_CASE("tiles: those of another shape than the tested ones are refuted, though their positions fit it") {
  const auto check_refuted = [](const TileShape& shape, std::string_view violation) {
    const ScheduleEdit edit([&](Schedule& schedule) {
      TransposeTile& tile = schedule.tiles()->shapes.front();
      static_cast<TileGeometry&>(tile) = tile_geometry(schedule.exprs(), shape);
    });
    check_gpu_refuted(kTurned, "map=tiles", ObligationKind::cover, violation, &edit);
  };
  check_refuted({.threads = 1024, .column_words = 64},
                "tiles of 32 x 64 by 1024 threads are of no shape that is tested");
  check_refuted({.threads = 256, .column_words = 128},
                "tiles of 32 x 128 by 256 threads are of no shape that is tested");
}

TEST_CASE("tiles: they are the default of what reads rows across, and of nothing else") {
  for (const auto& [text, map] : {std::pair(kTurned, "map=tiles"),
                                  {kTurnedBytes, "map=tiles"},
                                  {kTurnedAndNot, "map=tiles"},
                                  {kPad, "map=vector_grid"}}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    const Schedule schedule = gpu_schedule_of(program, "");
    CHECK(schedule.config.starts_with(map));
    CHECK((schedule.tiles() != nullptr) != (schedule.grid() != nullptr));
    CHECK(gpu_schedule_of(program, "map=vector_grid").grid() != nullptr);
  }
}

TEST_CASE("tiles by words: each test of a run that another does not imply is needed") {
  const ir::Program program = testing::program_of(kTurned);
  const std::size_t tests = gpu_schedule_of(program, "").tiles()->shapes.front().runs.front().tests.size();
  CHECK(tests == 6);  // both ends of the rows for each condition, and both of the columns
  // In a case of rows the one end implies the other: of two tests of a condition one is enough.
  for (const std::size_t dropped : {0U, 3U, 4U, 5U}) {
    const ScheduleEdit edit([=](Schedule& schedule) {
      std::vector<Expr>& all = schedule.tiles()->shapes.front().runs.front().tests;
      all.erase(all.begin() + dropped);
    });
    check_gpu_refuted(kTurned, "map=tiles", ObligationKind::load, "is of another segment", &edit);
  }
}

}  // namespace padlock::compiler
