#include "onnx/operators/fractions.h"

#include <utility>

#include "onnx/fraction.h"
#include "onnx/operators/fold.h"

namespace padlock::onnx {
namespace {

using ir::DType;
using UnaryFloat = Result<Fraction> (FractionMath::*)(const Fraction&) const;
using BinaryFloat = Result<Fraction> (FractionMath::*)(const Fraction&, const Fraction&) const;

template <class Function>
Status fold_each_float(NodeImport& node, const Function& function) {
  PADLOCK_TRY(const Value* const first, node.input(0));
  const auto read = [&](std::size_t i) { return node.fraction_array(i); };
  PADLOCK_TRY(FractionArray result, fold_elements<Fraction>(node, read, function));
  node.finish(std::move(result), first->dtype);
  return {};
}

template <BinaryFloat function>
Status fold_float_chain(NodeImport& node) {
  PADLOCK_TRY(const Value* const first, node.input(0));
  const FractionMath math(node.sizes(), first->dtype);
  return fold_each_float(node, [&](std::span<const Fraction> operands) -> Result<Fraction> {
    Fraction result = operands[0];
    for (const Fraction& next : operands.subspan(1)) {
      PADLOCK_TRY(result, (math.*function)(result, next));
    }
    return result;
  });
}

template <UnaryFloat function>
Status fold_one_float(NodeImport& node) {
  PADLOCK_TRY(const Value* const first, node.input(0));
  const FractionMath math(node.sizes(), first->dtype);
  return fold_each_float(node, [&](std::span<const Fraction> operands) { return (math.*function)(operands[0]); });
}

}  // namespace

Status fold_fraction_cast(NodeImport& node, DType to) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  const FractionMath math(node.sizes(), is_float(to) ? to : value->dtype);
  if (value->sizes) {
    PADLOCK_TRY(SizeArray sizes, node.size_array(0));
    FractionArray result{.dims = std::move(sizes.dims), .elements = {}};
    for (const Expr size : sizes.elements) {
      PADLOCK_TRY(result.elements.emplace_back(), math.from_size(size));
    }
    node.finish(std::move(result), to);
    return {};
  }
  PADLOCK_TRY(FractionArray floats, node.fraction_array(0));
  if (is_float(to)) {
    for (Fraction& one : floats.elements) {
      PADLOCK_TRY(one, math.convert(one));
    }
    node.finish(std::move(floats), to);
    return {};
  }
  SizeArray result{.dims = std::move(floats.dims), .elements = {}};
  for (const Fraction& one : floats.elements) {
    PADLOCK_TRY(result.elements.emplace_back(), math.truncate(one));
  }
  node.finish(std::move(result), to);
  return {};
}

Status fold_fraction_add(NodeImport& node) { return fold_float_chain<&FractionMath::add>(node); }
Status fold_fraction_sub(NodeImport& node) { return fold_float_chain<&FractionMath::sub>(node); }
Status fold_fraction_mul(NodeImport& node) { return fold_float_chain<&FractionMath::mul>(node); }
Status fold_fraction_div(NodeImport& node) { return fold_float_chain<&FractionMath::div>(node); }
Status fold_fraction_min(NodeImport& node) { return fold_float_chain<&FractionMath::min>(node); }
Status fold_fraction_max(NodeImport& node) { return fold_float_chain<&FractionMath::max>(node); }
Status fold_fraction_neg(NodeImport& node) { return fold_one_float<&FractionMath::neg>(node); }
Status fold_fraction_abs(NodeImport& node) { return fold_one_float<&FractionMath::abs>(node); }
Status fold_fraction_floor(NodeImport& node) { return fold_one_float<&FractionMath::floor>(node); }
Status fold_fraction_ceil(NodeImport& node) { return fold_one_float<&FractionMath::ceil>(node); }

}  // namespace padlock::onnx
