#include "solver/feasibility.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "ir/expr/affine.h"
#include "ir/expr/linear_form.h"

namespace padlock::solver {

using ir::Expr;
using ir::ExprKind;

namespace {
constexpr const char* kUsedUp = "the proof's budget is used up";
constexpr std::size_t kComparedInAStep = 8;  // terms, or rows
constexpr std::size_t kRowInSteps = 4;       // a row lies anywhere in memory, and so do its terms

/// Returns the rows of a question and of its expressions' definitions. Assumptions about other sizes may have numbers
/// that overflow the simplex; a question that contradicts itself needs no assumption.
std::vector<const LinearRow*> without_assumptions(const LinearSystem& system,
                                                  const std::vector<const LinearRow*>& rows) {
  const std::vector<LinearRow>& assumed = system.assumptions();
  std::vector<const LinearRow*> left;
  for (const LinearRow* row : rows)
    if (std::less<>{}(row, assumed.data()) || !std::less<>{}(row, assumed.data() + assumed.size())) left.push_back(row);
  return left;
}
}  // namespace

Expr Feasibility::resolved(Expr e) {
  if (determined_.empty()) return e;
  const auto [it, inserted] = resolved_.try_emplace(e.id(), e);
  if (inserted)
    it->second = exprs_.substitute(e, [&](Expr symbol) {
      const auto at = determined_.find(symbol.symbol());
      return at == determined_.end() ? symbol : at->second;
    });
  return it->second;
}

/// Determines a symbol from e == 0 if it has the coefficient 1 or -1.
void Feasibility::determine(Expr e) {
  // The symbol with the largest index whose coefficient is 1 or -1; later ones are declared for later parameters.
  const ir::LinearForm form = ir::LinearForm::of(e);
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const bool unit = form.coefficients[i] == 1 || form.coefficients[i] == -1;
    if (!unit || form.terms[i].kind() != ExprKind::symbol) continue;
    const bool occurs_elsewhere = std::ranges::any_of(
        form.terms, [&](Expr term) { return term.kind() != ExprKind::symbol && mentions(term, form.terms[i]); });
    if (!occurs_elsewhere && (!chosen || form.terms[i].symbol() > form.terms[*chosen].symbol())) chosen = i;
  }
  if (!chosen) return;
  const Expr symbol = form.terms[*chosen];
  // c * s + rest == 0 with c = 1 or -1
  const Expr rest = exprs_.sub(e, exprs_.mul(exprs_.constant(form.coefficients[*chosen]), symbol));
  const Expr value = form.coefficients[*chosen] == 1 ? exprs_.neg(rest) : rest;
  for (auto& [index, other] : determined_)
    other = exprs_.substitute(other, [&](Expr s) { return s == symbol ? value : s; });
  determined_[symbol.symbol()] = value;
  resolved_.clear();
  if (symbol.range().lo > ir::Range::kMin) system_.assume(exprs_.sub(value, exprs_.constant(symbol.range().lo)));
}

/// Beyond the budget an assumption counts only when a point is accepted: without it, more points pass the search.
void Feasibility::assume(Expr e, bool is_equality) {
  if (!steps_.is_used_up()) {
    e = resolved(e);
    system_.assume(e, is_equality);
    if (is_equality) determine(e);
  }
  (is_equality ? assumed_.zero : assumed_.nonnegative).push_back(e);
}

void Feasibility::add(const Region& region) {
  for (const Expr e : region.nonnegative) system_.add(resolved(e));
  for (const Expr e : region.zero) system_.add(resolved(e), true);
  // The rows of alternatives get their variables before a selection is made.
  for (const auto& any : region.alternatives)
    for (const Expr e : any) (void)system_.row_of(resolved(e));
}

Answer Feasibility::answer(const Region& region, const std::vector<Expr>& goal, Effort effort) {
  if (steps_.is_used_up()) return {.kind = Answer::Kind::undecided, .point = {}, .reason = kUsedUp};
  const std::size_t mark = system_.rows().size();
  add(region);
  const std::size_t first_goal = system_.rows().size();
  for (const Expr e : goal) system_.add(resolved(e));
  goal_ = &goal;
  calls_left_ = limits_.calls;
  question_work_left_ = limits_.question_work;
  question_steps_ = StepBudget(effort == Effort::connected ? limits_.connected_steps : steps_.left());
  Answer answer = search(region, first_goal, effort);
  system_.truncate(mark);
  return answer;
}

