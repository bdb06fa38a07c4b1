#include "compiler/emit/scalar/activation/table_exponential.h"

#include <array>
#include <cmath>
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/emit/scalar/activation/coefficients.h"

namespace padlock::compiler {

using llvm::Value;

namespace {

constexpr int kPowers = 32;  // a step of the table is a factor of 2^(1/32)
/// Adding this leaves the nearest number of steps, and f32's exponent bias in steps, in a sum's last places.
constexpr double kStepRounder = 0x1.8p23 + 127 * kPowers;
/// ln 2, less the f32 nearest to it.
constexpr double kLackOfLn2 = -0x1.05c610p-29;
/// A bound above the error of the sum of the two parts.
constexpr double kStepError = 0x1.8p-35;
/// Beyond this bound the power of two, or the result, is not a normal number.
constexpr double kLargest = 87;

struct Powers {
  std::array<float, kPowers> nearest, rest;
};
Powers powers() {
  Powers made{};
  for (std::size_t i = 0; i < kPowers; ++i) {
    const long double power = std::exp2(static_cast<long double>(i) / kPowers);
    made.nearest.at(i) = static_cast<float>(power);
    made.rest.at(i) = static_cast<float>(power - made.nearest.at(i));
  }
  return made;
}

}  // namespace

/// Looks up entries by the last five bits of an index.
Value* TableExponential::looked_up(llvm::ArrayRef<float> table, Value* index) {
  llvm::IRBuilder<>& builder = f_.builder();
  Value* first = llvm::ConstantDataVector::get(builder.getContext(), table.take_front(kLanes));
  Value* second = llvm::ConstantDataVector::get(builder.getContext(), table.drop_front(kLanes));
  const auto lanes = llvm::cast<llvm::FixedVectorType>(index->getType())->getNumElements();
  llvm::SmallVector<Value*> parts;
  for (unsigned from = 0; from < lanes; from += kLanes) {
    llvm::SmallVector<int> places(kLanes);
    std::iota(places.begin(), places.end(), static_cast<int>(from));
    Value* part = builder.CreateShuffleVector(index, places);
    parts.push_back(builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_ps_512, {}, {first, part, second}));
  }
  return llvm::concatenateVectors(builder, parts);
}

/// exp(x) = 2^k T (1 + r + p). T is a power of the table, corrected for what f32 lacks of it. r is the exact rest of x,
/// and p < 2^-12 has what ln 2 lacks. Only T and T r are so large that their sum needs two parts.
std::pair<Value*, Value*> TableExponential::emit(Value* x) {
  llvm::IRBuilder<>& builder = f_.builder();
  Value* shifted = f_.fma(x, activation::kLog2OfE * kPowers, kStepRounder);
  Value* steps = f_.add(shifted, -kStepRounder);
  Value* r = f_.fma(steps, -activation::kLn2 / kPowers, x);
  Value* lacking = f_.mul(steps, -kLackOfLn2 / kPowers);
  Value* p = f_.fma(f_.fma(r, 0x1.555556p-5, 0x1.555556p-3), r, f_.constant(0.5));
  p = f_.fma(f_.mul(r, r), p, f_.fma(lacking, r, lacking));
  const Powers table = powers();
  Value* index = f_.bits_of(shifted);
  Value* nearest = looked_up(table.nearest, index);
  Value* rest = looked_up(table.rest, index);
  Value* product = f_.mul(nearest, r);
  Value* of_product = f_.fma(nearest, r, builder.CreateFNeg(product));
  Value* high = f_.add(nearest, product);
  Value* of_sum = f_.sub(product, f_.sub(high, nearest));
  Value* low = f_.add(f_.fma(nearest, p, f_.fma(rest, r, rest)), f_.add(of_sum, of_product));
  Value* least = f_.add(high, f_.add(low, -kStepError));
  Value* most = f_.add(high, f_.add(low, kStepError));
  Value* power = f_.from_bits(builder.CreateShl(builder.CreateLShr(index, 5), 23));
  Value* is_far = builder.CreateFCmpUGE(f_.magnitude(x), f_.constant(kLargest));
  return {f_.mul(least, power), builder.CreateOr(builder.CreateFCmpUNE(least, most), is_far)};
}

}  // namespace padlock::compiler
