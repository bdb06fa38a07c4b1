#pragma once

#include <cstddef>
#include <vector>

#include "tests/activation/search/half_model.h"

// Polynomials for the activations of f16 and bf16 in real arithmetic, by most_margin. Coefficients begin with the
// constant.
namespace padlock::activation::search {

/// What a function may be at a place, and what its margin is counted in.
struct Interval {
  long double at, least, most, unit;
};

/// Returns the polynomial with so many coefficients that lies in all intervals with the most margin.
[[nodiscard]] std::vector<long double> polynomial_in(const std::vector<Interval>& intervals, std::size_t count);

/// Returns coefficients of P, and then those of Q, whose first is 1: x P(x^2) / Q(x^2) lies within the intervals of
/// tanh with the most margin, and for small x to 2^-22.5.
[[nodiscard]] std::vector<long double> odd_quotient_in(const std::vector<Interval>& intervals, std::size_t above,
                                                       std::size_t below);

/// Returns polynomial E (0) or P (1) of a function with the least relative error.
[[nodiscard]] std::vector<long double> fit_of(Kind kind, float most, int number, std::size_t count);

/// Says which one has its margin made the most.
[[nodiscard]] int fitted_number(ir::Op op);

}  // namespace padlock::activation::search
