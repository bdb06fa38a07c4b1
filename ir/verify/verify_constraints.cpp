#include "ir/verify/verify_constraints.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "ir/expr/linear_congruence.h"
#include "ir/program.h"
#include "support/limits.h"

namespace padlock::ir {
namespace {

constexpr Int128 kDefaultLimit = Int128{1} << 40;

/// Collects the symbols of an expression, and stops after two: more make no difference here.
void collect_symbols(Expr e, std::unordered_set<std::uint32_t>& seen, std::vector<std::uint32_t>& symbols) {
  std::vector<Expr> pending{e};
  while (!pending.empty() && symbols.size() < 2) {
    const Expr next = pending.back();
    pending.pop_back();
    if (!seen.insert(next.id()).second) continue;
    if (next.kind() == ExprKind::symbol && std::ranges::find(symbols, next.symbol()) == symbols.end())
      symbols.push_back(next.symbol());
    const auto operands = next.operands();
    pending.insert(pending.end(), operands.begin(), operands.end());
  }
}

/// Returns whether intervals show `lhs cmp rhs` false. They may by the difference, which cancels shared terms, or by
/// the sides, which may fit when the difference overflows.
bool refuted(Range difference, Range lhs, Comparison comparison, Range rhs) {
  const bool above = difference.lo > 0 || (lhs.lo > rhs.hi && lhs.lo < Range::kMax);  // lhs > rhs
  const bool below = difference.hi < 0 || (lhs.hi < rhs.lo && lhs.hi > Range::kMin);  // lhs < rhs
  const bool not_above = difference.hi <= 0 || (lhs.hi <= rhs.lo && lhs.hi > Range::kMin && rhs.lo < Range::kMax);
  const bool not_below = difference.lo >= 0 || (lhs.lo >= rhs.hi && lhs.lo < Range::kMax && rhs.hi > Range::kMin);
  switch (comparison) {
    case Comparison::le:
      return above;
    case Comparison::lt:
      return not_below;
    case Comparison::eq:
      return above || below;
    case Comparison::ge:
      return below;
    case Comparison::gt:
      return not_above;
  }
  return false;
}

class ConstraintAnalysis {
 public:
  ConstraintAnalysis(const syntax::Program& program, const NameTable& names, Diagnostics& diagnostics)
      : program_(program), names_(names), diagnostics_(diagnostics), builder_(scratch_, names, diagnostics) {}

  Result<SymbolFacts> run() && {
    if (program_.constraints.size() > limits::kConstraints)
      return diagnostics_.too_large(program_.constraints.back().where,
                                    fmt::format("expected at most {} constraints", limits::kConstraints));
    declare_symbols();
    PADLOCK_CHECK(read_constraints());
    close_ranges();
    PADLOCK_CHECK(read_postponed());
    check_values();
    return std::move(facts_);
  }

 private:
  struct Bounds {
    bool lower = false, upper = false;  // whether a constraint bounds the side
    Location where;                     // of the last constraint on this symbol alone
  };
  struct Change {
    std::size_t constraint;
    std::uint32_t symbol;
    Range before;
  };

  // Declares symbols with the widest ranges and no congruence, so that no constraint is simplified away.
  void declare_symbols() {
    for (const SymbolInfo& symbol : names_.symbols()) {
      const Range range{symbol.is_nonnegative() ? 0 : kInt64Min, kInt64Max};
      scratch_.declare({symbol.name, symbol.kind(), range, {}});
      facts_.ranges.push_back(range);
      bounds_.push_back({.where = symbol.where});
    }
    facts_.congruences.resize(facts_.ranges.size());
    facts_.texts.resize(program_.constraints.size());
  }

  /// Reads constraints in order. Earlier constraints must show their divisors positive.
  Status read_constraints() {
    Facts before(scratch_);
    for (std::size_t i = 0; i < program_.constraints.size(); ++i) {
      if (!is_read(check_names(program_.constraints[i]))) continue;
      auto constraint = build(program_.constraints[i], before);
      if (!constraint && is_of_text(constraint.error())) {
        // A default bound may show the divisor positive; the defaults are not known yet.
        postponed_.push_back(i);
        continue;
      }
      if (!constraint) return std::unexpected(std::move(constraint).error());
      PADLOCK_CHECK(diagnostics_.check_steps(program_.constraints[i].where));
      if (!is_read(learn(*constraint, i))) continue;
      facts_.texts[i] = text_of(*constraint);
      before.add(*constraint);
      built_.push_back({i, *constraint});
    }
    return {};
  }

  /// Lists the error of a constraint, if any. Returns whether there was none.
  bool is_read(const Status& status) {
    const Status noted = diagnostics_.errors().note(status);
    if (!noted) diagnostics_.doubt_constraints();
    return noted.has_value();
  }
  static bool is_of_text(const Error& error) {
    return error.code == Code::invalid_argument || ErrorList::is_consequence(error);
  }

