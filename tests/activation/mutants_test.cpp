#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/activation/activation_run.h"
#include "tests/activation/exact.h"
#include "tests/activation/half_judged.h"
#include "tests/activation/known_answers.h"
#include "tests/activation/wrong_constant.h"

// Seeds bugs into the activations, which the judge must find. Each constant of their code is changed by one or two ulps
// of f32, by those of a type with more or fewer places, or halved, which makes bounds saturate early.
namespace padlock::activation {
namespace {

using ir::DType;
using ir::Op;

/// A function of `dtype`, made for a CPU or a GPU's twin, and its constants that are of a type.
struct Seeded {
  const char* target;
  Op op;
  DType dtype, constants;
  int count;
  std::array<int, 3> found;  ///< of each bug, in so many of the constants
};

/// Returns the number of mantissa places of the second bug: f64's, or those of the function's type; 16 for bounds of
/// f32.
int places_of_second(const Seeded& seeded) {
  if (seeded.constants == DType::f64) return 52;
  return seeded.dtype == DType::f16 ? 10 : seeded.dtype == DType::bf16 ? 7 : 16;
}

double wrong_constant(const Seeded& seeded, double right, std::size_t bug) {
  if (bug == 2) return right / 2;
  const double moved = right + std::ldexp(std::abs(right), bug == 0 ? -23 : -places_of_second(seeded));
  return seeded.constants == DType::f64 ? moved : static_cast<float>(moved);
}

/// Floats with a function's right results: the hardest arguments, and one of each 4099.
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

constexpr const char* kV3 = "host:x86-64-v3";

// Some seeded changes cannot be found. An ulp of f64 changes few results of f32, or none, and the last coefficients
// survive an ulp of f32, too. Small changes of a bound survive, since results beyond it are the same. The bound of tanh
// is twice what is needed, so halving it changes nothing. The last coefficients of f16 and bf16 survive small changes,
// too. For `exp` by a table two changes survive: of the largest argument, which may be less, and of one side of the
// error's bound.
constexpr std::array kSeeded = {
    Seeded{kV3, Op::exp, DType::f32, DType::f64, 17, {7, 2, 16}},
    Seeded{kV3, Op::log, DType::f32, DType::f64, 12, {8, 3, 12}},
    Seeded{kV3, Op::tanh, DType::f32, DType::f64, 13, {5, 2, 10}},
    Seeded{kV3, Op::sigmoid, DType::f32, DType::f64, 11, {5, 2, 11}},
    Seeded{kV3, Op::erf, DType::f32, DType::f64, 31, {27, 1, 31}},
    Seeded{kV3, Op::gelu, DType::f32, DType::f64, 27, {22, 13, 27}},
    Seeded{kV3, Op::gelu_tanh, DType::f32, DType::f64, 13, {7, 3, 13}},
    Seeded{kV3, Op::silu, DType::f32, DType::f64, 11, {4, 2, 9}},
    Seeded{kV3, Op::softplus, DType::f32, DType::f64, 20, {11, 2, 20}},
    Seeded{kV3, Op::rsqrt, DType::f32, DType::f64, 1, {1, 0, 1}},
    Seeded{"sm_90", Op::exp, DType::f32, DType::f32, 2, {0, 0, 2}},
    Seeded{"sm_90", Op::tanh, DType::f32, DType::f32, 1, {0, 0, 0}},
    Seeded{"sm_90", Op::sigmoid, DType::f32, DType::f32, 1, {0, 0, 1}},
    Seeded{"sm_90", Op::erf, DType::f32, DType::f32, 2, {0, 0, 2}},
    Seeded{"sm_90", Op::gelu, DType::f32, DType::f32, 1, {0, 0, 1}},
    Seeded{"sm_90", Op::gelu_tanh, DType::f32, DType::f32, 1, {0, 0, 1}},
    Seeded{"sm_90", Op::silu, DType::f32, DType::f32, 1, {0, 0, 1}},
    Seeded{"sm_90", Op::softplus, DType::f32, DType::f32, 1, {0, 0, 1}},
    Seeded{"host:x86-64-v4", Op::exp, DType::f32, DType::f32, 11, {3, 4, 8}},
    Seeded{kV3, Op::exp, DType::f16, DType::f32, 11, {4, 7, 11}},
    Seeded{kV3, Op::exp, DType::bf16, DType::f32, 11, {3, 9, 11}},
    Seeded{kV3, Op::log, DType::f16, DType::f32, 10, {3, 10, 10}},
    Seeded{kV3, Op::log, DType::bf16, DType::f32, 11, {3, 10, 11}},
    Seeded{kV3, Op::tanh, DType::f16, DType::f32, 10, {3, 8, 10}},
    Seeded{kV3, Op::tanh, DType::bf16, DType::f32, 7, {1, 5, 7}},
    Seeded{kV3, Op::sigmoid, DType::f16, DType::f32, 12, {5, 8, 11}},
    Seeded{kV3, Op::sigmoid, DType::bf16, DType::f32, 12, {3, 10, 11}},
    Seeded{kV3, Op::erf, DType::f16, DType::f32, 13, {7, 11, 13}},
    Seeded{kV3, Op::erf, DType::bf16, DType::f32, 11, {0, 9, 11}},
    Seeded{kV3, Op::gelu, DType::f16, DType::f32, 19, {3, 16, 19}},
    Seeded{kV3, Op::gelu, DType::bf16, DType::f32, 20, {4, 18, 20}},
    Seeded{kV3, Op::gelu_tanh, DType::f16, DType::f32, 12, {5, 10, 12}},
    Seeded{kV3, Op::gelu_tanh, DType::bf16, DType::f32, 12, {4, 11, 12}},
    Seeded{kV3, Op::silu, DType::f16, DType::f32, 12, {5, 9, 11}},
    Seeded{kV3, Op::silu, DType::bf16, DType::f32, 12, {4, 10, 11}},
    Seeded{kV3, Op::softplus, DType::f16, DType::f32, 19, {11, 16, 19}},
    Seeded{kV3, Op::softplus, DType::bf16, DType::f32, 17, {3, 15, 17}},
    Seeded{kV3, Op::rsqrt, DType::f16, DType::f32, 2, {0, 1, 2}},
    Seeded{kV3, Op::rsqrt, DType::bf16, DType::f32, 1, {0, 1, 1}},
};

/// Compiles, with a bug or without; nothing for a CPU that this is not.
std::optional<ActivationRun> compiled(session::Context& context, const Seeded& seeded,
                                      const compiler::PassEdits& edits) {
  Result<ActivationRun> run = ActivationRun::compile(context, {{}, seeded.target, &edits}, seeded.op, seeded.dtype);
  if (!run && run.error().code == Code::unavailable) return std::nullopt;
  REQUIRE(run.has_value());
  return *std::move(run);
}

/// Seeds each bug into each constant, and counts those that change a result.
template <class Judged>
void check_seeds(const Seeded& seeded, const Judged& judged) {
  session::Context context;
  const ConstantsOfCode code(seeded.constants);
  const auto right = compiled(context, seeded, code);
  if (!right) {
    MESSAGE("skipped: no CPU for " << std::string(seeded.target));
    return;
  }
  CHECK(judged.wrong(*right) == 0);
  std::array<int, 3> found{};
  for (const double constant : code.constants())
    for (std::size_t bug = 0; bug < found.size(); ++bug) {
      const WrongConstant edit(seeded.constants, constant, wrong_constant(seeded, constant, bug));
      found.at(bug) += judged.wrong(*compiled(context, seeded, edit)) > 0 ? 1 : 0;
    }
  const auto text = [](int count, const std::array<int, 3>& of_bugs) {
    return fmt::format("of {} constants {}", count, of_bugs);
  };
  CHECK(text(static_cast<int>(code.constants().size()), found) == text(seeded.count, seeded.found));
}

}  // namespace

TEST_CASE("a wrong constant of an activation is found by values") {
  std::ifstream file(PADLOCK_ACTIVATION_DIR "/hard_arguments.txt");
  const auto hard = read_hard_arguments(file, "hard_arguments.txt");
  REQUIRE(hard.has_value());
  for (const Seeded& seeded : kSeeded) {
    CAPTURE(std::string(seeded.target));
    CAPTURE(std::string(name_of(seeded.op)));
    CAPTURE(std::string(name_of(seeded.dtype)));
    CAPTURE(std::string(name_of(seeded.constants)));
    if (seeded.dtype == DType::f32)
      check_seeds(seeded, Judged(seeded.op, hard->at(seeded.op)));
    else
      check_seeds(seeded, HalfJudged(seeded.op, seeded.dtype));
  }
}

}  // namespace padlock::activation
