#include "solver/linear_certificate.h"

namespace padlock::solver {

namespace {

/// Returns the greatest common divisor of all coefficients; 0 if all are 0.
Int128 common_divisor(const LinearRow& row) {
  Int128 divisor = 0;
  for (const auto& term : row.terms) {
    Int128 rest = term.second < 0 ? -term.second : term.second;
    while (rest != 0) divisor = std::exchange(rest, divisor % rest);
    if (divisor == 1) break;
  }
  return divisor;
}

/// Adds a * b to `sum`; false if the result does not fit.
bool accumulate(Int128& sum, Int128 a, Int128 b) {
  const std::optional<Int128> product = checked_mul(a, b);
  return product && !__builtin_add_overflow(sum, *product, &sum);
}

}  // namespace

bool contradicts_itself(const LinearRow& row) {
  const Int128 divisor = common_divisor(row);
  if (divisor == 0) return row.is_equality ? row.constant != 0 : row.constant < 0;
  return row.is_equality && row.constant % divisor != 0;
}

void tighten(LinearRow& row) {
  const Int128 divisor = common_divisor(row);
  if (divisor <= 1) return;
  for (auto& term : row.terms) term.second /= divisor;
  row.constant = floor_div(row.constant, divisor);
}

std::optional<LinearRow> combined(int variables, const std::vector<LinearRow>& rows, const Combination& combination) {
  std::vector<Int128> sum(static_cast<std::size_t>(variables), 0);
  LinearRow made;
  for (const auto& [index, factor] : combination) {
    const LinearRow& row = rows[index];
    if (factor < 0 && !row.is_equality) return std::nullopt;
    if (!accumulate(made.constant, row.constant, factor)) return std::nullopt;
    for (const auto& [variable, coefficient] : row.terms)
      if (!accumulate(sum[static_cast<std::size_t>(variable)], coefficient, factor)) return std::nullopt;
  }
  for (int variable = 0; variable < variables; ++variable)
    if (const Int128 coefficient = sum[static_cast<std::size_t>(variable)]; coefficient != 0)
      made.terms.emplace_back(variable, coefficient);
  return made;
}

bool refutes(int variables, const std::vector<LinearRow>& rows, const Combination& combination) {
  const std::optional<LinearRow> sum = combined(variables, rows, combination);
  return sum && sum->terms.empty() && sum->constant < 0;
}

bool holds_at(const LinearRow& row, const std::vector<Int128>& point) {
  Int128 value = row.constant;
  for (const auto& [variable, coefficient] : row.terms)
    if (!accumulate(value, coefficient, point[static_cast<std::size_t>(variable)])) return false;
  return row.is_equality ? value == 0 : value >= 0;
}

}  // namespace padlock::solver
