#include "tests/activation/exact.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <mpfr.h>

namespace padlock::activation {
namespace {

using ir::Op;

constexpr mpfr_prec_t kPlaces = 300;  // more than exp of the largest argument has before the point, and 150 after it
constexpr float kFar = 200;           // beyond it softplus of x is x, and before it exp is far from overflow
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the error that a function of f64 may have, relatively: 16 units of a function of the C library, and 2048 of
/// a formula, in which erfc and exp magnify the error of their arguments by up to 250.
double error_of(Op op) {
  switch (op) {
    case Op::exp:
    case Op::log:
    case Op::tanh:
    case Op::erf:
    case Op::rsqrt:
      return 0x1p-48;
    default:
      return 0x1p-41;
  }
}

/// Returns the values for which formulas fail: at infinity, if a part of a formula overflows, and for 1 / sqrt(-0).
std::optional<float> limit_of(Op op, float x) {
  const bool gated = op == Op::gelu || op == Op::gelu_tanh || op == Op::silu;
  if (gated && x < -kFar) return -0.0F;
  if ((gated || op == Op::softplus) && x > kFar) return x;
  if (op == Op::rsqrt && x == 0) return 1 / x;
  return std::nullopt;
}

double gelu_tanh_argument(double x) {
  return 2 * std::numbers::sqrt2 / std::sqrt(std::numbers::pi) * (x + 0.044715 * x * x * x);
}

double approximate(Op op, double x) {
  switch (op) {
    case Op::exp:
      return std::exp(x);
    case Op::log:
      return std::log(x);
    case Op::tanh:
      return std::tanh(x);
    case Op::erf:
      return std::erf(x);
    case Op::rsqrt:
      return 1 / std::sqrt(x);
    case Op::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Op::softplus:
      return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)));
    case Op::gelu:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    default:
      return x / (1 + std::exp(-(op == Op::silu ? x : gelu_tanh_argument(x))));
  }
}

}  // namespace

struct Judge::Numbers {
  Numbers() { mpfr_inits2(kPlaces, x, y, z, static_cast<mpfr_ptr>(nullptr)); }
  ~Numbers() { mpfr_clears(x, y, z, static_cast<mpfr_ptr>(nullptr)); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  /// y = x / (1 + exp(-z)).
  void gate() {
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_exp(z, z, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_div(y, x, z, MPFR_RNDN);
  }
  /// y = x erfc(-x / sqrt(2)) / 2.
  void gelu() {
    mpfr_sqrt_ui(y, 2, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(y, y, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
  }
  /// z = 2 sqrt(2 / pi) (x + 0.044715 x^3).
  void set_gelu_tanh_argument() {
    mpfr_pow_ui(y, x, 3, MPFR_RNDN);
    mpfr_mul_ui(y, y, 44715, MPFR_RNDN);
    mpfr_div_ui(y, y, 1000000, MPFR_RNDN);
    mpfr_add(y, y, x, MPFR_RNDN);
    mpfr_const_pi(z, MPFR_RNDN);
    mpfr_ui_div(z, 8, z, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_mul(z, z, y, MPFR_RNDN);
  }

  mpfr_t x, y, z;
};

Judge::Judge() : numbers_(std::make_unique<Numbers>()) {}
Judge::~Judge() = default;

float Judge::exact(Op op, float argument) {
  if (const auto limit = limit_of(op, argument)) return *limit;
  ++asked_mpfr_;
  Numbers& n = *numbers_;
  mpfr_set_flt(n.x, argument, MPFR_RNDN);
  switch (op) {
    case Op::exp:
      mpfr_exp(n.y, n.x, MPFR_RNDN);
      break;
    case Op::log:
      mpfr_log(n.y, n.x, MPFR_RNDN);
      break;
    case Op::tanh:
      mpfr_tanh(n.y, n.x, MPFR_RNDN);
      break;
    case Op::erf:
      mpfr_erf(n.y, n.x, MPFR_RNDN);
      break;
    case Op::rsqrt:
      mpfr_rec_sqrt(n.y, n.x, MPFR_RNDN);
      break;
    case Op::softplus:
      mpfr_exp(n.y, n.x, MPFR_RNDN);
      mpfr_log1p(n.y, n.y, MPFR_RNDN);
      break;
    case Op::gelu:
      n.gelu();
      break;
    case Op::sigmoid:
      mpfr_set(n.z, n.x, MPFR_RNDN);
      mpfr_set_ui(n.x, 1, MPFR_RNDN);
      n.gate();
      break;
    default:
      if (op == Op::silu) mpfr_set(n.z, n.x, MPFR_RNDN);
      if (op == Op::gelu_tanh) n.set_gelu_tanh_argument();
      n.gate();
      break;
  }
  return mpfr_get_flt(n.y, MPFR_RNDN);
}

float Judge::value(Op op, float x) {
  if (const auto limit = limit_of(op, x)) return *limit;
  const double y = approximate(op, x);
  const auto rounded = static_cast<float>(y);
  if (std::isnan(rounded)) return rounded;
  const double error = error_of(op);
  const bool near_tie = static_cast<float>(y * (1 - error)) != static_cast<float>(y * (1 + error));
  return near_tie && std::abs(y) != kInfinity ? exact(op, x) : rounded;
}

}  // namespace padlock::activation
