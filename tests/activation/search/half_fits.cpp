#include "tests/activation/search/half_fits.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/activation/search/most_margin.h"

namespace padlock::activation::search {

using ir::Op;

namespace {

using Vector = std::vector<long double>;

constexpr long double kUnit = 0x1p-24L;
constexpr long double kMostUnits = 0x1p40L;

/// The Chebyshev polynomials at t.
Vector chebyshev(long double t, std::size_t count) {
  Vector values = {1, t};
  while (values.size() < count) values.push_back(2 * t * values.back() - values[values.size() - 2]);
  values.resize(count);
  return values;
}

/// Makes of coefficients for the Chebyshev polynomials of (2 x - low - high) / (high - low) those of powers of x.
Vector in_powers(const Vector& chebyshev, long double low, long double high) {
  const long double slope = 2 / (high - low), shift = -(high + low) / (high - low);
  std::vector<Vector> basis = {{1}, {shift, slope}};
  while (basis.size() < chebyshev.size()) {
    const Vector &last = basis.back(), &before = basis[basis.size() - 2];
    Vector next(last.size() + 1);
    for (std::size_t i = 0; i < last.size(); ++i) {
      next[i] += 2 * shift * last[i];
      next[i + 1] += 2 * slope * last[i];
    }
    for (std::size_t i = 0; i < before.size(); ++i) next[i] -= before[i];
    basis.push_back(next);
  }
  Vector made(chebyshev.size());
  for (std::size_t i = 0; i < chebyshev.size(); ++i)
    for (std::size_t j = 0; j < std::min(basis[i].size(), made.size()); ++j) made[j] += chebyshev[i] * basis[i][j];
  return made;
}

/// The middle of the lowest and the highest of a number of places.
std::pair<long double, long double> ends_of(const std::vector<Interval>& intervals) {
  const auto [low, high] = std::ranges::minmax(intervals, {}, &Interval::at);
  return {low.at, high.at};
}

/// exp(r) times a numerator, of the argument that E has; see Model.
struct Exponential {
  long double scale, factor;
};
Exponential exponential_of(Kind kind) {
  const bool has_numerator = kind.is_f16() && (kind.op == Op::sigmoid || kind.op == Op::gelu_tanh);
  const long double factor = has_numerator ? 0.875L : 1;
  switch (kind.op) {
    case Op::exp:
      return {kind.is_f16() ? 1 : 0.5L, factor};
    case Op::gelu:
      return {-0.5L, factor};
    case Op::gelu_tanh:
      return {std::numbers::ln2_v<long double>, factor};
    default:
      return {-1, factor};
  }
}

/// Returns 2 H(a), defined by Phi(-a) = exp(-a^2 / 2 - a H(a)) / 2.
long double twice_h(long double a) {
  const long double b = std::max(a, 1e-6L);
  return -2 * (std::log(std::erfc(b / std::numbers::sqrt2_v<long double>)) + b * b / 2) / b;
}
long double log1p_over(long double z) { return std::abs(z) < 1e-9L ? 1 - z / 2 : std::log1p(z) / z; }
long double erf_over(long double t, long double most) {
  const long double x = std::sqrt((t + 1) / 2) * most;
  return x < 1e-9L ? 2 * std::numbers::inv_sqrtpi_v<long double> : std::erf(x) / x;
}

/// The polynomial with the least error over `weight`: intervals of no width.
template <class Function, class Weight>
Vector least_error(const Function& function, const Weight& weight, long double low, long double high,
                   std::size_t count) {
  constexpr int kPlaces = 600;  // even, so that no place is 0
  std::vector<Interval> intervals;
  for (int i = 0; i < kPlaces; ++i) {
    const long double t = std::cos(std::numbers::pi_v<long double> * i / (kPlaces - 1));
    const long double at = (low + high) / 2 + (high - low) / 2 * t, value = function(at);
    intervals.push_back({at, value, value, weight(at) * kUnit});
  }
  return polynomial_in(intervals, count);
}
template <class Function>
Vector least_relative_error(const Function& function, long double low, long double high, std::size_t count) {
  return least_error(function, function, low, high, count);
}

/// E. Of gelu its constant is 1, since half of a subnormal is a tie: the rest is fitted.
Vector exponential_fit(Kind kind, std::size_t count) {
  const auto [scale, factor] = exponential_of(kind);
  const auto value = [&](long double r) { return factor * std::exp(scale * r); };
  const long double end = std::numbers::ln2_v<long double> / 2 / std::abs(scale) * 1.001L;
  if (kind.op != Op::gelu) return least_relative_error(value, -end, end, count);
  const auto rest = [&](long double r) { return std::expm1(scale * r) / r; };
  const auto weight = [&](long double r) { return value(r) / std::abs(r); };
  Vector made = least_error(rest, weight, -end, end, count - 1);
  made.insert(made.begin(), 1);
  return made;
}

}  // namespace

std::vector<long double> polynomial_in(const std::vector<Interval>& intervals, std::size_t count) {
  const auto [low, high] = ends_of(intervals);
  std::vector<Row> rows;
  for (const Interval& one : intervals) {
    Vector factors = chebyshev((2 * one.at - low - high) / (high - low), count);
    for (long double& f : factors) f *= kUnit / one.unit;
    rows.push_back({factors, 1, one.most / one.unit});
    for (long double& f : factors) f = -f;
    rows.push_back({factors, 1, -one.least / one.unit});
  }
  Vector made = most_margin(rows, kMostUnits);
  made.pop_back();
  for (long double& c : made) c *= kUnit;
  return in_powers(made, low, high);
}

/// Each round divides by the previous round's denominator, so that margins are those of the quotient.
std::vector<long double> odd_quotient_in(const std::vector<Interval>& intervals, std::size_t above, std::size_t below) {
  std::vector<Interval> all = intervals;
  for (int i = 1; i <= 50; ++i) {
    const long double x = 0x1p-6L * i / 50, value = std::tanh(x), error = value * 0x1.6ap-23L;
    all.push_back({x, value - error, value + error, value * kUnit});
  }
  Vector made(above + below);
  for (int round = 0; round < 8; ++round) {
    std::vector<Row> rows;
    for (const Interval& one : all) {
      const long double square = one.at * one.at;
      long double divisor = round == 0 ? 1 + 0.4L * square : 1;
      for (std::size_t j = 1; j < below && round > 0; ++j) divisor += made[above + j] * std::pow(square, j);
      const long double unit = one.unit * divisor;
      const auto row = [&](long double bound, long double sign) {
        Vector factors;
        for (std::size_t j = 0; j < above; ++j) factors.push_back(sign * one.at * std::pow(square, j) / unit * kUnit);
        for (std::size_t j = 1; j < below; ++j) factors.push_back(-sign * bound * std::pow(square, j) / unit * kUnit);
        rows.push_back({factors, 1, sign * bound / unit});
      };
      row(one.most, 1);
      row(one.least, -1);
    }
    const Vector found = most_margin(rows, kMostUnits);
    for (std::size_t j = 0; j < above; ++j) made[j] = found[j] * kUnit;
    made[above] = 1;
    for (std::size_t j = 1; j < below; ++j) made[above + j] = found[above + j - 1] * kUnit;
  }
  return made;
}

std::vector<long double> fit_of(Kind kind, float most, int number, std::size_t count) {
  if (number == 0) return exponential_fit(kind, count);
  switch (kind.op) {
    case Op::gelu:
      return least_relative_error(twice_h, 0, most, count);
    case Op::gelu_tanh: {
      const long double slope =
          -2 * std::sqrt(2 * std::numbers::inv_pi_v<long double>) / std::numbers::ln2_v<long double>;
      return {slope, slope * 0.044715L};
    }
    case Op::erf:
      return least_relative_error([&](long double t) { return erf_over(t, most); }, -1, 1, count);
    case Op::softplus:
      return least_relative_error(log1p_over, 0, 1, count);
    default:
      return least_relative_error(log1p_over, std::sqrt(0.5L) - 1, std::sqrt(2.0L) - 1, count);
  }
}

int fitted_number(Op op) {
  const bool is_of_p = op == Op::gelu || op == Op::softplus || op == Op::erf || op == Op::log;
  return is_of_p ? 1 : 0;
}

}  // namespace padlock::activation::search
