#include <algorithm>
#include <optional>
#include <vector>

#include "tests/compiler/prover/gpu_programs.h"
#include "tests/compiler/prover/seeded_gpu_schedule.h"

// The proof of vectors that are made element by element.
namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::string_view kReflected =
    "program p(x: f32[A, B, C], l: dim, h: dim) where A >= 1, B >= 1, C >= 1, -9 <= l, l <= 9, -9 <= h, h <= 9 "
    "{ y = pad(x, low = [0, l, l], high = [0, h, h], mode = reflect) return y }";

std::optional<Schedule> by_element_of(const ir::Program& program, const PassEdits* edits = nullptr) {
  for (Schedule& one : schedules_for_gpu(std::move(kernels_of(program).front()), GpuConfig::standard(), edits))
    if (one.grid() != nullptr && one.grid()->by_element) return std::move(one);
  return std::nullopt;
}

Proof proof_of(Schedule schedule) { return testing::value_of(list_obligations(std::move(schedule), {})); }

void check_refuted(Schedule schedule, std::string_view access, std::string_view violation) {
  const Proof proof = proof_of(std::move(schedule));
  const Obligation* const refuted = proof.refuted();
  REQUIRE(refuted != nullptr);
  CHECK(refuted->access == access);
  CAPTURE(refuted->found.violation);
  CHECK(refuted->found.violation.find(violation) != std::string::npos);
}

}  // namespace

TEST_CASE("element by element: every obligation is decided") {
  for (const std::string_view text : {kPad, kImages, kReflected, kTwo, kToChannels, kToPlanes}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    std::optional<Schedule> schedule = by_element_of(program);
    REQUIRE(schedule.has_value());
    CHECK(schedule->index32.bound > 0);
    CHECK(schedule->segments() == 1);
    CHECK_FALSE(schedule->index32.in_parts);
    CHECK_FALSE(abi::guards_of(schedule->index32.guards, abi::Assumption::offset32).empty());
    for (const Obligation& one : proof_of(*std::move(schedule)).obligations) {
      CAPTURE(to_string(one));
      CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded));
    }
  }
}

TEST_CASE("element by element: a vector that lies in three rows is refuted") {
  for (const std::string_view text : {kPad, kImages, kToPlanes}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    std::optional<Schedule> schedule = by_element_of(program);
    REQUIRE(schedule.has_value());
    ir::ExprContext& exprs = schedule->exprs();
    const Expr lanes = exprs.constant(schedule->grid()->lanes), two = exprs.constant(2);
    schedule->serves = {{abi::Assumption::many_edges,
                         {exprs.sub(exprs.sub(lanes, two), schedule->columns), ir::Comparison::le, exprs.constant(0)}}};
    check_refuted(*std::move(schedule), "lanes of two rows", "of rows of");
  }
}

TEST_CASE("element by element: a grid that ends early, or begins late, is refuted") {
  const ir::Program program = testing::program_of(kImages);
  const auto with = [&](std::function<void(ir::ExprContext&, VectorGrid&)> edit) {
    const ScheduleEdit edits([edit = std::move(edit)](Schedule& schedule) {
      if (schedule.grid() != nullptr && schedule.grid()->by_element) edit(schedule.exprs(), *schedule.grid());
    });
    std::optional<Schedule> schedule = by_element_of(program, &edits);
    REQUIRE(schedule.has_value());
    return *std::move(schedule);
  };
  check_refuted(
      with([](ir::ExprContext& exprs, VectorGrid& grid) { grid.blocks = exprs.sub(grid.blocks, exprs.constant(1)); }),
      "blocks of 256 vectors", "is not in vector");
  check_refuted(
      with([](ir::ExprContext& exprs, VectorGrid& grid) { grid.first = exprs.add(grid.first, exprs.constant(1)); }),
      "blocks of 256 vectors", "is not in vector");
}

TEST_CASE("element by element: only loads that a row and a column decide apart, of one width, in few lanes") {
  const auto applies = [](std::string_view text) {
    const ir::Program program = testing::program_of(text);
    return by_element_of(program).has_value();
  };
  CHECK_FALSE(applies("program p(x: f32[A, B]) { y = cast(x, f64) z = pad(y, low = [0, 1], high = [0, 1]) return z }"));
  CHECK_FALSE(applies("program p(x: i8[A, B]) { z = pad(x, low = [0, 1], high = [0, 1]) return z }"));
  CHECK_FALSE(applies("program p(x: f16[A, B], y: f16[A, C]) { z = concat(x, y, axis = 1) return z }"));
  CHECK_FALSE(applies("program p(x: f32[B]) { z = pad(x, low = [1], high = [1]) return z }"));
  CHECK_FALSE(
      applies("program p(x: f32[A, B], y: f32[A, C], w: f32[A, D]) { z = concat(x, y, w, axis = 1) return z }"));
}

}  // namespace padlock::compiler