  [[nodiscard]] Status check_names(const syntax::Constraint& constraint) const {
    const Status lhs = builder_.check_names(constraint.lhs), rhs = builder_.check_names(constraint.rhs);
    return diagnostics_.all(lhs, rhs);
  }

  Result<Constraint> build(const syntax::Constraint& constraint, const Facts& before) {
    const auto positive = [&](Expr divisor) {
      return range_over(scratch_, divisor, facts_.ranges).lo > 0 || before.proves_positive(divisor);
    };
    PADLOCK_TRY(const Expr lhs, builder_.build(constraint.lhs, positive));
    PADLOCK_TRY(const Expr rhs, builder_.build(constraint.rhs, positive));
    return Constraint{lhs, constraint.comparison, rhs};
  }

  /// Gives the language's default bound to each side without one.
  void close_ranges() {
    for (std::size_t s = 0; s < bounds_.size(); ++s) close(facts_.ranges[s], s);
  }
  void close(Range& range, std::size_t symbol) const {
    if (!bounds_[symbol].lower && !names_.symbols()[symbol].is_nonnegative()) range.lo = -kDefaultLimit;
    if (!bounds_[symbol].upper) range.hi = kDefaultLimit;
  }

  /// Reads the constraints whose divisors need a default bound. They bound no symbol, so the defaults stay.
  Status read_postponed() {
    const std::vector<Range> final_ranges = facts_.ranges;
    for (const std::size_t i : postponed_) {
      Facts before(scratch_);
      for (const auto& [index, constraint] : built_)
        if (index < i) before.add(constraint);
      facts_.ranges = ranges_before(i, final_ranges);
      const auto constraint = build(program_.constraints[i], before);
      if (!constraint && !is_of_text(constraint.error())) return std::unexpected(constraint.error());
      if (!is_read(diagnostics_.all(constraint))) continue;
      facts_.texts[i] = text_of(*constraint);
      built_.push_back({i, *constraint});
    }
    facts_.ranges = final_ranges;
    return {};
  }

  [[nodiscard]] std::vector<Range> ranges_before(std::size_t index, const std::vector<Range>& final_ranges) const {
    std::vector<Range> ranges = final_ranges;
    for (auto change = changes_.rbegin(); change != changes_.rend() && change->constraint > index; ++change) {
      ranges[change->symbol] = change->before;
      close(ranges[change->symbol], change->symbol);
    }
    return ranges;
  }

  Status learn(const Constraint& constraint, std::size_t index) {
    const Location where = program_.constraints[index].where;
    const Expr difference = scratch_.sub(constraint.lhs, constraint.rhs);
    std::unordered_set<std::uint32_t> seen;
    std::vector<std::uint32_t> symbols;
    collect_symbols(difference, seen, symbols);
    if (symbols.size() != 1) return {};
    const std::uint32_t symbol = symbols[0];
    bounds_[symbol].where = where;
    const Range before = facts_.ranges[symbol];
    const Congruence congruence_before = facts_.congruences[symbol];
    changes_.push_back({index, symbol, facts_.ranges[symbol]});
    tighten(constraint, difference, symbol);
    const bool possible = learn_congruence(constraint, difference, symbol);
    const Range& range = facts_.ranges[symbol];
    if (possible && has_value(range, facts_.congruences[symbol])) return {};
    facts_.ranges[symbol] = before;
    facts_.congruences[symbol] = congruence_before;
    return diagnostics_.error(
        where, fmt::format("expected a constraint that some value of '{}' satisfies, found {}, which none does{}",
                           names_.symbols()[symbol].name, brief_text(constraint), after_others(symbol)));
  }

  [[nodiscard]] std::string text_of(const Constraint& c) const {
    return fmt::format("{} {} {}", whole(scratch_, c.lhs), name_of(c.comparison), whole(scratch_, c.rhs));
  }
  [[nodiscard]] std::string brief_text(const Constraint& c) const {
    return fmt::format("{} {} {}", brief(scratch_, c.lhs), name_of(c.comparison), brief(scratch_, c.rhs));
  }
  [[nodiscard]] std::string after_others(std::uint32_t symbol) const {
    return names_.symbols()[symbol].is_nonnegative()
               ? " (with the constraints before it, and as an extent or stride is at least 0)"
               : " (with the constraints before it)";
  }

  /// Returns whether the constraint is shown to fail wherever the symbol is in `range`.
  bool fails_on(const Constraint& constraint, Expr difference, std::uint32_t symbol, Range range) {
    const Range saved = std::exchange(facts_.ranges[symbol], range);
    const bool fails =
        refuted(range_over(scratch_, difference, facts_.ranges), range_over(scratch_, constraint.lhs, facts_.ranges),
                constraint.comparison, range_over(scratch_, constraint.rhs, facts_.ranges));
    facts_.ranges[symbol] = saved;
    return fails;
  }

