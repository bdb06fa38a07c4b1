#include "compiler/emit/gpu/emit_gpu.h"

#include <array>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "abi/comparison.h"
#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

using abi::ComparisonWord;

constexpr auto kWords = static_cast<std::size_t>(ComparisonWord::count);

/// Emits the code of one thread.
class ThreadEmitter {
 public:
  /// `parameters`: the address of the words, which are read where the builder stands.
  ThreadEmitter(IRBuilder<>& builder, Value* parameters, const TargetFeatures& target)
      : builder_(builder), space_(target.global_space) {
    for (std::size_t i = 0; i < kWords; ++i)
      words_[i] = builder.CreateLoad(builder.getInt64Ty(), builder.CreateConstGEP1_64(builder.getInt64Ty(), parameters,
                                                                                      static_cast<std::uint64_t>(i)));
    has_expected_ = builder.CreateICmpNE(word(ComparisonWord::expected), builder.getInt64(0));
  }

  /// Compares words of eight bytes where both addresses are multiples of eight; compares the rest by single bytes.
  void emit(Value* thread) {
    Value* either = builder_.CreateOr(word(ComparisonWord::actual), word(ComparisonWord::expected));
    Value* aligned = builder_.CreateICmpEQ(builder_.CreateAnd(either, 7), builder_.getInt64(0));
    Value* bytes = word(ComparisonWord::bytes);
    Value* units = builder_.CreateSelect(aligned, builder_.CreateLShr(bytes, 3), builder_.getInt64(0));
    emit_units(builder_.getInt64Ty(), thread, units);
    emit_units(builder_.getInt8Ty(), builder_.CreateAdd(builder_.CreateShl(units, 3), thread), bytes);
  }

 private:
  [[nodiscard]] Value* word(ComparisonWord which) const { return words_[static_cast<std::size_t>(which)]; }

  /// Compares units in [begin, end), with the launch's number of threads as step, until two differ. Notes which.
  void emit_units(llvm::Type* unit, Value* begin, Value* end) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* body = new_block(builder_, "unit");
    BasicBlock* next = new_block(builder_, "next");
    BasicBlock* differs = new_block(builder_, "differs");
    BasicBlock* done = new_block(builder_, "done");
    builder_.CreateCondBr(builder_.CreateICmpULT(begin, end), body, done);
    builder_.SetInsertPoint(body);
    llvm::PHINode* at = builder_.CreatePHI(builder_.getInt64Ty(), 2, "at");
    at->addIncoming(begin, before);
    Value* difference = builder_.CreateXor(load(unit, word(ComparisonWord::actual), at), expected(unit, at));
    builder_.CreateCondBr(builder_.CreateICmpEQ(difference, llvm::ConstantInt::get(unit, 0)), next, differs);
    builder_.SetInsertPoint(next);
    Value* following = builder_.CreateAdd(at, word(ComparisonWord::threads));
    at->addIncoming(following, next);
    builder_.CreateCondBr(builder_.CreateICmpULT(following, end), body, done);
    builder_.SetInsertPoint(differs);
    note(unit, at, difference);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  [[nodiscard]] Value* pointer(Value* address) {
    return builder_.CreateIntToPtr(address, llvm::PointerType::get(builder_.getContext(), space_));
  }

  [[nodiscard]] Value* load(llvm::Type* unit, Value* base, Value* at) {
    return builder_.CreateAlignedLoad(unit, builder_.CreateGEP(unit, pointer(base), at),
                                      llvm::Align(unit->getIntegerBitWidth() / 8));
  }

  /// Returns the expected value of a unit. Loads even if a pattern is expected; then it loads the compared memory,
  /// which is there anyway.
  [[nodiscard]] Value* expected(llvm::Type* unit, Value* at) {
    Value* base = builder_.CreateSelect(has_expected_, word(ComparisonWord::expected), word(ComparisonWord::actual));
    return builder_.CreateSelect(has_expected_, load(unit, base, at),
                                 builder_.CreateTrunc(word(ComparisonWord::pattern), unit));
  }

  /// Notes the number of the lowest byte that differs. (Memory is little-endian.)
  void note(llvm::Type* unit, Value* at, Value* difference) {
    const std::uint64_t shift = unit->isIntegerTy(64) ? 3 : 0;
    Value* wide = builder_.CreateZExt(difference, builder_.getInt64Ty());
    Value* bit = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, wide, builder_.getTrue());
    Value* byte = builder_.CreateAdd(builder_.CreateShl(at, shift), builder_.CreateLShr(bit, 3));
    builder_.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, pointer(word(ComparisonWord::found)),
                             builder_.CreateAdd(word(ComparisonWord::first), byte), llvm::Align(8),
                             llvm::AtomicOrdering::Monotonic);
  }

  IRBuilder<>& builder_;
  unsigned space_;
  std::array<Value*, kWords> words_{};
  Value* has_expected_;
};

/// Emits a kernel whose parameters are words by value.
void emit_kernel(llvm::Function& kernel, const TargetFeatures& target) {
  set_words(kernel, kWords);
  IRBuilder<> builder(BasicBlock::Create(kernel.getContext(), "entry", &kernel));
  const auto special = [&](llvm::Intrinsic::ID id) {
    return builder.CreateZExt(builder.CreateIntrinsic(id, {}), builder.getInt64Ty());
  };
  ThreadEmitter thread(builder, kernel.getArg(0), target);
  Value* of_blocks = builder.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                                       builder.getInt64(abi::kComparisonThreads));
  thread.emit(builder.CreateAdd(of_blocks, special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x)));
  builder.CreateRetVoid();
}

/// Emits a HostEntry, which loops over threads.
void emit_host_entry(llvm::Function& entry, const TargetFeatures& target) {
  IRBuilder<> builder(BasicBlock::Create(entry.getContext(), "entry", &entry));
  Value* sizes = builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getInt8Ty(), entry.getArg(0),
                                                                                   offsetof(abi::HostLaunch, sizes)));
  ThreadEmitter thread(builder, sizes, target);
  counted_loop(builder, entry.getArg(1), entry.getArg(2), 1, [&](Value* at) { thread.emit(at); });
  builder.CreateRetVoid();
}

}  // namespace

abi::KernelAbi emit_comparison(llvm::Module& module, const TargetFeatures& target) {
  abi::KernelAbi abi;
  abi.name = abi::kComparisonName;
  abi.threads = abi::kComparisonThreads;
  llvm::Function* function = make_entry(module, abi, target);
  if (target.takes_words)
    emit_kernel(*function, target);
  else
    emit_host_entry(*function, target);
  return abi;
}

}  // namespace padlock::compiler
