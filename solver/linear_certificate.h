#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solver/integer_solver.h"

// What shows that a system of linear rows has an integer point, or none, without trust in who found it.
namespace padlock::solver {

/// Rows, each with a factor. Factors are not negative, except of equations.
using Combination = std::vector<std::pair<std::size_t, Int128>>;

/// Whether no integers satisfy the row: it has no terms and does not hold, or no sum of their multiples is its
/// constant.
[[nodiscard]] bool contradicts_itself(const LinearRow& row);

/// Divides a row that does not contradict itself by the greatest common divisor of its coefficients; the constant of an
/// inequality is rounded down, which no integer point notices.
void tighten(LinearRow& row);

/// The sum of the rows times their factors, an inequality that every point of them satisfies. Nothing where it does not
/// fit, or an inequality has a negative factor.
[[nodiscard]] std::optional<LinearRow> combined(int variables, const std::vector<LinearRow>& rows,
                                                const Combination& combination);
/// Whether the combination of the rows is a negative constant: then no point satisfies them all.
[[nodiscard]] bool refutes(int variables, const std::vector<LinearRow>& rows, const Combination& combination);

/// Whether the row holds at a point; false where it cannot be computed in 126 bits.
[[nodiscard]] bool holds_at(const LinearRow& row, const std::vector<Int128>& point);

}  // namespace padlock::solver
