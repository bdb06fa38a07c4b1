#include "ir/reference/activations.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace padlock::ir {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference needs more places than f64 has");

/// Beyond it every function has reached its limit, and exp of it is far from overflow.
constexpr long double kFar = 200;

/// Rounds a + b once to f32: the error of the sum decides if the sum looks like a tie.
float rounded_sum(long double a, long double b) {
  const long double sum = a + b;
  const long double lacking = std::abs(a) > std::abs(b) ? b - (sum - a) : a - (sum - b);
  if (lacking == 0 || sum != static_cast<double>(sum)) return static_cast<float>(sum);
  return static_cast<float>(std::nextafter(sum, lacking > 0 ? sum + 1 : sum - 1));
}

/// Computes 1 / (1 + exp(-x)) = 1/2 + tanh(x / 2) / 2: the sum's last places decide near 0, the quotient's elsewhere.
float sigmoid(long double x) {
  if (x > -1) return rounded_sum(0.5L, std::tanh(x / 2) / 2);
  return static_cast<float>(1 / (1 + std::exp(-x)));
}

/// Multiplies x by a share. For tiny x the share is slightly above 1/2 if x is positive, and slightly below if not.
float gate(long double x, long double share) {
  if (x != 0 && std::abs(x) < 0x1p-100L) return static_cast<float>(std::nextafter(x / 2, 1.0L));
  return static_cast<float>(x * share);
}

long double normal_distribution(long double x) { return std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2; }

long double gelu_tanh_argument(long double x) {
  const long double slope = 2 * std::sqrt(2 * std::numbers::inv_pi_v<long double>);
  return slope * (x + 0.044715L * x * x * x);
}

float softplus(long double x) { return static_cast<float>(std::fmax(x, 0.0L) + std::log1p(std::exp(-std::abs(x)))); }

/// Computes gelu and related functions for a magnitude of at most kFar.
float gated(Op op, long double x) {
  if (op == Op::gelu) return gate(x, normal_distribution(x));
  return gate(x, 1 / (1 + std::exp(-(op == Op::silu ? x : gelu_tanh_argument(x)))));
}

}  // namespace

float activation_of(Op op, float x) {
  if (std::isnan(x)) return x;
  switch (op) {
    case Op::exp:
      return static_cast<float>(std::exp(static_cast<long double>(x)));
    case Op::log:
      return static_cast<float>(std::log(static_cast<long double>(x)));
    case Op::tanh:
      return static_cast<float>(std::tanh(static_cast<long double>(x)));
    case Op::sigmoid:
      return sigmoid(x);
    case Op::erf:
      return static_cast<float>(std::erf(static_cast<long double>(x)));
    case Op::softplus:
      return softplus(x);
    case Op::rsqrt:
      return static_cast<float>(1 / std::sqrt(static_cast<long double>(x)));
    default:
      if (x > kFar) return x;
      return x < -kFar ? -0.0F : gated(op, x);
  }
}

}  // namespace padlock::ir
