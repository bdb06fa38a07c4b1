#include <array>
#include <bit>
#include <cmath>
#include <fstream>

#include <doctest/doctest.h>

#include "tests/activation/activation_run.h"
#include "tests/activation/exact.h"
#include "tests/activation/half_judged.h"
#include "tests/activation/known_answers.h"
#include "tests/activation/wrong_constant.h"

// Seeds bugs into the activations for the judge to find: each constant of their code is off by an ulp, of f32 or of
// f64, or halved, which makes bounds saturate early; of f16 and bf16 by an ulp of f32 or of the type.
namespace padlock::activation {
namespace {

using ir::DType;
using ir::Op;

enum Bug : std::uint8_t { kUlpOfF32, kUlpOfF64, kHalved, kBugs };
enum HalfBug : std::uint8_t { kUlp, kUlpOfType, kHalf };

double seeded(double right, Bug bug) {
  if (bug == kHalved) return right / 2;
  return bug == kUlpOfF64 ? std::nextafter(right, HUGE_VAL) : right + std::ldexp(std::abs(right), -23);
}

double seeded_of_f32(double right, HalfBug bug, DType dtype) {
  if (bug == kHalf) return right / 2;
  const int places = bug == kUlp ? 23 : dtype == DType::f16 ? 10 : 7;
  return static_cast<float>(right + std::ldexp(std::abs(right), -places));
}

/// Floats, and what a function is of them: the hardest, and one of 4099.
class Judged {
 public:
  Judged(Op op, const std::vector<std::uint32_t>& hard) {
    Judge judge;
    arguments_ = hard;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099)
      arguments_.push_back(static_cast<std::uint32_t>(bits));
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const auto x = std::bit_cast<float>(arguments_[i]);
      results_.push_back(std::bit_cast<std::uint32_t>(i < hard.size() ? judge.exact(op, x) : judge.value(op, x)));
    }
  }

  [[nodiscard]] int wrong(const ActivationRun& run) const {
    std::vector<std::uint32_t> found;
    REQUIRE(run.run(arguments_, found).has_value());
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool both_nan = std::isnan(std::bit_cast<float>(results_[i])) && std::isnan(std::bit_cast<float>(found[i]));
      wrong += found[i] != results_[i] && !both_nan ? 1 : 0;
    }
    return wrong;
  }

 private:
  std::vector<std::uint32_t> arguments_, results_;
};

struct Expected {
  Op op;
  int constants;
  std::array<int, kBugs> found;
};

// The constants of each, 156 in all, and how many seeds of each kind are found. An ulp of f64 changes the results of
// few floats, or of none; the last coefficients, and bounds beyond what f32 holds, survive an ulp of f32, too.
constexpr std::array kExpected = {
    Expected{Op::exp, 17, {7, 2, 16}},       Expected{Op::log, 12, {8, 3, 12}},
    Expected{Op::tanh, 13, {5, 2, 10}},      Expected{Op::sigmoid, 11, {5, 2, 11}},
    Expected{Op::erf, 31, {27, 1, 31}},      Expected{Op::gelu, 27, {22, 12, 27}},
    Expected{Op::gelu_tanh, 13, {7, 3, 13}}, Expected{Op::silu, 11, {4, 2, 9}},
    Expected{Op::softplus, 20, {11, 2, 20}}, Expected{Op::rsqrt, 1, {1, 0, 1}},
};

struct ExpectedOfHalf {
  Op op;
  DType dtype;
  int constants;
  std::array<int, kBugs> found;
};

// Their constants, 234 in all. An ulp of f32 changes results where a coefficient is among the first; one of the type
// itself is found in 194, but for bounds and last coefficients; and 230 that are halved.
constexpr std::array kExpectedOfHalves = {
    ExpectedOfHalf{Op::exp, DType::f16, 11, {4, 7, 11}},
    ExpectedOfHalf{Op::exp, DType::bf16, 11, {3, 9, 11}},
    ExpectedOfHalf{Op::log, DType::f16, 10, {3, 10, 10}},
    ExpectedOfHalf{Op::log, DType::bf16, 11, {3, 10, 11}},
    ExpectedOfHalf{Op::tanh, DType::f16, 10, {3, 8, 10}},
    ExpectedOfHalf{Op::tanh, DType::bf16, 7, {1, 5, 7}},
    ExpectedOfHalf{Op::sigmoid, DType::f16, 12, {5, 8, 11}},
    ExpectedOfHalf{Op::sigmoid, DType::bf16, 12, {3, 10, 11}},
    ExpectedOfHalf{Op::erf, DType::f16, 13, {7, 11, 13}},
    ExpectedOfHalf{Op::erf, DType::bf16, 11, {0, 9, 11}},
    ExpectedOfHalf{Op::gelu, DType::f16, 19, {3, 16, 19}},
    ExpectedOfHalf{Op::gelu, DType::bf16, 20, {4, 18, 20}},
    ExpectedOfHalf{Op::gelu_tanh, DType::f16, 12, {5, 10, 12}},
    ExpectedOfHalf{Op::gelu_tanh, DType::bf16, 12, {4, 11, 12}},
    ExpectedOfHalf{Op::silu, DType::f16, 12, {5, 9, 11}},
    ExpectedOfHalf{Op::silu, DType::bf16, 12, {4, 10, 11}},
    ExpectedOfHalf{Op::softplus, DType::f16, 19, {11, 16, 19}},
    ExpectedOfHalf{Op::softplus, DType::bf16, 17, {3, 15, 17}},
    ExpectedOfHalf{Op::rsqrt, DType::f16, 2, {0, 1, 2}},
    ExpectedOfHalf{Op::rsqrt, DType::bf16, 1, {0, 1, 1}},
};

}  // namespace

