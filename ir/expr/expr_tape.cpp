#include "ir/expr/expr_tape.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "ir/expr/expr_order.h"
#include "ir/expr/wide_sum.h"
#include "support/stack_array.h"

namespace padlock::ir {
namespace {

constexpr std::size_t kErrorTextLimit = 200;
constexpr std::size_t kFewNodes = 128;  // enough for ordinary programs

std::string text_of(const ExprContext& context, Expr e) { return to_string(context, e, kErrorTextLimit); }

Error not_narrow(const ExprContext& context, Expr root, Int128 value) {
  return invalid_argument(
             fmt::format("'{}' is {}, which does not fit 64 bits", text_of(context, root), padlock::to_string(value)))
      .error();
}

}  // namespace

template <class T>
struct ExprTape::Value {
  T number;  // uninitialized, so that an array of them costs nothing to make
  bool known;

  static Value of(Int128 v) {
    const bool fits = std::is_same_v<T, Int128> || fits_int64(v);
    return {static_cast<T>(v), fits};
  }
  static Value none() { return {0, false}; }
};

/// One evaluation: computes the value of a node from those of its operands. A node may have a value in 128 bits but
/// none in 64; if it has both, they are equal. A product with a zero factor is 0 even if another factor has no value,
/// so an error counts only if a root depends on it.
template <class T>
class ExprTape::Evaluation {
 public:
  Evaluation(std::span<const std::int64_t> values, const Value<T>* results) : values_(values), results_(results) {}

  Value<T> value_of(const Step& step, const Operand* operands) const {
    const Value<T> value = unchecked_value_of(step, operands);
    // -2^127, whose negative does not fit, counts as overflow. Otherwise x * (-y), which is -(x * y) in canonical form,
    // would have a value when x * y has none. The negative of -2^63 fits in 128 bits.
    if constexpr (std::is_same_v<T, Int128>)
      if (value.number == std::numeric_limits<Int128>::min()) return Value<T>::none();
    return value;
  }

 private:
  Value<T> unchecked_value_of(const Step& step, const Operand* operands) const {
    switch (step.kind) {
      case ExprKind::constant:
        return Value<T>::of(step.value);
      case ExprKind::symbol:
        return step.symbol < values_.size() ? Value<T>{values_[step.symbol], true} : Value<T>::none();
      case ExprKind::sum:
        return sum_of(step, operands);
      case ExprKind::product:
        return product_of(step, operands);
      case ExprKind::floordiv:
      case ExprKind::mod: {
        const Value<T>&a = at(operands[0]), &b = at(operands[1]);
        if (!a.known || !b.known || b.number <= 0) return Value<T>::none();
        return {step.kind == ExprKind::floordiv ? floor_div(a.number, b.number) : floor_mod(a.number, b.number), true};
      }
      case ExprKind::min:
      case ExprKind::max:
        return extremum_of(step, operands);
    }
    return Value<T>::none();
  }

  Value<T> sum_of(const Step& step, const Operand* operands) const {
    Value<T> sum = Value<T>::of(step.value);
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const Value<T>& term = at(operands[i]);
      if (!term.known) return Value<T>::none();
      const Value<T> coefficient = Value<T>::of(operands[i].coefficient);
      T scaled;
      sum.known &= coefficient.known && !__builtin_mul_overflow(coefficient.number, term.number, &scaled) &&
                   !__builtin_add_overflow(sum.number, scaled, &sum.number);
    }
    if constexpr (std::is_same_v<T, Int128>)
      if (!sum.known) return wide_sum_of(step, operands);
    return sum;
  }

  /// Evaluates a sum: only the sum itself must fit, not its partial sums.
  Value<T> wide_sum_of(const Step& step, const Operand* operands) const {
    WideSum wide(step.value);
    for (std::uint32_t i = 0; i < step.count; ++i) wide.add_product(operands[i].coefficient, at(operands[i]).number);
    const std::optional<Int128> sum = wide.value();
    return sum ? Value<T>::of(*sum) : Value<T>::none();
  }

  Value<T> product_of(const Step& step, const Operand* operands) const {
    Value<T> product{1, true};
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const Value<T>& factor = at(operands[i]);
      if (factor.known && factor.number == 0) return factor;
      product.known &= factor.known && !__builtin_mul_overflow(product.number, factor.number, &product.number);
    }
    return product;
  }

  Value<T> extremum_of(const Step& step, const Operand* operands) const {
    Value<T> best = at(operands[0]);
    for (std::uint32_t i = 1; i < step.count; ++i) {
      const Value<T>& other = at(operands[i]);
      best.known &= other.known;
      if (step.kind == ExprKind::min ? other.number < best.number : other.number > best.number)
        best.number = other.number;
    }
    return best;
  }

  const Value<T>& at(const Operand& operand) const { return results_[operand.slot]; }

  std::span<const std::int64_t> values_;
  const Value<T>* results_;  // values of earlier steps
};

