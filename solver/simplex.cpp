#include "solver/simplex.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "support/steps.h"

namespace padlock::solver {

namespace {

// Cap on a factor in the cost of choosing a column.
constexpr std::int64_t kLargestCost = std::int64_t{1} << 48;
constexpr int kGreedy = 100;

bool fits(Int128 value) { return -Simplex::kLargest <= value && value <= Simplex::kLargest; }

}  // namespace

Simplex::Simplex(int variables, std::vector<LinearRow>& rows, Int128 largest)
    : asked_(variables), rows_(rows), variables_(static_cast<std::size_t>(variables)) {
  columns_.resize(variables_.size());
  std::iota(columns_.begin(), columns_.end(), 0);
  for (const int column : columns_) variable(column).column = column;
  variables_.reserve(variables_.size() + rows.size());
  numerators_.reserve(rows.size() * columns_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(i, largest);
}

/// A row is a bound of the sum of its terms; rows with the same terms, or the opposite, share it.
void Simplex::add_row(std::size_t index, Int128 largest) {
  const LinearRow& row = rows_[index];
  if (!fits(row.constant)) return;
  Terms terms;
  terms.reserve(row.terms.size());
  for (const auto& [variable, coefficient] : row.terms) {
    if (coefficient < -largest || coefficient > largest) return;
    if (coefficient != 0) terms.emplace_back(variable, static_cast<std::int64_t>(coefficient));
  }
  if (terms.empty()) return;
  std::ranges::sort(terms);
  const bool opposite = terms.front().second < 0;
  if (opposite)
    for (auto& term : terms) term.second = -term.second;
  const int sum = variable_of(terms);
  // sum + c >= 0, or -sum + c >= 0
  const auto constant = static_cast<std::int64_t>(row.constant);
  Bound bound{.is_set = true, .value = opposite ? constant : -constant, .row = index};
  tighten_bound(sum, !opposite, bound);
  if (!row.is_equality) return;
  bound.factor = -1;
  tighten_bound(sum, opposite, bound);
}

/// Precondition: no pivot was made yet.
int Simplex::variable_of(const Terms& terms) {
  if (terms.size() == 1 && terms.front().second == 1) return terms.front().first;
  std::uint64_t hash = terms.size();
  for (const auto& [variable, coefficient] : terms)
    hash = (hash * 0x9e37'79b9'7f4a'7c15 + static_cast<std::uint64_t>(variable)) * 0xff51'afd7'ed55'8ccd +
           static_cast<std::uint64_t>(coefficient);
  for (std::size_t row = 0; row < tableau_.size(); ++row) {
    if (hashes_[row] != hash) continue;
    const auto known = numerators(row);
    const auto terms_of_known = std::ranges::count_if(known, [](std::int64_t n) { return n != 0; });
    if (static_cast<std::size_t>(terms_of_known) == terms.size() && std::ranges::all_of(terms, [&](const auto& term) {
          return known[static_cast<std::size_t>(term.first)] == term.second;
        }))
      return tableau_[row].variable;
  }
  take_steps(1 + columns_.size() / 16 + tableau_.size() / 8);
  const auto sum = static_cast<int>(variables_.size());
  const std::size_t row = tableau_.size();
  variables_.emplace_back().basic = static_cast<int>(row);
  tableau_.push_back({.variable = sum});
  hashes_.push_back(hash);
  numerators_.resize(numerators_.size() + columns_.size(), 0);
  for (const auto& [variable, coefficient] : terms) numerators(row)[static_cast<std::size_t>(variable)] = coefficient;
  return sum;
}

void Simplex::tighten_bound(int index, bool lower, const Bound& bound) {
  Bound& known = lower ? variable(index).lower : variable(index).upper;
  if (!known.is_set || (lower ? bound.value > known.value : bound.value < known.value)) known = bound;
}

/// Computes a row's value; false if it does not fit.
bool Simplex::evaluate(std::size_t row) {
  Int128 sum = 0;
  const auto factors = numerators(row);
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (factors[i] != 0 && __builtin_add_overflow(sum, Int128{factors[i]} * variable(columns_[i]).value, &sum))
      return false;
  tableau_[row].value = static_cast<std::int64_t>(sum);
  return fits(sum);
}

/// Returns -1 if the row's variable is below its lower bound, 1 if it is above its upper bound, else 0.
int Simplex::side_of(std::size_t row) const {
  const TableauRow& at = tableau_[row];
  const Variable& v = variable(at.variable);
  if (v.lower.is_set && at.value < Int128{v.lower.value} * at.denominator) return -1;
  if (v.upper.is_set && at.value > Int128{v.upper.value} * at.denominator) return 1;
  return 0;
}

/// Returns the row of the first variable that is out of its bounds, or -1.
int Simplex::violated() const {
  int best = -1;
  for (std::size_t i = 0; i < tableau_.size(); ++i)
    if ((best < 0 || tableau_[i].variable < tableau_[static_cast<std::size_t>(best)].variable) && side_of(i) != 0)
      best = static_cast<int>(i);
  return best;
}

/// Returns the column of a variable that can move the row's variable back into its bounds. Prefers a variable without
/// bounds, which never blocks again, then a small factor; `first` takes the first, which prevents cycling. -1: none.
int Simplex::entering(std::size_t row, int side, bool first) const {
  int best = -1;
  std::int64_t best_cost = 0;
  const auto factors = numerators(row);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == 0) continue;
    const Variable& v = variable(columns_[i]);
    const Bound& limit = (factors[i] > 0) == (side < 0) ? v.upper : v.lower;
    if (limit.is_set && v.value == limit.value) continue;
    const std::int64_t bounds = (v.lower.is_set ? 1 : 0) + (v.upper.is_set ? 1 : 0);
    const std::int64_t cost = first ? columns_[i] : bounds + 4 * (std::min(std::abs(factors[i]), kLargestCost) - 1);
    if (best < 0 || cost < best_cost) {
      best = static_cast<int>(i);
      best_cost = cost;
    }
  }
  return best;
}

/// Exchanges the row's variable, which gets `value`, with the column's. False if a number does not fit.
bool Simplex::pivot(std::size_t row, std::size_t column, std::int64_t value) {
  TableauRow& solved = tableau_[row];
  const int leaving = solved.variable;
  const int entering = columns_[column];
  // d * leaving = n * entering + rest, so |n| * entering = sign * (d * leaving - rest)
  const auto factors = numerators(row);
  const std::int64_t n = factors[column];
  const std::int64_t sign = n > 0 ? 1 : -1;
  for (std::int64_t& factor : factors) factor *= -sign;
  factors[column] = sign * solved.denominator;
  solved.denominator = std::abs(n);
  solved.variable = entering;
  columns_[column] = leaving;
  variable(leaving).basic = -1;
  variable(leaving).column = static_cast<int>(column);
  variable(leaving).value = value;
  variable(entering).column = -1;
  variable(entering).basic = static_cast<int>(row);
  if (!evaluate(row)) return false;
  for (std::size_t other = 0; other < tableau_.size(); ++other)
    if (other != row && numerators(other)[column] != 0 && !eliminate(other, row, column)) return false;
  return true;
}

/// Substitutes the column's former variable in the row by row `solved`. False if a number does not fit.
bool Simplex::eliminate(std::size_t row, std::size_t solved, std::size_t column) {
  const auto to = numerators(row);
  const auto from = numerators(solved);
  take_steps(1 + to.size() / 4);
  const std::int64_t common = std::gcd(to[column], tableau_[solved].denominator);
  const std::int64_t by = to[column] / common;
  const std::int64_t scale = tableau_[solved].denominator / common;
  const Int128 denominator = Int128{tableau_[row].denominator} * scale;
  if (!fits(denominator)) return false;
  to[column] = 0;
  auto divisor = static_cast<std::int64_t>(denominator);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i] == 0 && scale == 1 && divisor == 1) continue;
    const Int128 sum = Int128{to[i]} * scale + Int128{from[i]} * by;
    if (!fits(sum)) return false;
    to[i] = static_cast<std::int64_t>(sum);
    if (divisor != 1) divisor = std::gcd(divisor, to[i]);
  }
  tableau_[row].denominator = static_cast<std::int64_t>(denominator) / divisor;
  if (divisor != 1)
    for (std::int64_t& factor : to) factor /= divisor;
  return evaluate(row);
}

