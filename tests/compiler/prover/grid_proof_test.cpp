#include "tests/compiler/prover/seeded_gpu_schedule.h"

// The walk over the vectors of a flattened output: what is proved of it, and that seeded bugs of it are refuted.
namespace padlock::compiler {
namespace {

constexpr std::string_view kPad =
    "program p(x: f32[B, S], lo: dim, hi: dim) where B >= 1, S >= 1, lo >= 0, hi >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, hi]) return y }";
constexpr std::string_view kBytes =
    "program p(x: i8[C, H, W], p: dim) where C >= 1, H >= 2, W >= 2, 0 <= p < W, p < H "
    "{ y = pad(x, low = [0, p, p], high = [0, p, p], mode = reflect) return y }";
constexpr std::string_view kTurned =
    "program p(x: f16[H, W]) where H >= 1, W >= 1 { y = transpose(x, perm = [1, 0]) return y }";
constexpr std::string_view kTwoTypes =
    "program p(x: i8[A, B], y: f64[A, B]) where A >= 1, B >= 1 { a = relu(x) b = relu(y) return a, b }";

void check_refuted(std::string_view program, ObligationKind kind, std::string_view violation,
                   const std::function<void(Schedule&)>& edit) {
  check_gpu_refuted(program, "map=stream,threads=128,items=4", kind, violation, edit);
}

TEST_CASE("walk over vectors: every obligation is decided, for every number of threads and vectors") {
  for (const std::string_view program : {kPad, kBytes, kTurned, kTwoTypes})
    for (const std::string_view config : {"threads=128,items=1", "threads=256,items=2", "threads=512,items=4"}) {
      CAPTURE(program);
      CAPTURE(config);
      const Proof proof = gpu_proof_of(program, config, [](Schedule&) {});
      for (const Obligation& one : proof.obligations) {
        CAPTURE(to_string(one));
        CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded || one.verdict == Verdict::dead));
      }
    }
}

TEST_CASE("walk over vectors: a phase that is off by one leaves out an element, and is no alignment") {
  const auto late = [](Schedule& schedule) { shift(schedule.exprs(), schedule.grid->first, 1); };
  check_refuted(kPad, ObligationKind::cover, "is not in vector", late);
  check_refuted(kBytes, ObligationKind::align, "past a multiple of its size", late);
}

TEST_CASE("walk over vectors: an edge that is taken for a whole vector reads and writes beyond its segment") {
  const auto always_whole = [](Schedule& schedule) {
    for (Body& body : schedule.bodies)
      for (LoopStrategy& strategy : body.strategies) strategy.entry_conditions.clear();
  };
  check_refuted(kPad, ObligationKind::load, "coordinate", always_whole);
  check_refuted(kPad, ObligationKind::store, "column", always_whole);
  check_refuted(kBytes, ObligationKind::load, "coordinate", always_whole);
}

TEST_CASE("walk over vectors: a granule that is not tested is loaded from outside of the tensor") {
  for (const std::size_t dropped : {0U, 1U})
    check_refuted(kPad, ObligationKind::load, "are loaded of a tensor that has", [=](Schedule& schedule) {
      std::vector<ir::Expr>& tests = schedule.granules.tests;
      tests.erase(tests.begin() + dropped);
    });
}

TEST_CASE("walk over vectors: a granule that is the next one lacks a lane") {
  check_refuted(kPad, ObligationKind::cover, "is in no granule",
                [](Schedule& schedule) { shift(schedule.exprs(), schedule.granules.offset, schedule.grid->lanes); });
}

TEST_CASE("walk over vectors: tiles rounded down leave elements out, tiles that overlap write some twice") {
  check_refuted(kPad, ObligationKind::cover, "is not in vector", [](Schedule& schedule) {
    VectorGrid& grid = *schedule.grid;
    ir::ExprContext& exprs = schedule.exprs();
    const int step = grid.threads * grid.lanes;
    grid.tiles = exprs.floordiv(grid.elements, exprs.mul(exprs.constant(step), grid.used));
  });
  check_refuted(kPad, ObligationKind::disjoint, "is in the vectors", [](Schedule& schedule) {
    VectorGrid& grid = *schedule.grid;
    ir::ExprContext& exprs = schedule.exprs();
    grid.first = exprs.sub(grid.first, grid.slot);
  });
}

TEST_CASE("walk over vectors: more tiles than a launch needs do not fit 32 bits") {
  check_refuted(kPad, ObligationKind::width, "a vector ends at", [](Schedule& schedule) {
    ir::Expr& tiles = schedule.grid->tiles;
    tiles = schedule.exprs().mul(tiles, schedule.exprs().constant(2));
  });
}

TEST_CASE("walk over vectors: a launch takes as many vectors as are proved") {
  check_refuted(kPad, ObligationKind::cover, "5 vectors are taken",
                [](Schedule& schedule) { schedule.grid->launched = schedule.exprs().constant(5); });
}

}  // namespace
}  // namespace padlock::compiler