TEST_CASE("a wrong constant of an activation is found by values") {
  std::ifstream file(PADLOCK_ACTIVATION_DIR "/hard_arguments.txt");
  const auto hard = read_hard_arguments(file, "hard_arguments.txt");
  REQUIRE(hard.has_value());
  session::Context context;
  const auto compiled = [&](Op op, const compiler::PassEdits* edits) {
    const Place place{{}, "host:x86-64-v3", edits};
    return ActivationRun::compile(context, place, op, ir::DType::f32);
  };
  for (const Expected& expected : kExpected) {
    CAPTURE(std::string(name_of(expected.op)));
    const Judged judged(expected.op, hard->at(expected.op));
    const ConstantsOfCode code(DType::f64);
    const auto right = compiled(expected.op, &code);
    if (!right && right.error().code == Code::unavailable) {
      MESSAGE("skipped: " << right.error().to_string());
      return;
    }
    REQUIRE(right.has_value());
    CHECK(judged.wrong(*right) == 0);
    std::array<int, kBugs> found{};
    for (const double constant : code.constants())
      for (const Bug bug : {kUlpOfF32, kUlpOfF64, kHalved}) {
        const WrongConstant edit(DType::f64, constant, seeded(constant, bug));
        const auto wrong = compiled(expected.op, &edit);
        REQUIRE(wrong.has_value());
        found.at(bug) += judged.wrong(*wrong) > 0 ? 1 : 0;
      }
    CHECK(static_cast<int>(code.constants().size()) == expected.constants);
    CHECK(found == expected.found);
  }
}

TEST_CASE("a wrong constant of an activation of f16 or bf16 is found by values") {
  session::Context context;
  const auto compiled = [&](const ExpectedOfHalf& half, const compiler::PassEdits* edits) {
    return ActivationRun::compile(context, {{}, "host:x86-64-v3", edits}, half.op, half.dtype);
  };
  for (const ExpectedOfHalf& expected : kExpectedOfHalves) {
    CAPTURE(std::string(name_of(expected.op)));
    CAPTURE(std::string(name_of(expected.dtype)));
    const HalfJudged judged(expected.op, expected.dtype);
    const ConstantsOfCode code(DType::f32);
    const auto right = compiled(expected, &code);
    if (!right && right.error().code == Code::unavailable) {
      MESSAGE("skipped: " << right.error().to_string());
      return;
    }
    REQUIRE(right.has_value());
    CHECK(judged.wrong(*right) == 0);
    std::array<int, kBugs> found{};
    for (const double constant : code.constants())
      for (const HalfBug bug : {kUlp, kUlpOfType, kHalf}) {
        const WrongConstant edit(DType::f32, constant, seeded_of_f32(constant, bug, expected.dtype));
        const auto wrong = compiled(expected, &edit);
        REQUIRE(wrong.has_value());
        found.at(bug) += judged.wrong(*wrong) > 0 ? 1 : 0;
      }
    CHECK(static_cast<int>(code.constants().size()) == expected.constants);
    CHECK(found == expected.found);
  }
}

TEST_CASE("a wrong constant of exp by a table is found by values") {
  std::ifstream file(PADLOCK_ACTIVATION_DIR "/hard_arguments.txt");
  const auto hard = read_hard_arguments(file, "hard_arguments.txt");
  REQUIRE(hard.has_value());
  session::Context context;
  const auto compiled = [&](const compiler::PassEdits* edits) {
    return ActivationRun::compile(context, {{}, "host:x86-64-v4", edits}, Op::exp, DType::f32);
  };
  const Judged judged(Op::exp, hard->at(Op::exp));
  const ConstantsOfCode code(DType::f32);
  const auto right = compiled(&code);
  if (!right && right.error().code == Code::unavailable) {
    MESSAGE("skipped: " << right.error().to_string());
    return;
  }
  REQUIRE(right.has_value());
  CHECK(judged.wrong(*right) == 0);
  int found = 0;
  for (const double constant : code.constants()) {
    const WrongConstant edit(DType::f32, constant, constant / 2);
    const auto wrong = compiled(&edit);
    REQUIRE(wrong.has_value());
    found += judged.wrong(*wrong) > 0 ? 1 : 0;
  }
  // What is not found: the largest argument that the table serves, which may be less, and each side of the bound of its
  // error, which is more than that.
  CHECK(static_cast<int>(code.constants().size()) == 11);
  CHECK(found == 8);
}

}  // namespace padlock::activation
