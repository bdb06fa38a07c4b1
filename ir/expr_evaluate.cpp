// Readers of an expression's DAG: evaluation, tapes, ranges, substitution. All visit a node once.

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/expr_node.h"
#include "ir/interval.h"
#include "ir/simplify.h"
#include "ir/wide_sum.h"

namespace padlock::ir {

namespace {

constexpr std::size_t kErrorTextLimit = 200;

/// Every node below the roots once, operands before their users (by id), and where each is.
struct Order {
  std::vector<Expr> nodes;
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of;  // by id

  explicit Order(std::span<const Expr> roots) {
    std::vector<Expr> pending;
    const auto visit = [&](Expr e) {
      if (slot_of.try_emplace(e.id(), 0).second) pending.push_back(e);
    };
    for (const Expr root : roots) visit(root);
    while (!pending.empty()) {
      const Expr e = pending.back();
      pending.pop_back();
      nodes.push_back(e);
      for (const Expr operand : e.operands()) visit(operand);
    }
    std::ranges::sort(nodes, {}, &Expr::id);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) slot_of[nodes[i].id()] = i;
  }
  [[nodiscard]] std::uint32_t slot(Expr e) const { return slot_of.at(e.id()); }
};

/// A value, or nothing: "overflowed, or divided by what is not positive". A product with a zero factor is 0 though
/// another factor is nothing, so errors wait until the root is known to depend on one.
using Value = std::optional<Int128>;

Value product_of(std::size_t count, auto&& operand) {
  Value product = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Value factor = operand(i);
    if (factor && *factor == 0) return 0;
    product = product && factor ? checked_mul(*product, *factor) : std::nullopt;
  }
  return product;
}

Value sum_of(Expr e, auto&& operand) {
  const auto coefficients = e.coefficients();
  Value sum = e.constant();
  for (std::size_t i = 0; i < coefficients.size() && sum; ++i) {
    const Value term = operand(i);
    if (!term) return std::nullopt;
    const Value scaled = checked_mul(coefficients[i], *term);
    sum = scaled ? checked_add(*sum, *scaled) : std::nullopt;
  }
  if (sum) return sum;
  WideSum wide(e.constant());  // only the sum itself must fit, not its partial sums
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const Value term = operand(i);
    if (!term) return std::nullopt;
    wide.add_product(coefficients[i], *term);
  }
  return wide.value();
}

Value unchecked_value_of(Expr e, std::span<const std::int64_t> values, auto&& operand) {
  const std::size_t count = e.operands().size();
  switch (e.kind()) {
    case ExprKind::constant:
      return e.constant();
    case ExprKind::symbol:
      return e.symbol() < values.size() ? Value(values[e.symbol()]) : std::nullopt;
    case ExprKind::sum:
      return sum_of(e, operand);
    case ExprKind::product:
      return product_of(count, operand);
    case ExprKind::floordiv:
    case ExprKind::mod: {
      const Value a = operand(0), b = operand(1);
      if (!a || !b || *b <= 0) return std::nullopt;
      return e.kind() == ExprKind::floordiv ? floor_div(*a, *b) : floor_mod(*a, *b);
    }
    case ExprKind::min:
    case ExprKind::max: {
      Value best = operand(0);
      for (std::size_t i = 1; i < count && best; ++i) {
        const Value other = operand(i);
        if (!other) return std::nullopt;
        best = e.kind() == ExprKind::min ? std::min(*best, *other) : std::max(*best, *other);
      }
      return best;
    }
  }
  return std::nullopt;
}

/// The value of a node from those of its operands. -2^127, which has no negative, counts as overflow: otherwise
/// x * (-y), which is -(x * y) in canonical form, would have a value where x * y has none.
Value value_of(Expr e, std::span<const std::int64_t> values, auto&& operand) {
  const Value value = unchecked_value_of(e, values, operand);
  return value == std::numeric_limits<Int128>::min() ? std::nullopt : value;
}

/// Says why `root` has no value: walks down to a node that has none though all its operands have.
Error explain(const ExprContext& context, Expr root, auto&& value) {
  Expr e = root;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const Expr operand : e.operands()) {
      if (value(operand)) continue;
      e = operand;
      deeper = true;
      break;
    }
  }
  const std::string text = to_string(context, e, kErrorTextLimit);
  std::string message;
  if (e.kind() == ExprKind::symbol) {
    message = fmt::format("symbol '{}' has no value", text);
  } else if (e.kind() == ExprKind::floordiv || e.kind() == ExprKind::mod) {
    message = fmt::format("the divisor of '{}' is {}, and must be positive", text,
                          padlock::to_string(*value(e.operands()[1])));
  } else {
    message = fmt::format("'{}' overflows 128 bits", text);
  }
  if (!(e == root)) message += fmt::format(", in '{}'", to_string(context, root, kErrorTextLimit));
  return Error{Code::invalid_argument, Blame::user, std::move(message), {}, {}};
}

