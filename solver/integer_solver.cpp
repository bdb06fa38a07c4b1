#include "solver/integer_solver.h"

#include <algorithm>

#include "solver/linear_certificate.h"
#include "solver/simplex.h"

namespace padlock::solver {

namespace {
constexpr Int128 kSmall = 1 << 20;
}  // namespace

IntegerSolver::Answer IntegerSolver::solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) {
  if (std::ranges::any_of(rows, contradicts_itself)) return std::nullopt;
  std::ranges::for_each(rows, tighten);
  // Numbers that grow too large mostly come from far bounds.
  for (const Int128 largest : {Simplex::kLargest, kSmall}) {
    Simplex simplex(variables, rows, largest);
    const Simplex::Outcome outcome = simplex.solve(pivots);
    if (outcome == Simplex::Outcome::empty) return std::nullopt;
    if (outcome == Simplex::Outcome::point) return simplex.point();
  }
  return resource_exhausted("the simplex's pivots and cuts are used up");
}

}  // namespace padlock::solver
