#include "compiler/prover/simplex.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace padlock::compiler {

namespace {

// Beyond it a row is left out: fewer rows make a superset, and a point is checked in all of them.
constexpr Int128 kLargest = Int128{1} << 48;

constexpr std::uint64_t kMostPivots = 300;
constexpr int kGreedy = 100;

bool fits(Int128 value) { return -kLargest < value && value < kLargest; }

}  // namespace

Simplex::Simplex(int variables, std::vector<LinearRow>& rows)
    : asked_(variables), rows_(rows), variables_(static_cast<std::size_t>(variables)) {
  for (int i = 0; i < variables; ++i) {
    variables_[static_cast<std::size_t>(i)].column = i;
    columns_.push_back(i);
  }
  std::map<Terms, int> sums;
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(i, sums);
}

/// A row is a bound of the sum of its terms; rows with the same terms, or the opposite, share it.
void Simplex::add_row(std::size_t index, std::map<Terms, int>& sums) {
  const LinearRow& given = rows_[index];
  empty_ |= contradicts_itself(given);
  const LinearRow row = tightened(given);
  if (empty_ || !fits(row.constant)) return;
  Terms terms;
  for (const auto& [variable, coefficient] : row.terms) {
    if (!fits(coefficient)) return;
    if (coefficient != 0) terms.emplace_back(variable, static_cast<std::int64_t>(coefficient));
  }
  if (terms.empty()) return;
  std::ranges::sort(terms);
  const bool opposite = terms.front().second < 0;
  if (opposite)
    for (auto& term : terms) term.second = -term.second;
  int variable = terms.front().first;
  if (terms.size() > 1 || terms.front().second != 1) {
    const auto [at, inserted] = sums.try_emplace(terms, static_cast<int>(variables_.size()));
    variable = at->second;
    if (inserted) {
      TableauRow sum{.variable = variable, .numerators = std::vector<std::int64_t>(columns_.size(), 0)};
      for (const auto& [term, coefficient] : terms) sum.numerators[static_cast<std::size_t>(term)] = coefficient;
      variables_.push_back({.lower = {}, .upper = {}, .basic = static_cast<int>(tableau_.size())});
      tableau_.push_back(std::move(sum));
    }
  }
  // sum + c >= 0, or -sum + c >= 0
  const auto constant = static_cast<std::int64_t>(row.constant);
  const Bound bound{.is_set = true, .value = opposite ? constant : -constant, .row = index};
  tighten(variable, !opposite, bound);
  if (!row.is_equality) return;
  Bound other = bound;
  other.factor = -1;
  tighten(variable, opposite, other);
}

void Simplex::tighten(int variable, bool lower, const Bound& bound) {
  Variable& v = variables_[static_cast<std::size_t>(variable)];
  Bound& known = lower ? v.lower : v.upper;
  if (!known.is_set || (lower ? bound.value > known.value : bound.value < known.value)) known = bound;
}

bool Simplex::evaluate(TableauRow& row) const {
  Int128 sum = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (row.numerators[i] != 0)
      sum += Int128{row.numerators[i]} * variables_[static_cast<std::size_t>(columns_[i])].value;
  row.value = static_cast<std::int64_t>(sum);
  return fits_int64(sum);
}

/// -1: below its lower bound, 1: above its upper bound.
int Simplex::side_of(const TableauRow& row) const {
  const Variable& v = variables_[static_cast<std::size_t>(row.variable)];
  if (v.lower.is_set && row.value < Int128{v.lower.value} * row.denominator) return -1;
  if (v.upper.is_set && row.value > Int128{v.upper.value} * row.denominator) return 1;
  return 0;
}

/// The row whose variable is first among those out of their bounds, or -1.
int Simplex::violated() const {
  int best = -1;
  for (std::size_t i = 0; i < tableau_.size(); ++i)
    if (side_of(tableau_[i]) != 0 &&
        (best < 0 || tableau_[i].variable < tableau_[static_cast<std::size_t>(best)].variable))
      best = static_cast<int>(i);
  return best;
}

/// The column of a variable that can move the row's back into its bounds: one without bounds, which is then never in
/// the way again, else one with a small factor; or the `first` of them, which cannot go round in circles. -1: none.
int Simplex::entering(const TableauRow& row, int side, bool first) const {
  int best = -1;
  std::int64_t best_cost = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (row.numerators[i] == 0) continue;
    const Variable& v = variables_[static_cast<std::size_t>(columns_[i])];
    const Bound& limit = (row.numerators[i] > 0) == (side < 0) ? v.upper : v.lower;
    if (limit.is_set && v.value == limit.value) continue;
    const std::int64_t bounds = (v.lower.is_set ? 1 : 0) + (v.upper.is_set ? 1 : 0);
    const std::int64_t cost = first ? columns_[i] : bounds + 4 * (std::abs(row.numerators[i]) - 1);
    if (best < 0 || cost < best_cost) {
      best = static_cast<int>(i);
      best_cost = cost;
    }
  }
  return best;
}