Result<std::int64_t> narrowed(const ExprContext& context, Expr root, Int128 value) {
  if (fits_int64(value)) return static_cast<std::int64_t>(value);
  return invalid_argument(fmt::format("'{}' is {}, which does not fit 64 bits",
                                      to_string(context, root, kErrorTextLimit), padlock::to_string(value)));
}

}  // namespace

Result<Int128> evaluate(const ExprContext& context, Expr e, std::span<const std::int64_t> values) {
  const Order order({&e, 1});
  std::vector<Value> results;
  results.reserve(order.nodes.size());
  for (const Expr node : order.nodes) {
    const auto operands = node.operands();
    results.push_back(value_of(node, values, [&](std::size_t i) { return results[order.slot(operands[i])]; }));
  }
  if (results.back()) return *results.back();
  return std::unexpected(explain(context, e, [&](Expr node) { return results[order.slot(node)]; }));
}

Result<std::int64_t> evaluate_int64(const ExprContext& context, Expr e, std::span<const std::int64_t> values) {
  PADLOCK_TRY(const Int128 value, ir::evaluate(context, e, values));
  return narrowed(context, e, value);
}

ExprTape::ExprTape(const ExprContext& context, std::vector<Expr> roots) : context_(&context), roots_(std::move(roots)) {
  Order order(roots_);
  for (const Expr root : roots_) slots_.push_back(order.slot(root));
  for (const Expr e : order.nodes)
    for (const Expr operand : e.operands()) operand_slots_.push_back(order.slot(operand));
  order_ = std::move(order.nodes);
}

Status ExprTape::evaluate(std::span<const std::int64_t> values, std::span<std::int64_t> out) const {
  std::array<Value, 48> few;  // a launch's tape: no allocation
  std::vector<Value> many;
  if (order_.size() > few.size()) many.resize(order_.size());
  const std::span<Value> results = many.empty() ? std::span<Value>(few) : std::span<Value>(many);
  const std::uint32_t* slots = operand_slots_.data();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    results[i] = value_of(order_[i], values, [&](std::size_t k) { return results[slots[k]]; });
    slots += order_[i].operands().size();
  }
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Value& value = results[slots_[i]];
    if (!value) return std::unexpected(ir::evaluate(*context_, roots_[i], values).error());
    PADLOCK_TRY(out[i], narrowed(*context_, roots_[i], *value));
  }
  return {};
}

Range range_over(const ExprContext&, Expr e, std::span<const Range> ranges) {
  const Order order({&e, 1});
  std::vector<Range> results, operands;
  results.reserve(order.nodes.size());
  for (const Expr node : order.nodes) {
    if (node.kind() == ExprKind::symbol) {
      results.push_back(node.symbol() < ranges.size() ? ranges[node.symbol()] : node.range());
      continue;
    }
    operands.clear();
    for (const Expr operand : node.operands()) operands.push_back(results[order.slot(operand)]);
    results.push_back(range_of(node.node(), operands));
  }
  return results.back();
}

Expr ExprContext::substitute_impl(Expr e, Expr (*map)(void*, Expr), void* state) {
  const Order order({&e, 1});
  std::vector<Expr> results, operands;
  results.reserve(order.nodes.size());
  for (const Expr node : order.nodes) {
    operands.clear();
    for (const Expr operand : node.operands()) operands.push_back(results[order.slot(operand)]);
    results.push_back(rebuild(node, operands, map, state));
  }
  return results.back();
}

Expr ExprContext::rebuild(Expr node, std::span<const Expr> operands, Expr (*map)(void*, Expr), void* state) {
  if (node.kind() == ExprKind::symbol) {
    const Expr mapped = map(state, node);
    return mapped.valid() ? mapped : node;
  }
  if (std::ranges::equal(operands, node.operands())) return node;
  if (node.kind() == ExprKind::sum) {
    Expr result = constant(node.constant());
    for (std::size_t i = 0; i < operands.size(); ++i)
      result = Simplifier::add(*this, result, operands[i], node.coefficients()[i]);
    return result;
  }
  Expr result = operands[0];
  for (const Expr next : operands.subspan(1)) {
    switch (node.kind()) {
      case ExprKind::product:
        result = mul(result, next);
        break;
      case ExprKind::floordiv:
        result = floordiv(result, next);
        break;
      case ExprKind::mod:
        result = mod(result, next);
        break;
      case ExprKind::min:
        result = min(result, next);
        break;
      default:
        result = max(result, next);
        break;
    }
  }
  return result;
}

}  // namespace padlock::ir