Answer Feasibility::ask(const Region& region, const std::vector<Expr>& goal, Effort effort) {
  // The ranges of the symbols may exclude the goal.
  if (std::ranges::any_of(goal, [](Expr e) { return e.range().hi < 0; }))
    return {.kind = Answer::Kind::empty, .point = {}, .reason = {}};
  return answer(region, goal, effort);
}

Answer Feasibility::find_point(const Region& region, const std::vector<Expr>& goal, const std::vector<Expr>& small,
                               const std::vector<Values64>& guesses) {
  for (const int bound : {4, 16, 64, 1024}) {
    Region bounded = region;
    for (const Expr e : small) {
      bounded.nonnegative.push_back(exprs_.sub(exprs_.constant(bound), e));
      bounded.nonnegative.push_back(exprs_.add(e, exprs_.constant(bound)));
    }
    Answer found = answer(bounded, goal, Effort::point);
    if (found.kind == Answer::Kind::found) return found;
    if (bound > 4) continue;
    Answer guessed = find_guessed(region, goal, small, guesses);
    if (guessed.kind == Answer::Kind::found) return guessed;
  }
  return answer(region, goal, Effort::point);
}

Answer Feasibility::find_guessed(const Region& region, const std::vector<Expr>& goal, const std::vector<Expr>& sizes,
                                 const std::vector<Values64>& guesses) {
  for (const Values64& guess : guesses) {
    if (steps_.is_used_up() || guess_steps_left_ <= 0) break;
    const std::int64_t before = steps_taken();
    const auto at_sizes = [&](std::vector<Expr> all) {
      for (Expr& e : all)
        e = exprs_.substitute(e, [&](Expr symbol) {
          return std::ranges::find(sizes, symbol) == sizes.end() ? symbol : exprs_.constant(guess[symbol.symbol()]);
        });
      return all;
    };
    Region here{.nonnegative = at_sizes(region.nonnegative), .zero = at_sizes(region.zero), .alternatives = {}};
    for (const auto& any : region.alternatives) here.alternatives.push_back(at_sizes(any));
    SearchLimits limits = limits_;
    limits.steps = std::min(steps_.left(), guess_steps_left_);
    Feasibility linear(exprs_, limits, &solver_);
    Answer found = linear.answer(here, at_sizes(goal), Effort::point);
    guess_steps_left_ -= steps_taken() - before;
    if (found.kind != Answer::Kind::found) continue;
    for (const Expr size : sizes) found.point[size.symbol()] = guess[size.symbol()];
    return found;
  }
  return {.kind = Answer::Kind::undecided, .point = {}, .reason = "no guess is a point"};
}

Answer::Kind Feasibility::linear_part(const Region& region) {
  if (steps_.is_used_up()) return Answer::Kind::undecided;
  const std::size_t mark = system_.rows().size();
  add(region);
  calls_left_ = 2;
  question_work_left_ = limits_.question_work;
  question_steps_ = StepBudget(steps_.left());
  Selection selection = select(region, system_.rows().size(), Scope::likely);
  Result<std::optional<Values>> values = solve(selection);
  if (!values) {
    // Finding a point of a bounded set is much cheaper.
    std::vector<LinearRow> box;
    for (const int variable : selection.variables)
      for (const int sign : {1, -1}) box.push_back({.terms = {{variable, sign}}, .constant = 256});
    for (const LinearRow& row : box) selection.rows.push_back(&row);
    if (Result<std::optional<Values>> inside = solve(selection); inside && *inside) values = std::move(inside);
  }
  system_.truncate(mark);
  if (!values) return Answer::Kind::undecided;
  return *values ? Answer::Kind::found : Answer::Kind::empty;
}

/// Selects rows, beginning with the goal's variables: rows that mention a selected variable, their variables, and each
/// variable's own definition. An assumption with a product or quotient waits until that is selected, except in `full`
/// (a bound of a tensor's storage would connect everything). Near the goal an assumption with a minimum waits too,
/// because each minimum is two cases.
class Feasibility::Selector {
  /// A set of row numbers, iterated in ascending order.
  class RowSet {
   public:
    static constexpr std::size_t kRowsInAWord = 64;