Simplex::Outcome Simplex::solve(std::uint64_t pivots) {
  pivots_left_ = static_cast<std::int64_t>(pivots);
  for (const int column : columns_) {
    Variable& v = variable(column);
    if (v.lower.is_set) v.value = std::max(v.value, v.lower.value);
    if (v.upper.is_set) v.value = std::min(v.value, v.upper.value);
  }
  for (std::size_t row = 0; row < tableau_.size(); ++row)
    if (!evaluate(row)) return Outcome::unknown;
  const std::size_t rows = rows_.size();
  const Outcome outcome = search();
  rows_.resize(rows);
  return outcome;
}

/// Searches from a tableau whose columns are in their bounds.
Simplex::Outcome Simplex::search() {
  for (const Variable& v : variables_)
    if (v.lower.is_set && v.upper.is_set && v.lower.value > v.upper.value)
      return refuted({{v.lower.row, v.lower.factor}, {v.upper.row, v.upper.factor}});
  for (int made = 0;; ++made) {
    const int out = violated();
    if (out < 0) return finish();
    if (--pivots_left_ < 0) return Outcome::unknown;
    const auto row = static_cast<std::size_t>(out);
    const int side = side_of(row);
    const int in = entering(row, side, made > kGreedy);
    if (in < 0) return conflict(row, side);
    const Variable& v = variable(tableau_[row].variable);
    if (!pivot(row, static_cast<std::size_t>(in), side < 0 ? v.lower.value : v.upper.value)) return Outcome::unknown;
  }
}

