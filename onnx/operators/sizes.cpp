#include "onnx/operators/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/operators/fold.h"

namespace padlock::onnx {
namespace {

using ir::DType;
using Function = Result<Expr> (*)(SizeMath&, std::span<const Expr>);

/// Applies a function to each element of the inputs.
Status fold(NodeImport& node, DType dtype, Function function) {
  const auto read = [&](std::size_t i) { return node.size_array(i); };
  const auto apply = [&](std::span<const Expr> operands) { return function(node.sizes(), operands); };
  PADLOCK_TRY(SizeArray result, fold_elements<Expr>(node, read, apply));
  node.finish(std::move(result), dtype);
  return {};
}

/// As above, with the first input's type.
Status fold(NodeImport& node, Function function) {
  PADLOCK_TRY(const Value* const first, node.input(0));
  if (first->dtype == DType::boolean) return refused("arithmetic on truths");
  return fold(node, first->dtype, function);
}

template <Expr (SizeMath::*function)(Expr, Expr)>
Status fold_chain(NodeImport& node) {
  return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    Expr result = e[0];
    for (const Expr next : e.subspan(1)) result = (sizes.*function)(result, next);
    return result;
  });
}

/// Returns the sign of a divisor. Unless it is shown to be negative, a guard makes it positive. Error: refused if it
/// never is.
Result<int> sign_of(SizeMath& sizes, Expr divisor) {
  if (sizes.is_negative_always(divisor)) return -1;
  if (sizes.require(divisor, ir::Comparison::ge, 1)) return 1;
  return refused(fmt::format("the divisor {} is never positive, and may be 0", sizes.text(divisor)));
}

/// Returns 0 or 1 for a comparison that has the same answer for all sizes. `greater`: for a > b.
Result<Expr> decided(SizeMath& sizes, bool holds, bool fails) {
  if (holds || fails) return sizes.constant(holds ? 1 : 0);
  return refused("a comparison of sizes that depends on them");
}

Result<Expr> less(SizeMath& sizes, Expr a, Expr b) {
  return decided(sizes, sizes.is_positive(sizes.sub(b, a)), sizes.is_nonnegative(sizes.sub(a, b)));
}
Result<Expr> less_or_equal(SizeMath& sizes, Expr a, Expr b) {
  return decided(sizes, sizes.is_nonnegative(sizes.sub(b, a)), sizes.is_positive(sizes.sub(a, b)));
}

template <Result<Expr> (*compare)(SizeMath&, Expr, Expr), bool swaps = false>
Status fold_comparison(NodeImport& node) {
  return fold(node, DType::boolean, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    if (e.size() != 2) return refused("it has not two inputs");
    return swaps ? compare(sizes, e[1], e[0]) : compare(sizes, e[0], e[1]);
  });
}

}  // namespace

Status import_shape(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  const auto rank = static_cast<std::int64_t>(value->shape.size());
  const auto clamped = [rank](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? std::max<std::int64_t>(axis, -rank) + rank : axis, 0, rank);
  };
  const std::int64_t start = clamped(node.integer("start", 0));
  const std::int64_t end = std::max(clamped(node.integer("end", rank)), start);
  SizeArray shape{.dims = {end - start}, .elements = {}};
  shape.elements.assign(value->shape.begin() + start, value->shape.begin() + end);
  node.finish(std::move(shape), DType::i64);
  return {};
}

Status import_size(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  node.finish(SizeArray{.dims = {}, .elements = {node.sizes().product(value->shape)}}, DType::i64);
  return {};
}

Status fold_add(NodeImport& node) { return fold_chain<&SizeMath::add>(node); }
Status fold_sub(NodeImport& node) { return fold_chain<&SizeMath::sub>(node); }
Status fold_mul(NodeImport& node) { return fold_chain<&SizeMath::mul>(node); }
Status fold_min(NodeImport& node) { return fold_chain<&SizeMath::min>(node); }
Status fold_max(NodeImport& node) { return fold_chain<&SizeMath::max>(node); }

Status fold_div(NodeImport& node) {
  return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    if (e.size() != 2) return refused("it has not two inputs");
    PADLOCK_TRY(const int sign, sign_of(sizes, e[1]));
    if (sign > 0) return sizes.truncated_div(e[0], e[1]);
    return sizes.neg(sizes.truncated_div(e[0], sizes.neg(e[1])));
  });
}

Status fold_mod(NodeImport& node) {
  if (node.integer("fmod", 0) != 0) {
    return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
      if (e.size() != 2) return refused("it has not two inputs");
      PADLOCK_TRY(const int sign, sign_of(sizes, e[1]));
      const Expr divisor = sign > 0 ? e[1] : sizes.neg(e[1]);  // the remainder has the dividend's sign
      return sizes.sub(e[0], sizes.mul(sizes.truncated_div(e[0], divisor), divisor));
    });
  }
  return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    if (e.size() != 2) return refused("it has not two inputs");
    PADLOCK_TRY(const int sign, sign_of(sizes, e[1]));
    if (sign > 0) return sizes.mod(e[0], e[1]);
    return sizes.neg(sizes.mod(sizes.neg(e[0]), sizes.neg(e[1])));
  });
}

Status fold_neg(NodeImport& node) {
  return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> { return sizes.neg(e[0]); });
}
Status fold_abs(NodeImport& node) {
  return fold(node, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> { return sizes.abs(e[0]); });
}

Status fold_equal(NodeImport& node) {
  return fold(node, DType::boolean, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    if (e.size() != 2) return refused("it has not two inputs");
    const Expr difference = sizes.sub(e[0], e[1]);
    return decided(sizes, difference.is_constant(0),
                   sizes.is_positive(difference) || sizes.is_negative_always(difference));
  });
}
Status fold_less(NodeImport& node) { return fold_comparison<less>(node); }
Status fold_less_or_equal(NodeImport& node) { return fold_comparison<less_or_equal>(node); }
Status fold_greater(NodeImport& node) { return fold_comparison<less, true>(node); }
Status fold_greater_or_equal(NodeImport& node) { return fold_comparison<less_or_equal, true>(node); }

Status fold_not(NodeImport& node) {
  return fold(node, DType::boolean, [](SizeMath& sizes, std::span<const Expr> e) -> Result<Expr> {
    return sizes.sub(sizes.constant(1), e[0]);
  });
}

Status fold_where(NodeImport& node) {
  PADLOCK_TRY(const Value* const chosen, node.input(1));
  return fold(node, chosen->dtype, [](SizeMath&, std::span<const Expr> e) -> Result<Expr> {
    if (e.size() != 3 || !e[0].is_constant()) return refused("a choice of sizes that depends on them");
    return e[0].is_constant(0) ? e[2] : e[1];
  });
}

}  // namespace padlock::onnx
