#include <doctest/doctest.h>

#include "tests/activation/half_judged.h"
#include "tests/activation/moved_seed.h"

// A GPU's reciprocal is within an ulp of the real one ("PTX ISA", rcp: "The maximum ulp error is 1 across the full
// range of inputs"), and so within two units of the nearest float. Each divisor occurs for few arguments, and arguments
// are independent. So a property that holds if all reciprocals are moved by the same number of units, for each of five
// numbers, holds for any mixture. A seed of rsqrt is within 1.5 * 2^-12 of the real value (at most 3072 units).
namespace padlock::activation {
namespace {

using ir::DType;
using ir::Op;

struct Moves {
  const char* target;
  std::vector<Op> ops;
  std::vector<DType> types;
  std::vector<std::int32_t> right, wrong;
};

/// Returns how many results are wrong, or -1 where the code does not run here.
int wrong_if_moved(const Moves& moves, Op op, DType dtype, const HalfJudged& judged, std::int32_t units) {
  session::Context context;
  const MovedSeed edit(units);
  const Result<ActivationRun> run = ActivationRun::compile(context, {{}, moves.target, &edit}, op, dtype);
  if (!run && run.error().code == Code::unavailable) return -1;
  REQUIRE(run.has_value());
  CHECK(edit.moved() > 0);
  return judged.wrong(*run);
}

void check_moves(const Moves& moves) {
  for (const Op op : moves.ops)
    for (const DType dtype : moves.types) {
      CAPTURE(std::string(name_of(op)));
      CAPTURE(std::string(name_of(dtype)));
      const HalfJudged judged(op, dtype);
      for (const std::int32_t units : moves.right) {
        CAPTURE(units);
        const int wrong = wrong_if_moved(moves, op, dtype, judged, units);
        if (wrong < 0) {
          MESSAGE("skipped: not a CPU for " << std::string(moves.target));
          return;
        }
        CHECK(wrong == 0);
      }
      for (const std::int32_t units : moves.wrong) {
        CAPTURE(units);
        CHECK(wrong_if_moved(moves, op, dtype, judged, units) > 0);
      }
    }
}

TEST_CASE("an error of a GPU's reciprocal changes no result") {
  check_moves({.target = "sm_90",
               .ops = {Op::sigmoid, Op::silu, Op::gelu_tanh, Op::tanh},
               .types = {DType::f16, DType::bf16},
               .right = {-2, -1, 0, 1, 2},
               .wrong = {-(1 << 18), 1 << 18}});
}

/// Checks that results of f32 on a GPU are the CPU's if its approximations are moved by less than `wrong` units.
void check_moves_of_f32(const char* target, std::initializer_list<Op> ops, std::initializer_list<std::int32_t> right) {
  constexpr std::int32_t kWrong = 1 << 18;
  session::Context context;
  std::vector<std::uint32_t> arguments, expected, found;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 997)
    arguments.push_back(static_cast<std::uint32_t>(bits));
  for (const Op op : ops) {
    CAPTURE(std::string(name_of(op)));
    const Result<ActivationRun> by_divisions = ActivationRun::compile(context, {}, op, DType::f32);
    REQUIRE(by_divisions.has_value());
    REQUIRE(by_divisions->run(arguments, expected).has_value());
    std::vector<std::int32_t> moves = right;
    moves.push_back(kWrong);
    for (const std::int32_t units : moves) {
      CAPTURE(units);
      const MovedSeed edit(units);
      const Result<ActivationRun> run = ActivationRun::compile(context, {{}, target, &edit}, op, DType::f32);
      REQUIRE(run.has_value());
      REQUIRE(run->run(arguments, found).has_value());
      CHECK((edit.moved() > 0) == (op != Op::exp));
      CHECK((found == expected) == (op == Op::exp || units != kWrong));
    }
  }
}

// The manual says that rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 take and return the high word, and bounds no error.
// So they may be wrong by 32 units of it, 2^-15.
TEST_CASE("nor of f32") {
  check_moves_of_f32("sm_90",
                     {Op::log, Op::tanh, Op::sigmoid, Op::gelu, Op::gelu_tanh, Op::silu, Op::softplus, Op::rsqrt},
                     {-32, -2, 0, 2, 32});
}

TEST_CASE("nor of f32 where a GPU has few units for f64") {
  check_moves_of_f32("sm_89", {Op::exp, Op::sigmoid, Op::silu}, {-2, 0, 2});
}

TEST_CASE("an error of the seed of a reciprocal square root changes no result") {
  const std::vector<std::int32_t> right = {-3072, -1536, -701, -2, 0, 2, 701, 1536, 3072};
  const std::vector<std::int32_t> wrong = {-(1 << 18), 1 << 18};
  check_moves({"host:x86-64-v3", {Op::rsqrt}, {DType::f16}, right, wrong});
  check_moves({"host:x86-64-v4", {Op::rsqrt}, {DType::f16, DType::bf16}, right, wrong});
}

}  // namespace
}  // namespace padlock::activation
