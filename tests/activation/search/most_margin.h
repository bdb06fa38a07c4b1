#pragma once

#include <vector>

namespace padlock::activation::search {

/// A constraint: sum of factors times variables, plus weight times the margin, is at most `bound`.
struct Row {
  std::vector<long double> factors;
  long double weight, bound;
};

/// Returns the variables with the largest margin, and then the margin. A linear program, solved by the simplex method
/// on its dual, which continues with the most violated row (like Remez's exchange). Variables and margin are at most
/// `most`. All rows have the same number of factors.
[[nodiscard]] std::vector<long double> most_margin(const std::vector<Row>& rows, long double most);

}  // namespace padlock::activation::search
