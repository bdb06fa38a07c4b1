#include "tests/activation/search/half_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "ir/reference/numeric.h"

namespace padlock::activation::search {

using ir::DType;
using ir::Op;

namespace {

/// Returns the position of a float in the order of all floats: neighbours differ by one, and -0 is below 0.
std::int64_t place_of(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? -std::int64_t{bits & 0x7fffffff} - 1 : bits;
}
float at_place(std::int64_t place) {
  const auto bits = static_cast<std::uint32_t>(place < 0 ? -(place + 1) : place);
  return std::bit_cast<float>(place < 0 ? bits | 0x80000000U : bits);
}

/// The floats that round to a number of f16 or bf16 that is not negative, given by its bits.
std::pair<std::int64_t, std::int64_t> range_of(DType dtype, std::uint64_t bits) {
  const auto value = [&](std::uint64_t of) { return double{ir::float_from_bits(dtype, of)}; };
  const std::uint64_t infinity = ir::format_of(dtype).infinity();
  const auto end = [&](std::uint64_t below) {  // between it and the next one
    const double above = below + 1 < infinity ? value(below + 1) : 2 * value(below) - value(below - 1);
    return place_of(static_cast<float>((value(below) + above) / 2));
  };
  const bool is_odd = bits % 2 != 0;
  const std::int64_t least = bits == 0 ? 0 : end(bits - 1) + (is_odd ? 1 : 0);
  if (bits == infinity) return {least, place_of(std::numeric_limits<float>::infinity())};
  return {least, end(bits) - (is_odd ? 1 : 0)};
}

/// Its margin is counted in units of 2^-24 of its middle.
Interval interval(float at, float least, float most) {
  const long double low = least, high = most;
  return {at, low, high, std::abs(low + high) / 2 * 0x1p-24L};
}

bool divides(Op op) { return op == Op::sigmoid || op == Op::silu || op == Op::gelu_tanh || op == Op::tanh; }

constexpr std::array kPlans = {
    Plan{{Op::exp, DType::f16}, -18, 12, {6, 0, 0}},
    Plan{{Op::log, DType::f16}, 0, 0, {0, 7, 0}},
    Plan{{Op::tanh, DType::f16}, -4.6F, 4.6F, {0, 4, 4}},
    Plan{{Op::sigmoid, DType::f16}, -18, 18, {6, 0, 0}},
    Plan{{Op::erf, DType::f16}, -2.65F, 2.65F, {0, 9, 0}},
    Plan{{Op::gelu, DType::f16}, 0, 6, {6, 8, 0}},
    Plan{{Op::gelu_tanh, DType::f16}, -5.6F, 5.6F, {6, 2, 0}},
    Plan{{Op::silu, DType::f16}, -21, 21, {6, 0, 0}},
    Plan{{Op::softplus, DType::f16}, 0, 20, {6, 8, 0}},
    Plan{{Op::exp, DType::bf16}, -94, 89.5F, {5, 0, 0}},
    Plan{{Op::log, DType::bf16}, 0, 0, {0, 5, 0}},
    Plan{{Op::tanh, DType::bf16}, -3.6F, 3.6F, {0, 3, 3}},
    Plan{{Op::sigmoid, DType::bf16}, -94, 20, {5, 0, 0}},
    Plan{{Op::erf, DType::bf16}, -2.25F, 2.25F, {0, 7, 0}},
    Plan{{Op::gelu, DType::bf16}, 0, 13.6875F, {5, 9, 0}},
    Plan{{Op::gelu_tanh, DType::bf16}, -10.4F, 5, {5, 2, 0}},
    Plan{{Op::silu, DType::bf16}, -100, 20, {5, 0, 0}},
    Plan{{Op::softplus, DType::bf16}, 0, 95, {5, 6, 0}},
};

}  // namespace

std::span<const Plan> plans() { return kPlans; }

Search::Search(const Plan& plan, Judge& judge) : plan_(plan), model_(plan.kind, plan.least, plan.most) {
  ways_ = {{.fused = true}, {.fused = false}};
  if (divides(plan.kind.op))
    for (const std::int32_t units : {-2, -1, 0, 1, 2}) ways_.push_back({.refines = true, .units = units});
  const DType dtype = plan.kind.dtype;
  const std::uint64_t sign = ir::format_of(dtype).sign_mask();
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    const float argument = ir::float_from_bits(dtype, bits);
    const float exact = judge.value(plan.kind.op, argument);
    // What is left is made by selections.
    if (std::isnan(exact) || (plan.kind.op == Op::log && (argument <= 0 || std::isinf(argument)))) continue;
    const std::uint64_t result = ir::bits_from_float(dtype, exact);
    const auto [least, most] = range_of(dtype, result & ~sign);
    const bool is_negative = (result & sign) != 0;
    cases_.push_back({argument, is_negative ? -most - 1 : least, is_negative ? -least - 1 : most});
  }
}

std::int64_t Search::miss(const Case& one, float result) const {
  if (std::isnan(result)) return 1 << 24;
  const std::int64_t place = place_of(result);
  return std::max({one.least - place, place - one.most, std::int64_t{0}});
}

/// Adds up the errors of all ways, and stops at the limit.
std::int64_t Search::cost(const std::vector<Case>& cases, const Coefficients& of, std::int64_t limit) const {
  constexpr std::int64_t kFar = 100000;
  model_.take(of, plan_.counts);
  std::int64_t sum = 0;
  for (const Way& way : ways_)
    for (const Case& one : cases) {
      const std::int64_t missed = miss(one, model_(one.argument, way));
      if (missed == 0) continue;
      sum += 1 + std::min(missed, kFar);
      if (sum > limit) return sum;
    }
  return sum;
}

