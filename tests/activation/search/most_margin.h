#pragma once

#include <vector>

namespace padlock::activation::search {

/// Row is a constraint: sum of factors times variables, plus weight times the margin, is at most `bound`.
struct Row {
  std::vector<long double> factors;
  long double weight, bound;
};

/// Returns the variables that leave the most margin, and then the margin: a linear program, by the simplex method on
/// its dual, which goes on with the row that is violated most (as Remez's exchange does). No variable is above `most`,
/// nor is the margin. All rows have as many factors.
[[nodiscard]] std::vector<long double> most_margin(const std::vector<Row>& rows, long double most);

}  // namespace padlock::activation::search