/// The row's variable takes the column's place, and `value`. False where a number does not fit.
bool Simplex::pivot(std::size_t row, std::size_t column, std::int64_t value) {
  TableauRow& solved = tableau_[row];
  const int leaving = solved.variable;
  const int entering = columns_[column];
  // d * leaving = n * entering + rest, so |n| * entering = sign * (d * leaving - rest)
  const std::int64_t n = solved.numerators[column];
  const std::int64_t sign = n > 0 ? 1 : -1;
  for (std::int64_t& numerator : solved.numerators) numerator *= -sign;
  solved.numerators[column] = sign * solved.denominator;
  solved.denominator = std::abs(n);
  solved.variable = entering;
  columns_[column] = leaving;
  Variable& out = variables_[static_cast<std::size_t>(leaving)];
  out = {.lower = out.lower, .upper = out.upper, .column = static_cast<int>(column), .value = value};
  variables_[static_cast<std::size_t>(entering)].column = -1;
  variables_[static_cast<std::size_t>(entering)].basic = static_cast<int>(row);
  if (!evaluate(solved)) return false;
  for (TableauRow& other : tableau_) {
    if (&other == &solved || other.numerators[column] == 0) continue;
    const std::int64_t common = std::gcd(other.numerators[column], solved.denominator);
    const std::int64_t by = other.numerators[column] / common;
    const std::int64_t scale = solved.denominator / common;
    other.numerators[column] = 0;
    std::int64_t divisor = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Int128 sum = Int128{other.numerators[i]} * scale + Int128{solved.numerators[i]} * by;
      if (!fits(sum)) return false;
      other.numerators[i] = static_cast<std::int64_t>(sum);
      if (divisor != 1) divisor = std::gcd(divisor, other.numerators[i]);
    }
    const Int128 denominator = Int128{other.denominator} * scale;
    if (!fits(denominator)) return false;
    other.denominator = static_cast<std::int64_t>(denominator);
    divisor = std::gcd(divisor, other.denominator);
    if (divisor > 1) {
      other.denominator /= divisor;
      for (std::int64_t& numerator : other.numerators) numerator /= divisor;
    }
    if (!evaluate(other)) return false;
  }
  return true;
}

/// The row's variable would have to move on, but each it follows from stands at the bound that is in the way.
Simplex::Outcome Simplex::conflict(const TableauRow& row, int side) const {
  const Variable& stuck = variables_[static_cast<std::size_t>(row.variable)];
  const auto part = [](const Bound& bound, std::int64_t factor) {
    return std::pair(bound.row, Int128{factor} * bound.factor);
  };
  Combination combination = {part(side < 0 ? stuck.lower : stuck.upper, row.denominator)};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (row.numerators[i] == 0) continue;
    const Variable& v = variables_[static_cast<std::size_t>(columns_[i])];
    const bool at_upper = (row.numerators[i] > 0) == (side < 0);
    combination.push_back(part(at_upper ? v.upper : v.lower, std::abs(row.numerators[i])));
  }
  return refuted(combination);
}

Simplex::Outcome Simplex::refuted(const Combination& combination) const {
  return refutes(asked_, rows_, combination) ? Outcome::empty : Outcome::unknown;
}

/// All variables are in their bounds.
Simplex::Outcome Simplex::finish() {
  point_.clear();
  for (int i = 0; i < asked_; ++i) {
    const Variable& v = variables_[static_cast<std::size_t>(i)];
    if (v.basic < 0) {
      point_.emplace_back(v.value);
      continue;
    }
    const TableauRow& row = tableau_[static_cast<std::size_t>(v.basic)];
    if (row.value % row.denominator != 0) return branch(i, floor_div(row.value, row.denominator));
    point_.emplace_back(row.value / row.denominator);
  }
  const bool all = std::ranges::all_of(rows_, [&](const LinearRow& row) { return holds_at(row, point_); });
  return all ? Outcome::point : Outcome::unknown;
}

/// The variable is at most `value`, or more.
Simplex::Outcome Simplex::branch(int variable, std::int64_t value) {
  Outcome all = Outcome::empty;
  for (const bool lower : {false, true}) {
    const std::int64_t limit = value + (lower ? 1 : 0);
    rows_.push_back({.terms = {{variable, lower ? 1 : -1}}, .constant = lower ? -limit : limit});
    Simplex part = *this;
    part.tighten(variable, lower, {.is_set = true, .value = limit, .row = rows_.size() - 1});
    const Outcome outcome = part.search();
    rows_.pop_back();
    pivots_left_ = part.pivots_left_;
    if (outcome == Outcome::point) {
      point_ = std::move(part.point_);
      return outcome;
    }
    if (outcome == Outcome::unknown) all = outcome;
  }
  return all;
}

Simplex::Outcome Simplex::solve(std::uint64_t pivots) {
  pivots_left_ = static_cast<std::int64_t>(std::min(pivots, kMostPivots));
  if (empty_) return Outcome::empty;
  for (const int column : columns_) {
    Variable& v = variables_[static_cast<std::size_t>(column)];
    if (v.lower.is_set) v.value = std::max(v.value, v.lower.value);
    if (v.upper.is_set) v.value = std::min(v.value, v.upper.value);
  }
  for (TableauRow& row : tableau_)
    if (!evaluate(row)) return Outcome::unknown;
  return search();
}

/// From a tableau whose columns are in their bounds.
Simplex::Outcome Simplex::search() {
  const auto crossed = std::ranges::find_if(
      variables_, [](const Variable& v) { return v.lower.is_set && v.upper.is_set && v.lower.value > v.upper.value; });
  if (crossed != variables_.end())
    return refuted({{crossed->lower.row, crossed->lower.factor}, {crossed->upper.row, crossed->upper.factor}});
  for (int made = 0;; ++made) {
    const int out = violated();
    if (out < 0) return finish();
    if (--pivots_left_ < 0) return Outcome::unknown;
    const auto row = static_cast<std::size_t>(out);
    const int side = side_of(tableau_[row]);
    const int in = entering(tableau_[row], side, made > kGreedy);
    if (in < 0) return conflict(tableau_[row], side);
    const Variable& v = variables_[static_cast<std::size_t>(tableau_[row].variable)];
    if (!pivot(row, static_cast<std::size_t>(in), side < 0 ? v.lower.value : v.upper.value)) return Outcome::unknown;
  }
}

}  // namespace padlock::compiler