/// Makes the point an integer one, by cuts and branches. Precondition: all variables are in their bounds.
Simplex::Outcome Simplex::finish() {
  point_.clear();
  for (int i = 0; i < asked_; ++i) {
    const Variable& v = variable(i);
    const TableauRow row = v.basic < 0 ? TableauRow{.value = v.value} : tableau_[static_cast<std::size_t>(v.basic)];
    if (row.value % row.denominator != 0) return cut() ? search() : branch(i, floor_div(row.value, row.denominator));
    point_.emplace_back(row.value / row.denominator);
  }
  const bool all = std::ranges::all_of(rows_, [&](const LinearRow& row) { return holds_at(row, point_); });
  return all ? Outcome::point : Outcome::unknown;
}

/// Adds a row that every integer point satisfies and this point does not: a sum of rows whose coefficients have a
/// common divisor that does not divide its constant. False if there is none.
bool Simplex::cut() {
  for (std::size_t row = 0; row < tableau_.size() && cuts_left_ > 0; ++row) {
    const std::int64_t denominator = tableau_[row].denominator;
    if (tableau_[row].value % denominator == 0) continue;
    // Modulo the denominator, the row's variable is an integer if these multiples of the distances from a bound are.
    Combination combination;
    std::vector<std::int64_t> multiples(columns_.size(), 0);
    bool possible = true;
    for (std::size_t i = 0; i < columns_.size() && possible; ++i) {
      const std::int64_t factor = numerators(row)[i];
      if (factor % denominator == 0) continue;
      const Variable& v = variable(columns_[i]);
      const bool at_lower = v.lower.is_set && v.value == v.lower.value;
      possible = at_lower || (v.upper.is_set && v.value == v.upper.value);
      const std::int64_t multiple = floor_mod(at_lower ? factor : -factor, denominator);
      const Bound& bound = at_lower ? v.lower : v.upper;
      combination.emplace_back(bound.row, Int128{multiple} * bound.factor);
      multiples[i] = at_lower ? multiple : -multiple;
    }
    if (possible && add_cut(combination, std::move(multiples))) return true;
  }
  return false;
}

bool Simplex::add_cut(const Combination& combination, std::vector<std::int64_t> multiples) {
  std::optional<LinearRow> sum = combined(asked_, rows_, combination);
  if (!sum || sum->terms.empty()) return false;
  const Int128 before = sum->terms.front().second;
  tighten(*sum);
  const Int128 divisor = before / sum->terms.front().second;
  if (!fits(divisor) || !fits(sum->constant)) return false;
  const auto added = static_cast<int>(variables_.size());
  variables_.emplace_back().basic = static_cast<int>(tableau_.size());
  variable(added).lower = {.is_set = true, .value = -static_cast<std::int64_t>(sum->constant), .row = rows_.size()};
  rows_.push_back(*std::move(sum));
  tableau_.push_back({.variable = added, .denominator = static_cast<std::int64_t>(divisor)});
  numerators_.insert(numerators_.end(), multiples.begin(), multiples.end());
  --cuts_left_;
  return evaluate(tableau_.size() - 1);
}

/// Branches: the variable is at most `value`, or more.
Simplex::Outcome Simplex::branch(int index, std::int64_t value) {
  Outcome all = Outcome::empty;
  const std::size_t rows = rows_.size();
  for (const bool lower : {false, true}) {
    const std::int64_t limit = value + (lower ? 1 : 0);
    rows_.push_back({.terms = {{index, lower ? 1 : -1}}, .constant = lower ? -limit : limit});
    Simplex part = *this;
    part.tighten_bound(index, lower, {.is_set = true, .value = limit, .row = rows});
    const Outcome outcome = part.search();
    rows_.resize(rows);
    pivots_left_ = part.pivots_left_;
    if (outcome == Outcome::point) {
      point_ = std::move(part.point_);
      return outcome;
    }
    if (outcome == Outcome::unknown) all = outcome;
  }
  return all;
}

/// Reports a conflict: the row's variable violates a bound, and each variable that it depends on is at the bound that
/// blocks it.
Simplex::Outcome Simplex::conflict(std::size_t row, int side) const {
  const auto part = [](const Bound& bound, std::int64_t factor) {
    return std::pair(bound.row, Int128{factor} * bound.factor);
  };
  const Variable& stuck = variable(tableau_[row].variable);
  Combination combination = {part(side < 0 ? stuck.lower : stuck.upper, tableau_[row].denominator)};
  const auto factors = numerators(row);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == 0) continue;
    const Variable& v = variable(columns_[i]);
    const bool at_upper = (factors[i] > 0) == (side < 0);
    combination.push_back(part(at_upper ? v.upper : v.lower, std::abs(factors[i])));
  }
  return refuted(combination);
}

Simplex::Outcome Simplex::refuted(const Combination& combination) const {
  return refutes(asked_, rows_, combination) ? Outcome::empty : Outcome::unknown;
}

}  // namespace padlock::solver