    explicit RowSet(std::size_t rows = 0) : words_((rows + kRowsInAWord - 1) / kRowsInAWord) {}
    void insert(std::size_t i) { words_[i / kRowsInAWord] |= bit(i); }
    [[nodiscard]] bool contains(std::size_t i) const { return (words_[i / kRowsInAWord] & bit(i)) != 0; }
    void erase(std::size_t i) { words_[i / kRowsInAWord] &= ~bit(i); }
    /// Returns the first number from `i` on; a number beyond all if there is none.
    [[nodiscard]] std::size_t next(std::size_t i) const {
      std::size_t word = i / kRowsInAWord;
      if (word >= words_.size()) return words_.size() * kRowsInAWord;
      std::uint64_t bits = words_[word] & (~std::uint64_t{0} << i % kRowsInAWord);
      while (bits == 0 && ++word < words_.size()) bits = words_[word];
      return word * kRowsInAWord + static_cast<std::size_t>(std::countr_zero(bits)) % kRowsInAWord;
    }

   private:
    static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i % kRowsInAWord; }
    std::vector<std::uint64_t> words_;
  };

 public:
  Selector(LinearSystem& system, Scope scope) : system_(system), scope_(scope) {
    assumptions_ = system.assumptions().size();
    rows_.reserve(assumptions_ + system.rows().size());
    for (const auto* part : {&system.assumptions(), &system.rows()})
      for (const LinearRow& row : *part) rows_.push_back(&row);
    left_ = taken_ = RowSet(rows_.size());
    for (std::size_t i = waits_for_variables() ? assumptions_ : 0; i < rows_.size(); ++i) left_.insert(i);
    made_.index.assign(static_cast<std::size_t>(system.variable_count()), -1);
  }

  /// Takes the goal: the system's rows from `first_goal` on.
  void take_goal(std::size_t first_goal) {
    for (std::size_t i = assumptions_ + first_goal; i < rows_.size(); ++i) take(i);
    made_.goal_rows = made_.rows.size();
    goal_variables_ = made_.variables.size();
  }

  void reach(const LinearRow& row) {
    take_steps(1 + row.terms.size() / kComparedInAStep);
    for (const auto& term : row.terms) {
      if (is_selected(term.first)) continue;
      made_.index[static_cast<std::size_t>(term.first)] = static_cast<int>(made_.variables.size());
      made_.variables.push_back(term.first);
      for (const std::size_t i : system_.assumptions_of(term.first))
        if (!taken_.contains(i)) left_.insert(i);
    }
  }

  /// Takes connected rows and definitions until nothing is added; near the goal at most two rounds.
  void take_connected() {
    std::size_t next = 0;
    int rounds = 0;
    for (bool changed = true; changed;) {
      changed = next < made_.variables.size();
      for (; next < made_.variables.size(); ++next) take_definition(made_.variables[next]);
      changed |= take_due_rows();
      if (scope_ <= Scope::near_linked && ++rounds > 1) break;
    }
  }

  void take_far_bounds() {
    for (const LinearRow& row : system_.far_bounds())
      if (is_selected(row.terms.front().first)) made_.rows.push_back(&row);
  }

  /// Returns whether the operands of a selected expression are selected, too.
  [[nodiscard]] bool is_linked() const { return scope_ == Scope::near_linked || scope_ > Scope::connected; }
  [[nodiscard]] Selection selection() && { return std::move(made_); }

 private:
  [[nodiscard]] bool is_selected(int variable) const { return made_.index[static_cast<std::size_t>(variable)] >= 0; }

  /// Returns whether an assumption is looked at only after one of its variables is selected.
  [[nodiscard]] bool waits_for_variables() const { return scope_ != Scope::likely && scope_ != Scope::full; }

  void take(std::size_t i) {
    left_.erase(i);
    taken_.insert(i);
    made_.rows.push_back(rows_[i]);
    reach(*rows_[i]);
  }

  void take_definition(int variable) {
    for (const LinearRow& row : system_.definition(variable)) {
      made_.rows.push_back(&row);
      reach(row);
    }
    const Expr e = system_.variable(variable);
    if (!is_linked() || system_.is_linear(variable)) return;
    for (const Expr operand : e.operands())
      if (const auto row = system_.row_of(operand)) reach(*row);
  }

  /// Takes due rows in ascending order, including rows that become due on the way.
  bool take_due_rows() {
    bool changed = false;
    take_steps(rows_.size() / RowSet::kRowsInAWord);
    for (std::size_t i = left_.next(0); i < rows_.size(); i = left_.next(i + 1)) {
      if (is_due(i)) {
        take(i);
        changed = true;
      } else if (i < assumptions_) {
        left_.erase(i);  // until a variable of the row is selected, which may be the one that it waits for
      }
    }
    return changed;
  }

  [[nodiscard]] bool is_due(std::size_t i) const {
    const LinearRow& row = *rows_[i];
    const bool is_assumption = i < assumptions_;
    take_steps(kRowInSteps + row.terms.size() / 4);
    if (waits_for_variables() && !is_assumption &&
        std::ranges::none_of(row.terms, [&](const auto& term) { return is_selected(term.first); }))
      return false;
    if (scope_ == Scope::full || !is_assumption) return true;
    return std::ranges::none_of(row.terms, [&](const auto& term) { return is_waited_for(row, term.first); });
  }

  [[nodiscard]] bool is_waited_for(const LinearRow& row, int variable) const {
    return !is_selected(variable) && !system_.is_linear(variable) && (!system_.is_minmax(variable) || minima_wait(row));
  }

  /// Returns whether rows with minima wait: near the goal, unless the row has a variable of the goal.
  [[nodiscard]] bool minima_wait(const LinearRow& row) const {
    return scope_ <= Scope::near_linked && std::ranges::none_of(row.terms, [&](const auto& term) {
             const int index = made_.index[static_cast<std::size_t>(term.first)];
             return index >= 0 && static_cast<std::size_t>(index) < goal_variables_;
           });
  }

  LinearSystem& system_;
  Scope scope_;
  std::size_t assumptions_ = 0;
  std::vector<const LinearRow*> rows_;  // the assumptions, then the question's rows
  RowSet taken_;
  RowSet left_;  // rows that may be due: not taken, and not examined since one of their variables was selected
  Selection made_;
  std::size_t goal_variables_ = 0;
};

