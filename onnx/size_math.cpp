#include "onnx/size_math.h"

#include <fmt/format.h>

#include <limits>

#include "onnx/limits.h"
#include "support/limits.h"

namespace padlock::onnx {
namespace {

constexpr Int128 kFar = Int128{1} << 40;  // the language's own bound for symbols without a constraint

}  // namespace

SizeMath::SizeMath(std::int64_t steps) : facts_(context_), steps_(steps) {}

Expr SizeMath::extent(const std::string& name) {
  return context_.declare({.name = name, .kind = ir::SymbolKind::extent, .range = {0, kFar}, .congruence = {}});
}

Expr SizeMath::dim(const std::string& name) {
  return context_.declare({.name = name, .kind = ir::SymbolKind::dim, .range = {-kFar, kFar}, .congruence = {}});
}

Expr SizeMath::checked(Expr e) {
  take_steps(1 + e.operands().size());
  // Half of the verifier's limit, because the text's own operators count there, too.
  if (e.depth() <= padlock::limits::kExprDepth / 2 && e.operands().size() <= padlock::limits::kOperands / 2 &&
      !is_beyond_limits())
    return e;
  is_beyond_limits_ = true;
  return context_.constant(0);
}

Expr SizeMath::add(Expr a, Expr b) { return checked(context_.add(a, b)); }
Expr SizeMath::sub(Expr a, Expr b) { return checked(context_.sub(a, b)); }
Expr SizeMath::mul(Expr a, Expr b) { return checked(context_.mul(a, b)); }
Expr SizeMath::min(Expr a, Expr b) { return checked(context_.min(a, b)); }
Expr SizeMath::max(Expr a, Expr b) { return checked(context_.max(a, b)); }
Expr SizeMath::floordiv(Expr a, Expr b) { return checked(context_.floordiv(a, b)); }
Expr SizeMath::ceildiv(Expr a, Expr b) { return checked(context_.ceildiv(a, b)); }
Expr SizeMath::mod(Expr a, Expr b) { return checked(context_.mod(a, b)); }

Expr SizeMath::is_negative(Expr a) { return min(max(neg(a), constant(0)), constant(1)); }

Expr SizeMath::truncated_div(Expr a, Expr b) {
  if (is_nonnegative(a)) return floordiv(a, b);
  if (is_nonnegative(neg(a))) return neg(floordiv(neg(a), b));
  const Expr zero = constant(0);
  return sub(floordiv(max(a, zero), b), floordiv(max(neg(a), zero), b));
}

Expr SizeMath::product(std::span<const Expr> factors) {
  Expr result = constant(1);
  for (const Expr factor : factors) result = mul(result, factor);
  return result;
}

bool SizeMath::require(Expr e, ir::Comparison comparison, std::int64_t number) {
  const ir::Constraint wanted{e, comparison, constant(number)};
  // A question's cost grows with the number of guards.
  take_steps(1 + 8 * guards_.size());
  if (guards_.size() >= padlock::limits::kConstraints / 2 || is_beyond_limits()) {
    is_beyond_limits_ = true;
    return true;
  }
  if (facts_.proves(wanted)) return true;
  if (facts_.refutes(wanted)) return false;
  facts_.add(wanted);
  guards_.push_back(wanted);
  return true;
}

std::string SizeMath::text(Expr e) {
  std::string text = to_string(context_, e, limits::kExpressionBytes);
  take_steps(text.size());
  if (!text.ends_with("...")) return text;
  is_beyond_limits_ = true;
  return "0";
}

std::string SizeMath::text(std::span<const Expr> list) {
  std::vector<std::string> texts;
  for (const Expr e : list) texts.push_back(text(e));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::optional<std::int64_t> literal(Expr e) {
  if (!e.is_constant()) return std::nullopt;
  const Int128 value = e.constant();
  using Limits = std::numeric_limits<std::int64_t>;
  if (value < Limits::min() || value > Limits::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace padlock::onnx
