// Emitted division by sizes: LLVM folds the code with the constants that the launcher computes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "compiler/emit/scalar/emit_expr.h"
#include "support/int128.h"
#include "tests/common/environment.h"
#include "tests/common/rng.h"

namespace padlock::compiler {
namespace {

using Encoding = abi::SizeArgument::Encoding;
using ir::Expr;
using testing::Rng;

/// A function that divides a coordinate x by a size d, or lo - x, which has a sign.
class Dividing {
 public:
  Dividing(unsigned bits, bool has_sign, bool for_gpu)
      : bits_(bits), has_sign_(has_sign), module_("division", context_) {
    const Expr d = exprs_.declare({"d", ir::SymbolKind::extent, {1, std::int64_t{1} << 62}, {}});
    const Expr lo = exprs_.declare({"lo", ir::SymbolKind::dim, {0, std::int64_t{1} << 62}, {}});
    const Expr x = exprs_.coordinate(0);
    const Expr dividend = has_sign ? exprs_.sub(lo, x) : x;
    llvm::IRBuilder<> builder(context_);
    llvm::IntegerType* index = builder.getIntNTy(bits);
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), {index, builder.getPtrTy()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "divided", module_);
    entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
    body_ = llvm::BasicBlock::Create(context_, "body", function_);
    IndexWidths widths(exprs_, {{x.symbol(), {0, (Int128{1} << (bits - 1)) - 1}}});
    ExprEmitter emitter(exprs_, widths, table_, entry_, function_->getArg(1), index, index, for_gpu);
    emitter.set_coordinate(x, function_->getArg(0));
    builder.SetInsertPoint(body_);
    quotient_ = emitter.exact(builder, exprs_.floordiv(dividend, d));
    remainder_ = emitter.exact(builder, exprs_.mod(dividend, d));
    sizes_ = SizeTable(table_).take();
  }

  struct Divided {
    std::int64_t quotient, remainder;
    bool operator==(const Divided&) const = default;
  };
  Divided operator()(std::int64_t x, std::int64_t lo, std::int64_t d) {
    known_.clear();
    known_[function_->getArg(0)] = constant(x, bits_);
    const std::vector<std::int64_t> values = {d, lo, x};
    const auto evaluate = [&](Expr e) { return static_cast<std::int64_t>(*ir::evaluate(exprs_, e, values)); };
    for (llvm::Instruction& load : *entry_)
      if (llvm::isa<llvm::LoadInst>(load)) known_[&load] = constant(encode(slot_of(load), evaluate), bits_);
    for (llvm::Instruction& instruction : *body_) {
      std::vector<llvm::Constant*> operands;
      for (llvm::Value* operand : instruction.operand_values()) operands.push_back(value_of(operand));
      known_[&instruction] = llvm::ConstantFoldInstOperands(&instruction, operands, module_.getDataLayout());
      REQUIRE(known_[&instruction] != nullptr);
    }
    return {number(quotient_), number(remainder_)};
  }
  [[nodiscard]] bool has_sign() const { return has_sign_; }
  [[nodiscard]] bool has(unsigned opcode) const {
    return std::ranges::any_of(*body_, [&](const llvm::Instruction& one) { return one.getOpcode() == opcode; });
  }

 private:
  llvm::Constant* constant(std::int64_t value, unsigned bits) {
    return llvm::ConstantInt::get(context_, llvm::APInt(64, static_cast<std::uint64_t>(value)).trunc(bits));
  }
  llvm::Constant* value_of(llvm::Value* value) {
    auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    return constant != nullptr ? constant : known_.lookup(value);
  }
  std::int64_t number(llvm::Value* value) { return llvm::cast<llvm::ConstantInt>(value_of(value))->getSExtValue(); }
  /// Which of the sizes a load is of.
  [[nodiscard]] const abi::SizeArgument& slot_of(llvm::Instruction& load) const {
    llvm::APInt offset(64, 0);
    load.getOperand(0)->stripAndAccumulateConstantOffsets(module_.getDataLayout(), offset, true);
    return sizes_.at(offset.getZExtValue() / 8);
  }
  template <class Evaluate>
  static std::int64_t encode(const abi::SizeArgument& size, Evaluate&& evaluate) {
    const std::int64_t value = evaluate(size.value);
    const bool narrow = size.fit == Encoding::magic_multiplier32 || size.fit == Encoding::magic_shift32;
    if (size.fit == Encoding::saturate || size.fit == Encoding::wrap) return value;
    const abi::Divisor divisor = abi::Divisor::of(static_cast<std::uint64_t>(value), narrow ? 32 : 64);
    const bool is_shift = size.fit == Encoding::magic_shift || size.fit == Encoding::magic_shift32;
    return is_shift ? divisor.shift : static_cast<std::int64_t>(divisor.multiplier);
  }

  unsigned bits_;
  bool has_sign_;
  ir::ExprContext exprs_;
  SizeTable table_;
  std::vector<abi::SizeArgument> sizes_;
  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock *entry_ = nullptr, *body_ = nullptr;
  llvm::Value *quotient_ = nullptr, *remainder_ = nullptr;
  llvm::DenseMap<llvm::Value*, llvm::Constant*> known_;
};

void check(Dividing& divide, std::int64_t dividend, std::int64_t d) {
  const bool adds = divide.has_sign() && dividend > 0;
  const std::int64_t x = adds ? 0 : std::abs(dividend);
  const Dividing::Divided expected{floor_div(dividend, d), floor_mod(dividend, d)};
  if (divide(x, adds ? dividend : 0, d) != expected) FAIL(dividend << " div " << d);
}

}  // namespace

TEST_CASE("small numbers of either sign are divided by every small size") {
  for (const unsigned bits : {32U, 64U})
    for (const bool for_gpu : {false, true}) {
      Dividing any(bits, true, for_gpu);
      Dividing nonnegative(bits, false, for_gpu);
      for (std::int64_t d = 1; d <= 70; ++d) {
        for (std::int64_t n = -150; n <= 150; ++n) check(any, n, d);
        for (std::int64_t n = 0; n <= 150; ++n) check(nonnegative, n, d);
      }
      CHECK(any.has(llvm::Instruction::AShr));
      CHECK(nonnegative.has(llvm::Instruction::AShr) == for_gpu);
      for (const unsigned divides : {llvm::Instruction::SDiv, llvm::Instruction::SRem, llvm::Instruction::UDiv})
        CHECK_FALSE((any.has(divides) || nonnegative.has(divides)));
    }
}

TEST_CASE("large numbers of either sign are divided by any size, at multiples and beside them") {
  const std::uint64_t seed = testing::seed_or(1994);
  MESSAGE("seed ", seed);
  Rng random(seed);
  for (const unsigned bits : {32U, 64U}) {
    Dividing any(bits, true, false);
    Dividing nonnegative(bits, false, false);
    const int most_bits = static_cast<int>(bits) - 2;
    const std::int64_t most = std::int64_t{1} << most_bits;
    const auto draw = [&] { return random.between(1, std::int64_t{1} << random.between(0, most_bits)); };
    for (int i = 0; i < 3000; ++i) {
      const std::int64_t d = i % 10 == 0 ? most - i / 10 : draw();
      const std::int64_t multiple = draw() / d * d;
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, multiple, multiple + 1, multiple + d - 1, draw(),
                                   most - 1, most, 2 * (most - 1) + 1}) {
        check(nonnegative, n, d);
        check(any, -n, d);
        if (n <= most) check(any, n, d);
      }
    }
  }
}

}  // namespace padlock::compiler