Feasibility::Selection Feasibility::select(const Region& region, std::size_t first_goal, Scope scope) {
  Selector selector(system_, scope);
  selector.take_goal(first_goal);
  if (selector.is_linked())
    for (const auto& any : region.alternatives)
      for (const Expr e : any)
        if (const auto row = system_.row_of(resolved(e))) selector.reach(*row);
  selector.take_connected();
  if (scope == Scope::full) selector.take_far_bounds();
  return std::move(selector).selection();
}

Result<std::optional<Feasibility::Values>> Feasibility::solve(const Selection& selection) {
  if (contradicts(selection)) return std::nullopt;
  if (calls_left_-- <= 0) return resource_exhausted("the calls of one question are used up");
  const auto work = static_cast<std::int64_t>(selection.rows.size() * selection.variables.size());
  work_left_ -= work;
  question_work_left_ -= work;
  if (work_left_ <= 0 || question_work_left_ <= 0 || steps_.is_used_up() || question_steps_.is_used_up())
    return resource_exhausted(kUsedUp);
  const auto find = [&](const std::vector<const LinearRow*>& selected) {
    std::vector<LinearRow> rows;
    rows.reserve(selected.size());
    for (const LinearRow* row : selected) {
      take_steps(1 + row->terms.size());
      for (auto& term : rows.emplace_back(*row).terms)
        term.first = selection.index[static_cast<std::size_t>(term.first)];
    }
    return solver_.find_point(static_cast<int>(selection.variables.size()), std::move(rows), limits_.pivots);
  };
  const auto point = find(selection.rows);
  if (!point) {
    const auto own = find(without_assumptions(system_, selection.rows));
    if (own && !*own) return std::nullopt;
    return std::unexpected(point.error());
  }
  if (!*point) return std::nullopt;
  Values values;
  for (std::size_t i = 0; i < selection.variables.size(); ++i) values[selection.variables[i]] = (**point)[i];
  return values;
}

/// Checks whether a row of the goal and another row are opposite and exclude each other. A single inequality excludes
/// most violations.
bool Feasibility::contradicts(const Selection& selection) {
  take_steps(selection.goal_rows * selection.rows.size() / kComparedInAStep);
  for (std::size_t i = 0; i < selection.goal_rows; ++i)
    for (const LinearRow* other : selection.rows)
      if (exclude_each_other(*selection.rows[i], *other)) return true;
  return false;
}