ExprTape::ExprTape(const ExprContext& context, std::vector<Expr> roots) : context_(&context), roots_(std::move(roots)) {
  Order order(roots_);
  for (const Expr root : roots_) root_slots_.push_back(order.slot(root));
  for (const Expr e : order.nodes) {
    const auto operands = e.operands();
    const bool is_symbol = e.kind() == ExprKind::symbol, is_sum = e.kind() == ExprKind::sum;
    steps_.push_back({.kind = e.kind(),
                      .count = static_cast<std::uint32_t>(operands.size()),
                      .symbol = is_symbol ? e.symbol() : 0,
                      .value = is_sum || e.is_constant() ? e.constant() : 0});
    for (std::size_t i = 0; i < operands.size(); ++i)
      operands_.push_back({order.slot(operands[i]), is_sum ? e.coefficients()[i] : 1});
  }
  nodes_ = std::move(order.nodes);
}

template <class T>
void ExprTape::run(std::span<const std::int64_t> values, std::span<Value<T>> results) const {
  const Evaluation<T> evaluation(values, results.data());
  const Operand* operands = operands_.data();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    results[i] = evaluation.value_of(steps_[i], operands);
    operands += steps_[i].count;
  }
}

/// Evaluates in 64 bits. Returns whether all roots have a value; if not, `out` is meaningless.
template <class Out>
bool ExprTape::evaluate_narrow(std::span<const std::int64_t> values, std::span<Out> out) const {
  StackArray<Value<std::int64_t>, kFewNodes> results(steps_.size());
  run(values, results.span());
  bool known = true;
  for (std::size_t i = 0; i < root_slots_.size(); ++i) {
    const Value<std::int64_t>& value = results[root_slots_[i]];
    known &= value.known;
    out[i] = value.number;
  }
  return known;
}

Status ExprTape::evaluate(std::span<const std::int64_t> values, std::span<std::int64_t> out) const {
  if (evaluate_narrow(values, out)) return {};
  std::vector<std::optional<Int128>> wide(roots_.size());
  evaluate(values, wide);
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (!wide[i]) return std::unexpected(explain(i, values));
    if (!fits_int64(*wide[i])) return std::unexpected(not_narrow(*context_, roots_[i], *wide[i]));
    out[i] = static_cast<std::int64_t>(*wide[i]);
  }
  return {};
}

void ExprTape::evaluate(std::span<const std::int64_t> values, std::span<std::optional<Int128>> out) const {
  if (evaluate_narrow(values, out)) return;
  std::vector<Value<Int128>> results(steps_.size());
  run(values, std::span(results));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Value<Int128>& value = results[root_slots_[i]];
    out[i] = value.known ? std::optional(value.number) : std::nullopt;
  }
}

/// Descends to a node that has no value although all its operands have one, and names it.
Error ExprTape::explain(std::size_t root, std::span<const std::int64_t> values) const {
  std::vector<Value<Int128>> results(steps_.size());
  run(values, std::span(results));
  std::uint32_t at = root_slots_[root];
  const Operand* operands = nullptr;
  for (bool deeper = true; deeper;) {
    deeper = false;
    operands = operands_.data();
    for (std::uint32_t i = 0; i < at; ++i) operands += steps_[i].count;
    for (std::uint32_t i = 0; i < steps_[at].count && !deeper; ++i) {
      if (results[operands[i].slot].known) continue;
      at = operands[i].slot;
      deeper = true;
    }
  }
  const std::string text = text_of(*context_, nodes_[at]);
  std::string message;
  if (steps_[at].kind == ExprKind::symbol) {
    message = fmt::format("symbol '{}' has no value", text);
  } else if (steps_[at].kind == ExprKind::floordiv || steps_[at].kind == ExprKind::mod) {
    message = fmt::format("the divisor of '{}' is {}, and must be positive", text,
                          padlock::to_string(results[operands[1].slot].number));
  } else {
    message = fmt::format("'{}' overflows 128 bits", text);
  }
  if (at != root_slots_[root]) message += fmt::format(", in '{}'", text_of(*context_, roots_[root]));
  return Error{Code::invalid_argument, Blame::user, std::move(message), {}, {}};
}

Result<Int128> evaluate(const ExprContext& context, Expr e, std::span<const std::int64_t> values) {
  const ExprTape tape(context, {e});
  std::optional<Int128> value;
  tape.evaluate(values, {&value, 1});
  if (!value) return std::unexpected(tape.explain(0, values));
  return *value;
}

Result<std::int64_t> evaluate_int64(const ExprContext& context, Expr e, std::span<const std::int64_t> values) {
  PADLOCK_TRY(const Int128 value, ir::evaluate(context, e, values));
  if (!fits_int64(value)) return std::unexpected(not_narrow(context, e, value));
  return static_cast<std::int64_t>(value);
}

}  // namespace padlock::ir
