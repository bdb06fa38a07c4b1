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

/// Plan is what the search for one function's coefficients is given.
struct Plan {
  Kind kind;
  float least, most;                  ///< HalfFunction's
  std::array<std::size_t, 3> counts;  ///< of coefficients of E, P and Q
};

/// Returns those of all functions and types that have coefficients, f16's first.
[[nodiscard]] std::span<const Plan> plans();

/// Search finds coefficients with which all 65,536 results of one function and type are right in every way of
/// computing.
class Search {
 public:
  Search(const Plan& plan, Judge& judge);

  /// Returns how many results are wrong, summed over the ways.
  [[nodiscard]] std::int64_t wrong(std::span<const float> coefficients) const;

  /// Three steps. First the polynomials of least relative error; then, of one of them, those coefficients that leave
  /// the most margin in what each argument lets the polynomial be, for its result to round to the right one; and then
  /// small moves, of `tries`, until nothing is wrong. The same numbers each time.
  [[nodiscard]] std::vector<float> find(std::int64_t tries);

 private:
  /// The results that are right for an argument, as places of f32 in their order.
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
