#include "compiler/emit/scalar/vector_shift.h"

#include <array>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace padlock::compiler {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A function (low, high, shift) of a shift, and its values, as LLVM folds them.
class ShiftFunction {
 public:
  ShiftFunction(unsigned bytes, int granularity) : module_("shift", context_), bytes_(bytes) {
    module_.setDataLayout("e");
    llvm::IRBuilder<> builder(context_);
    const VectorShift shift(builder, bytes, granularity);
    type_ = shift.type();
    auto* signature = llvm::FunctionType::get(type_, {type_, type_, builder.getInt32Ty()}, false);
    function_ = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, "shifted", module_);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    builder.CreateRet(shift.shifted(function_->getArg(0), function_->getArg(1), function_->getArg(2)));
  }

  [[nodiscard]] unsigned loaded_bytes() const { return type_->getPrimitiveSizeInBits().getFixedValue() / 8; }

  /// Shifts two adjacent vectors; empty if a byte of the result has no value.
  Bytes operator()(const Bytes& both, unsigned shift) {
    llvm::DenseMap<llvm::Value*, llvm::Constant*> known;
    known[function_->getArg(0)] = constant(both.data());
    known[function_->getArg(1)] = constant(both.data() + bytes_);
    known[function_->getArg(2)] = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), shift);
    const auto value_of = [&](llvm::Value* value) {
      auto* constant = llvm::dyn_cast<llvm::Constant>(value);
      return constant != nullptr ? constant : known.lookup(value);
    };
    for (llvm::Instruction& instruction : function_->getEntryBlock()) {
      std::vector<llvm::Constant*> operands;
      for (llvm::Value* operand : instruction.operand_values()) operands.push_back(value_of(operand));
      if (instruction.isTerminator()) return bytes_of(operands[0]);
      known[&instruction] = llvm::ConstantFoldInstOperands(&instruction, operands, module_.getDataLayout());
      REQUIRE(known[&instruction] != nullptr);
    }
    return {};
  }

 private:
  llvm::Constant* constant(const std::uint8_t* from) {
    std::array<std::uint32_t, 4> words = {};
    REQUIRE(bytes_ <= sizeof words);
    std::memcpy(words.data(), from, bytes_);
    if (!type_->isVectorTy()) return llvm::ConstantInt::get(type_, words[0]);
    return llvm::ConstantDataVector::get(context_, llvm::ArrayRef(words).take_front(bytes_ / 4));
  }

  Bytes bytes_of(llvm::Constant* value) {
    Bytes bytes;
    for (unsigned at = 0; at < bytes_; at += 4) {
      llvm::Constant* word = type_->isVectorTy() ? value->getAggregateElement(at / 4) : value;
      const auto* number = llvm::dyn_cast<llvm::ConstantInt>(word);
      if (number == nullptr) return {};
      for (unsigned i = 0; i < std::min(4U, bytes_); ++i)
        bytes.push_back(static_cast<std::uint8_t>(number->getZExtValue() >> (8 * i)));
    }
    return bytes;
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  unsigned bytes_;
  llvm::Type* type_ = nullptr;
  llvm::Function* function_ = nullptr;
};

}  // namespace

TEST_CASE("every vector between two is cut out of them") {
  int cut = 0;
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 16U})
    for (const unsigned granularity : {1U, 2U, 4U, 8U}) {
      if (granularity > bytes) continue;
      CAPTURE(bytes);
      CAPTURE(granularity);
      ShiftFunction shifted(bytes, static_cast<int>(granularity));
      CHECK(shifted.loaded_bytes() == bytes);
      // No byte is like another, and each bit is 0 in one of two.
      Bytes both(2 * std::size_t{bytes});
      for (const std::uint8_t flipped : {0x00, 0xff}) {
        for (std::size_t i = 0; i < both.size(); ++i) both[i] = static_cast<std::uint8_t>((0x95 + 0x1b * i) ^ flipped);
        for (unsigned shift = 0; shift < bytes; shift += granularity, ++cut) {
          CAPTURE(shift);
          Bytes expected(bytes);
          std::memcpy(expected.data(), both.data() + shift, bytes);
          CHECK(shifted(both, shift) == expected);
        }
      }
    }
  CHECK(cut == 2 * (1 + 3 + 7 + 15 + 30));
}

}  // namespace padlock::compiler
