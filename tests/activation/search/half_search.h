#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/activation/exact.h"
#include "tests/activation/search/half_fits.h"

namespace padlock::activation::search {

/// The input of the search for one function's coefficients.
struct Plan {
  Kind kind;
  float least, most;                  ///< as in HalfFunction
  std::array<std::size_t, 3> counts;  ///< of coefficients of E, P and Q
};

/// Returns the plans of all functions and types that have coefficients, f16's first.
[[nodiscard]] std::span<const Plan> plans();

/// Finds coefficients for which all 65,536 results of one function and type are right, in every way of computing.
class Search {
 public:
  Search(const Plan& plan, Judge& judge);

  /// Returns how many results are wrong, summed over the ways.
  [[nodiscard]] std::int64_t wrong(std::span<const float> coefficients) const;

  /// Searches in three steps. First, the polynomials of least relative error. Then, for one of them, the coefficients
  /// with the largest margin in the interval that each argument allows. Then at most `tries` small moves until no
  /// result is wrong. Deterministic.
  [[nodiscard]] std::vector<float> find(std::int64_t tries);

 private:
  /// The right results for an argument, as positions of f32 values in their order.
  struct Case {
    float argument;
    std::int64_t least, most;
  };
  using Coefficients = std::vector<float>;

  [[nodiscard]] std::int64_t miss(const Case& one, float result) const;
  [[nodiscard]] std::int64_t cost(const std::vector<Case>& cases, const Coefficients& of, std::int64_t limit) const;
  [[nodiscard]] std::vector<Case> near_misses(const Coefficients& of) const;
  [[nodiscard]] std::optional<Interval> right_values(const Case& one, int number, const Way& way) const;
  [[nodiscard]] Coefficients least_error() const;
  void leave_margin(Coefficients& of) const;
  [[nodiscard]] Coefficients quotient_with_margin() const;
  [[nodiscard]] Coefficients moved(Coefficients from, std::int64_t tries) const;

  Plan plan_;
  std::vector<Way> ways_;
  std::vector<Case> cases_;
  mutable Model model_;
};

}  // namespace padlock::activation::search
