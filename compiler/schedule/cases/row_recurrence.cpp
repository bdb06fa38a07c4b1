#include "compiler/schedule/cases/row_recurrence.h"

#include "compiler/kernel/expr_analysis.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

using ir::Expr;
using ir::ExprKind;

constexpr Int128 kBeyondAnyExtent = Int128{1} << 47;

class GrowthFinder final : public ExprAnalysis<std::optional<RowRecurrence>> {
 public:
  GrowthFinder(ir::ExprContext& exprs, Expr coordinate) : exprs_(exprs), coordinate_(coordinate) {}

 private:
  [[nodiscard]] bool varies(Expr e) const override { return mentions(e, coordinate_); }
  std::optional<RowRecurrence> fixed(Expr) override { return RowRecurrence{constant(0)}; }
  std::optional<RowRecurrence> coordinate(Expr) override { return RowRecurrence{constant(1)}; }

  std::optional<RowRecurrence> sum(Expr e) override {
    RowRecurrence all{constant(0)};
    for (std::size_t i = 0; i < e.operands().size(); ++i) {
      const auto term = of(e.operands()[i]);
      if (!term) return std::nullopt;
      all = {exprs_.add(all.step, exprs_.mul(constant(e.coefficients()[i]), term->step)), fewer(all.rows, term->rows)};
    }
    return all;
  }

  /// Only one factor may move.
  std::optional<RowRecurrence> product(Expr e) override {
    Expr factor = constant(1);
    std::optional<RowRecurrence> moving;
    for (const Expr operand : e.operands()) {
      if (!mentions(operand, coordinate_)) {
        factor = exprs_.mul(factor, operand);
        continue;
      }
      if (moving) return std::nullopt;
      moving = of(operand);
      if (!moving) return std::nullopt;
    }
    moving->step = exprs_.mul(factor, moving->step);
    return moving;
  }

  std::optional<RowRecurrence> floordiv(Expr e) override { return of_division(e); }
  std::optional<RowRecurrence> mod(Expr e) override { return of_division(e); }
  /// Valid until the dividend, which grows evenly, reaches the next multiple of the divisor.
  std::optional<RowRecurrence> of_division(Expr e) {
    const Expr divisor = e.operands()[1];
    const auto dividend = of(e.operands()[0]);
    if (!dividend || !dividend->step.is_constant() || mentions(divisor, coordinate_)) return std::nullopt;
    const Expr step = e.kind() == ExprKind::mod ? dividend->step : constant(0);
    if (dividend->step.is_constant(0)) return RowRecurrence{step, dividend->rows};
    const Expr past = exprs_.mod(e.operands()[0], divisor);
    const bool grows = dividend->step.constant() > 0;
    const Expr left = grows ? exprs_.sub(exprs_.sub(divisor, constant(1)), past) : past;
    const Expr speed = constant(grows ? dividend->step.constant() : -dividend->step.constant());
    return RowRecurrence{step, fewer(dividend->rows, exprs_.add(exprs_.floordiv(left, speed), constant(1)))};
  }

  std::optional<RowRecurrence> minmax(Expr e) override {
    std::optional<RowRecurrence> chosen = of(e.operands()[0]);
    Expr value = e.operands()[0];
    for (std::size_t i = 1; i < e.operands().size() && chosen; ++i) {
      const Expr other = e.operands()[i];
      const auto recurrence = of(other);
      if (!recurrence) return std::nullopt;
      // Chooses the smaller of the two, or of their negations.
      const bool is_min = e.kind() == ExprKind::min;
      chosen = chosen_of(*chosen, *recurrence, is_min ? exprs_.sub(other, value) : exprs_.sub(value, other),
                         is_min ? 1 : -1);
      value = is_min ? exprs_.min(value, other) : exprs_.max(value, other);
    }
    return chosen;
  }

  /// Returns the recurrence of `a` if `lead` >= 0, else of `b`. `lead` is how far b is ahead; both count in direction
  /// `sign`.
  RowRecurrence chosen_of(const RowRecurrence& a, const RowRecurrence& b, Expr lead, int sign) {
    const Expr faster = exprs_.mul(constant(sign), exprs_.sub(a.step, b.step));
    Expr rows = fewer(a.rows, b.rows);
    rows = fewer(rows, until_caught(lead, faster.range().hi));
    rows = fewer(rows, until_caught(exprs_.neg(lead), -faster.range().lo));
    const Expr is_a = clamped(exprs_.add(lead, constant(1)));
    return {exprs_.add(b.step, exprs_.mul(is_a, exprs_.sub(a.step, b.step))), rows};
  }

  /// Returns for how many rows a lead stays >= 0 that shrinks by at most `speed` a row; all rows if it is negative.
  Expr until_caught(Expr lead, Int128 speed) {
    if (speed <= 0) return {};
    if (speed > kBeyondAnyExtent) return constant(1);
    const Expr rows = exprs_.add(exprs_.floordiv(lead, constant(speed)), constant(1));
    return exprs_.max(rows, exprs_.mul(constant(kBeyondAnyExtent), clamped(exprs_.neg(lead))));
  }

  /// Returns 1 for positive values, else 0.
  Expr clamped(Expr e) { return exprs_.min(exprs_.max(e, constant(0)), constant(1)); }
  Expr fewer(Expr a, Expr b) { return !a.valid() ? b : !b.valid() ? a : exprs_.min(a, b); }
  Expr constant(Int128 value) { return exprs_.constant(value); }

  ir::ExprContext& exprs_;
  Expr coordinate_;
};

}  // namespace

std::optional<RowRecurrence> recurrence_in(ir::ExprContext& exprs, Expr e, Expr coordinate) {
  return e.has_data() ? std::nullopt : GrowthFinder(exprs, coordinate).of(e);
}

}  // namespace padlock::compiler