std::int64_t Search::wrong(std::span<const float> coefficients) const {
  model_.take(coefficients, plan_.counts);
  std::int64_t count = 0;
  for (const Way& way : ways_)
    count += std::ranges::count_if(cases_, [&](const Case& one) { return miss(one, model_(one.argument, way)) > 0; });
  return count;
}

/// The cases that small moves can make wrong.
std::vector<Search::Case> Search::near_misses(const Coefficients& of) const {
  constexpr std::int64_t kNear = 24;
  model_.take(of, plan_.counts);
  std::vector<Case> found;
  std::ranges::copy_if(cases_, std::back_inserter(found), [&](const Case& one) {
    return one.argument != 0 && std::ranges::any_of(ways_, [&](const Way& way) {
             const std::int64_t place = place_of(model_(one.argument, way));
             return place < one.least + kNear || place > one.most - kNear;
           });
  });
  return found;
}

/// Returns the values of one polynomial that give the right result for an argument while the other polynomials stay as
/// they are; nullopt if no value near its own does.
std::optional<Interval> Search::right_values(const Case& one, int number, const Way& way) const {
  const auto is_right = [&](std::int64_t place) {
    model_.replace(number, at_place(place));
    return miss(one, model_(one.argument, way)) == 0;
  };
  (void)is_right(0);
  const float at = model_.asked_at();
  const std::int64_t guess = place_of(model_.polynomial(number, at));
  std::int64_t found = guess;
  for (std::int64_t d = 0; d < 8000 && !is_right(found); ++d) found = guess + (d % 2 == 0 ? d : -d) / 2;
  if (!is_right(found)) return std::nullopt;
  const auto edge = [&](std::int64_t sign) {
    std::int64_t step = 1, reached = found;
    const auto goes_on = [&] {
      const std::int64_t next = reached + sign * step;
      return std::abs(next - found) < (1 << 22) && is_right(next);
    };
    for (; goes_on(); step *= 2) reached += sign * step;
    for (; step > 0; step /= 2)
      if (goes_on()) reached += sign * step;
    return at_place(reached);
  };
  const float low = edge(-1);
  return interval(at, low, edge(1));
}

Search::Coefficients Search::least_error() const {
  Coefficients made;
  for (const int number : {0, 1})
    if (const std::size_t count = plan_.counts.at(static_cast<std::size_t>(number)); count > 0)
      for (const long double c : fit_of(plan_.kind, plan_.most, number, count)) made.push_back(static_cast<float>(c));
  return made;
}

void Search::leave_margin(Coefficients& of) const {
  const int number = fitted_number(plan_.kind.op);
  model_.take(of, plan_.counts);
  std::vector<Interval> intervals;
  for (const Way& way : std::span(ways_).first(2))
    for (const Case& one : cases_)
      if (const auto found = right_values(one, number, way)) intervals.push_back(*found);
  model_.replace(-1, 0);
  const std::size_t count = plan_.counts.at(static_cast<std::size_t>(number));
  const std::size_t first = number == 0 ? 0 : plan_.counts[0];
  const std::vector<long double> made = polynomial_in(intervals, count);
  for (std::size_t i = 0; i < count; ++i) of[first + i] = static_cast<float>(made[i]);
}

Search::Coefficients Search::quotient_with_margin() const {
  std::vector<Interval> intervals;
  for (const Case& one : cases_)
    if (one.argument > 0x1p-7F && one.argument <= plan_.most)
      intervals.push_back(interval(one.argument, at_place(one.least), at_place(one.most)));
  const std::vector<long double> made = odd_quotient_in(intervals, plan_.counts[1], plan_.counts[2]);
  return {made.begin(), made.end()};
}

/// Accepts slightly worse coefficients, ever less of them. For gelu the constant of E stays 1: x/2 of a subnormal is a
/// tie.
Search::Coefficients Search::moved(Coefficients from, std::int64_t tries) const {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  std::mt19937_64 random(1);
  Coefficients best = from;
  std::int64_t best_of_all = cost(cases_, from, kAny);
  std::vector<Case> hard = near_misses(from);
  std::int64_t now = cost(hard, from, kAny);
  const std::size_t first = plan_.kind.op == Op::gelu ? 1 : 0;
  for (std::int64_t left = tries; left > 0 && best_of_all > 0; --left) {
    Coefficients next = from;
    for (std::uint64_t moves = 1 + random() % 3; moves > 0; --moves) {
      float& one = next[first + random() % (next.size() - first)];
      const auto size = std::int64_t{1} << random() % 12;
      const auto by = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * size + 1)) - size;
      one = at_place(place_of(one) + by);
    }
    const std::int64_t tenths = left % 20000 < 10000 ? 30 : 3;
    const std::int64_t limit = now + tenths * std::countl_zero(random()) * left / tries / 10;
    const std::int64_t cost_of_next = cost(hard, next, limit);
    if (cost_of_next > limit) continue;
    from = next;
    now = cost_of_next;
    if (now >= best_of_all) continue;
    const std::int64_t all = cost(cases_, from, kAny);
    if (all < best_of_all) {
      best_of_all = all;
      best = from;
    }
    if (all == now) continue;
    hard = near_misses(from);
    now = cost(hard, from, kAny);
  }
  return best;
}

std::vector<float> Search::find(std::int64_t tries) {
  const bool is_quotient = plan_.kind.op == Op::tanh;
  Coefficients start = is_quotient ? quotient_with_margin() : least_error();
  if (!is_quotient) leave_margin(start);
  return moved(std::move(start), tries);
}

}  // namespace padlock::activation::search
