#pragma once

#include <cstddef>
#include <vector>

#include "tests/activation/search/half_model.h"

// Polynomials for the activations of f16 and bf16 in real arithmetic, found by most_margin. Coefficients begin with the
// constant.
namespace padlock::activation::search {

/// The allowed values of a function at one place, and the unit of its margin.
struct Interval {
  long double at, least, most, unit;
};

/// Returns the polynomial with that many coefficients that lies in all intervals with the largest margin.
[[nodiscard]] std::vector<long double> polynomial_in(const std::vector<Interval>& intervals, std::size_t count);

/// Returns the coefficients of P, then those of Q, whose first is 1. x P(x^2) / Q(x^2) lies within the intervals of
/// tanh with the largest margin, and for small x to 2^-22.5.
[[nodiscard]] std::vector<long double> odd_quotient_in(const std::vector<Interval>& intervals, std::size_t above,
                                                       std::size_t below);

/// Returns polynomial E (0) or P (1) of a function with the least relative error.
[[nodiscard]] std::vector<long double> fit_of(Kind kind, float most, int number, std::size_t count);

/// Returns the number of the polynomial whose margin is maximised.
[[nodiscard]] int fitted_number(ir::Op op);

}  // namespace padlock::activation::search