  // The upper end is infinity, not the largest int64: at a single point every constraint can be decided, and a `mod`
  // would seem to bound its symbol.
  void tighten(const Constraint& constraint, Expr difference, std::uint32_t symbol) {
    Range& range = facts_.ranges[symbol];
    const Range known = range;  // `range` itself is changed and restored below
    const auto fails_from = [&](Int128 x) { return fails_on(constraint, difference, symbol, {x, Range::kMax}); };
    const auto fails_to = [&](Int128 x) { return fails_on(constraint, difference, symbol, {Range::kMin, x}); };
    if (fails_from(known.hi + 1)) {
      bounds_[symbol].upper = true;
      Int128 good = known.lo - 1, bad = known.hi + 1;  // fails from `bad` on
      while (bad - good > 1) {
        const Int128 middle = good + (bad - good) / 2;
        (fails_from(middle) ? bad : good) = middle;
      }
      range.hi = good;
    }
    if (fails_to(known.lo - 1)) {
      bounds_[symbol].lower = true;
      Int128 bad = known.lo - 1, good = known.hi + 1;
      while (good - bad > 1) {
        const Int128 middle = good - (good - bad) / 2;
        (fails_to(middle) ? bad : good) = middle;
      }
      range.lo = good;
    }
  }

  /// Learns from "(a * s + c) mod m == r". Returns false if no value of the symbol satisfies it.
  bool learn_congruence(const Constraint& constraint, Expr difference, std::uint32_t symbol) {
    if (constraint.comparison != Comparison::eq) return true;
    // The difference is k * (e mod m) + d, so e mod m = -d / k.
    Int128 k = 1, d = 0;
    Expr quotient = difference;
    if (difference.kind() == ExprKind::sum) {
      if (difference.operands().size() != 1) return true;
      k = difference.coefficients()[0];
      d = difference.constant();
      quotient = difference.operands()[0];
    }
    if (quotient.kind() != ExprKind::mod || !quotient.operands()[1].is_constant()) return true;
    const Int128 modulus = quotient.operands()[1].constant();
    if (modulus < 1 || modulus > kInt64Max) return true;
    if (d % k != 0) return false;
    const Int128 remainder = -d / k;
    if (remainder < 0 || remainder >= modulus) return false;
    return add_congruence(quotient.operands()[0], remainder, static_cast<std::int64_t>(modulus), symbol);
  }

  bool add_congruence(Expr e, Int128 remainder, std::int64_t modulus, std::uint32_t symbol) {
    Int128 factor = 1, offset = 0;
    Expr base = e;
    if (e.kind() == ExprKind::sum && e.operands().size() == 1) {
      factor = e.coefficients()[0];
      offset = e.constant();
      base = e.operands()[0];
    }
    if (base.kind() != ExprKind::symbol) return true;
    const auto solved = solve_congruence(factor, remainder - floor_mod(offset, Int128{modulus}), modulus);
    if (!solved) return false;
    const auto combined = combine(facts_.congruences[symbol], *solved);
    if (!combined) return false;
    facts_.congruences[symbol] = *combined;
    return true;
  }

  /// Checks that each symbol has a value within the default bounds. A symbol without one is reported, and gets a range
  /// with which verification can continue.
  void check_values() {
    for (std::size_t s = 0; s < bounds_.size(); ++s) {
      Range& range = facts_.ranges[s];
      if (has_value(range, facts_.congruences[s])) continue;
      diagnostics_.errors().add(
          diagnostics_
              .not_shown(
                  bounds_[s].where,
                  fmt::format(
                      "expected a constraint that some value of '{0}' satisfies, found none in [{1}, {2}] (a side that "
                      "no constraint in '{0}' alone bounds is bounded by 2^40)",
                      names_.symbols()[s].name, padlock::to_string(range.lo), padlock::to_string(range.hi)))
              .error());
      diagnostics_.doubt_constraints();
      range = {0, kDefaultLimit};
      facts_.congruences[s] = {};
    }
  }

  const syntax::Program& program_;
  const NameTable& names_;
  Diagnostics& diagnostics_;
  ExprContext scratch_;
  DimBuilder builder_;
  SymbolFacts facts_;
  std::vector<Bounds> bounds_;
  std::vector<std::size_t> postponed_;
  std::vector<Change> changes_;  // in the order in which they were made
  std::vector<std::pair<std::size_t, Constraint>> built_;
};

}  // namespace

Result<SymbolFacts> analyze_constraints(const syntax::Program& program, const NameTable& names,
                                        Diagnostics& diagnostics) {
  return ConstraintAnalysis(program, names, diagnostics).run();
}

}  // namespace padlock::ir