/// Searches depth first, in growing selections: rows near the goal, then rows connected with it, then their operands,
/// to see whether the point satisfies the expressions and not only the linear part. Then it selects the rest at once.
/// If a point is wanted, it first omits unconnected nonlinear rows, which small sizes satisfy anyway.
Answer Feasibility::search(const Region& region, std::size_t first_goal, Effort effort) {
  const auto goal = std::span(system_.rows()).subspan(first_goal);
  if (std::ranges::any_of(goal, [&](const LinearRow& row) { return system_.assumptions_exclude(row); }))
    return {.kind = Answer::Kind::empty, .point = {}, .reason = {}};
  if (question_steps_.is_used_up()) return {.kind = Answer::Kind::undecided, .point = {}, .reason = kUsedUp};
  Values values;
  std::size_t looked_at = 0;
  bool resolved = true;
  for (const Scope scope :
       {Scope::near, Scope::near_linked, Scope::connected, Scope::linked, Scope::likely, Scope::full}) {
    if (scope > Scope::linked && effort == Effort::connected) break;
    if (scope == Scope::likely && effort != Effort::point) continue;
    const Selection selection = select(region, first_goal, scope);
    const std::size_t size = selection.rows.size() + selection.variables.size();
    if (scope == Scope::near || size > looked_at) {
      Result<std::optional<Values>> solved = solve(selection);
      if (!solved) return {.kind = Answer::Kind::undecided, .point = {}, .reason = solved.error().message};
      if (!*solved) return {.kind = Answer::Kind::empty, .point = {}, .reason = {}};
      values = **std::move(solved);
    }
    looked_at = size;
    if (scope == Scope::near || scope == Scope::connected || (scope == Scope::full && effort != Effort::point))
      continue;
    const std::optional<std::vector<Branch>> branches = refine(region, values, selection.variables);
    if (!branches) {
      resolved = false;
      continue;
    }
    if (!branches->empty()) return search_branches(region, first_goal, effort, *branches);
    if (scope <= Scope::linked) continue;
    Answer answer = accept(region, *goal_, values);
    if (answer.kind == Answer::Kind::found || scope == Scope::full) return answer;
  }
  if (!resolved) return {.kind = Answer::Kind::undecided, .point = {}, .reason = "an expression that is not linear"};
  return {.kind = Answer::Kind::found, .point = {}, .reason = {}};
}

Answer Feasibility::search_branches(const Region& region, std::size_t first_goal, Effort effort,
                                    const std::vector<Branch>& branches) {
  Answer all{.kind = Answer::Kind::empty, .point = {}, .reason = {}};
  for (const Branch& branch : branches) {
    const std::size_t mark = system_.rows().size();
    for (const LinearRow& row : branch) system_.add(row);
    Answer one = search(region, first_goal, effort);
    system_.truncate(mark);
    if (one.kind == Answer::Kind::found) return one;
    if (one.kind == Answer::Kind::undecided) all = std::move(one);
  }
  return all;
}

/// Evaluates the region and the goal at the point, so that every reported point is real.
Answer Feasibility::accept(const Region& region, const std::vector<Expr>& goal, const Values& values) {
  Answer answer{.kind = Answer::Kind::found, .point = {}, .reason = {}};
  std::vector<std::int64_t> symbols(exprs_.symbol_count(), 0);
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (const ir::Symbol& symbol = exprs_.symbol(static_cast<std::uint32_t>(i)); symbol.range.lo > 0)
      symbols[i] = static_cast<std::int64_t>(symbol.range.lo);
  for (const auto& [variable, value] : values) {
    const Expr e = system_.variable(variable);
    if (!e.valid() || e.kind() != ExprKind::symbol) continue;
    if (!fits_int64(value)) return {.kind = Answer::Kind::undecided, .point = {}, .reason = "a point beyond 64 bits"};
    symbols[e.symbol()] = static_cast<std::int64_t>(value);
    answer.point[e.symbol()] = static_cast<std::int64_t>(value);
  }
  const auto holds = [&](Expr e, bool zero) {
    const Result<Int128> value = ir::evaluate(exprs_, e, symbols);
    return value && (zero ? *value == 0 : *value >= 0);
  };
  for (std::uint32_t i = 0; i < symbols.size(); ++i)
    if (!exprs_.symbol(i).range.contains(symbols[i]) && exprs_.symbol(i).kind != ir::SymbolKind::coordinate)
      return {.kind = Answer::Kind::undecided, .point = {}, .reason = "a size beyond its range"};
  bool all = std::ranges::all_of(goal, [&](Expr e) { return holds(e, false); });
  for (const Region* part : {static_cast<const Region*>(&assumed_), &region})
    all &= std::ranges::all_of(part->nonnegative, [&](Expr e) { return holds(e, false); }) &&
           std::ranges::all_of(part->zero, [&](Expr e) { return holds(e, true); });
  if (!all) return {.kind = Answer::Kind::undecided, .point = {}, .reason = "a point that evaluation does not confirm"};
  return answer;
}

}  // namespace padlock::solver
