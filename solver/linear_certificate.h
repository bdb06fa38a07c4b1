#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solver/integer_solver.h"

// Certificates that a system of linear rows has an integer point, or none. Checking a certificate does not rely on the
// solver that found it.
namespace padlock::solver {

/// A linear combination: indices of rows, each with a factor. Factors of inequalities are not negative.
using Combination = std::vector<std::pair<std::size_t, Int128>>;

/// Returns whether no integers satisfy the row: it has no terms and is false, or it is an equation whose constant is
/// not a multiple of the coefficients' greatest common divisor.
[[nodiscard]] bool contradicts_itself(const LinearRow& row);

/// Divides a row by the greatest common divisor of its coefficients. Rounds the constant of an inequality down, which
/// excludes no integer point. Precondition: the row does not contradict itself.
void tighten(LinearRow& row);

/// Returns the sum of the rows times their factors, an inequality that every point of the rows satisfies. nullopt if
/// the sum does not fit, or an inequality has a negative factor.
[[nodiscard]] std::optional<LinearRow> combined(int variables, const std::vector<LinearRow>& rows,
                                                const Combination& combination);
/// Returns whether the combination of the rows is a negative constant, so that no point satisfies them all.
[[nodiscard]] bool refutes(int variables, const std::vector<LinearRow>& rows, const Combination& combination);

/// Returns whether the row holds at a point; false if it cannot be computed in 126 bits.
[[nodiscard]] bool holds_at(const LinearRow& row, const std::vector<Int128>& point);

}  // namespace padlock::solver
