#include "compiler/emit/scalar/emit_access.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

Value* AccessEmitter::address(const Access& access) {
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Type* element = builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(access.dtype)));
  Value* first = builder_.CreateGEP(element, access.pointer, builder_.CreateZExt(access.first, i64));
  if (access.displacement == 0) return first;
  return builder_.CreateGEP(element, first, llvm::ConstantInt::getSigned(i64, access.displacement));
}

Value* AccessEmitter::load(const Access& access, llvm::Type* type) {
  llvm::Type* made = access.in_word ? builder_.getInt32Ty() : type;
  const auto plain = [&]() -> Value* {
    if (access.fetches_line && access.mask == nullptr) return load_with_line(address(access), type);
    if (access.mask != nullptr)
      return builder_.CreateMaskedLoad(type, address(access), llvm::Align(access.align), access.mask,
                                       llvm::Constant::getNullValue(type));
    Value* loaded = builder_.CreateAlignedLoad(type, address(access), llvm::Align(access.align));
    return access.in_word ? builder_.CreateZExt(loaded, made) : loaded;
  };
  if (access.guard == nullptr && access.extent == nullptr) return plain();
  BasicBlock* skipped = builder_.GetInsertBlock();
  BasicBlock* merge = new_block(builder_, "loaded");
  if (access.guard != nullptr) {
    BasicBlock* guarded = new_block(builder_, "guarded");
    builder_.CreateCondBr(access.guard, guarded, merge);
    builder_.SetInsertPoint(guarded);
  }
  BasicBlock* failed = access.extent != nullptr ? check(access, merge) : nullptr;
  Value* loaded = plain();
  BasicBlock* from = builder_.GetInsertBlock();
  builder_.CreateBr(merge);
  builder_.SetInsertPoint(merge);
  llvm::PHINode* phi = builder_.CreatePHI(made, 3);
  phi->addIncoming(loaded, from);
  Value* otherwise = access.otherwise != nullptr ? access.otherwise : llvm::Constant::getNullValue(made);
  if (access.guard != nullptr) phi->addIncoming(otherwise, skipped);
  if (failed != nullptr) phi->addIncoming(otherwise, failed);
  return phi;
}

/// LLVM has no name for such loads. (PTX ISA, 9.7.9: `.level::prefetch_size`, a hint; the lines of an L2 cache have 128
/// bytes, in four sectors.) The call only reads memory. LLVM keeps it after earlier writes, such as the wait for the
/// work before, and before a barrier. Passes over machine code, which see no load in it, do not run
/// (CodeGenOptLevel::None).
Value* AccessEmitter::load_with_line(Value* address, llvm::Type* type) {
  const unsigned bits = type->getIntegerBitWidth();
  // A byte needs a register of 16 bits.
  llvm::Type* travelling = builder_.getIntNTy(std::max(16U, bits));
  auto* function = llvm::FunctionType::get(travelling, {builder_.getInt64Ty()}, false);
  const std::string constraints = fmt::format("={},l", bits <= 16 ? 'h' : bits == 32 ? 'r' : 'l');
  llvm::InlineAsm* code = llvm::InlineAsm::get(function, fmt::format("ld.global.L2::128B.b{} $0, [$1];", bits),
                                               constraints, /*hasSideEffects=*/false);
  llvm::CallInst* call = builder_.CreateCall(code, {builder_.CreatePtrToInt(address, builder_.getInt64Ty())});
  call->setOnlyReadsMemory();
  call->setDoesNotThrow();
  return builder_.CreateTrunc(call, type);
}

/// NVPTX drops the metadata of such stores, so they are spelled out: `st.global.cs.v4.b32 [p], {a, b, c, d};` and the
/// like, of at most 16 bytes. (PTX ISA, 9.7.9: evict-first, likely accessed once.)
void AccessEmitter::store_streaming(Value* address, Value* value) {
  const llvm::DataLayout& layout = builder_.GetInsertBlock()->getModule()->getDataLayout();
  const auto bytes = static_cast<unsigned>(layout.getTypeStoreSize(value->getType()).getFixedValue());
  const unsigned words = bytes / 4;
  llvm::SmallVector<Value*, 5> operands = {builder_.CreatePtrToInt(address, builder_.getInt64Ty())};
  if (words <= 1) {
    // A byte needs a register of 16 bits.
    Value* bits = builder_.CreateBitCast(value, builder_.getIntNTy(8 * bytes));
    operands.push_back(words == 1 ? bits : builder_.CreateZExt(bits, builder_.getInt16Ty()));
  } else {
    Value* vector = builder_.CreateBitCast(value, llvm::FixedVectorType::get(builder_.getInt32Ty(), words));
    for (unsigned i = 0; i < words; ++i) operands.push_back(builder_.CreateExtractElement(vector, std::uint64_t{i}));
  }
  llvm::SmallVector<llvm::Type*, 5> types;
  std::string constraints;
  std::string registers;
  for (unsigned i = 0; i < operands.size(); ++i) {
    types.push_back(operands[i]->getType());
    constraints += i == 0 ? "l" : words == 0 ? ",h" : ",r";
    if (i > 0) registers += fmt::format("{}${}", i > 1 ? ", " : "", i);
  }
  const std::string code = words > 1 ? fmt::format("st.global.cs.v{}.b32 [$0], {{{}}};", words, registers)
                                     : fmt::format("st.global.cs.b{} [$0], {};", 8 * bytes, registers);
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(type, code, constraints + ",~{memory}", /*hasSideEffects=*/true), operands);
}

void AccessEmitter::store(const Access& access, Value* value, StoreHint hint) {
  BasicBlock* merge = nullptr;
  if (access.extent != nullptr) {
    merge = new_block(builder_, "stored");
    check(access, merge);
  }
  Value* to = address(access);
  if (access.mask != nullptr) {
    builder_.CreateMaskedStore(value, to, llvm::Align(access.align), access.mask);
  } else if (hint == StoreHint::evict_first) {
    store_streaming(to, value);
  } else {
    const llvm::DataLayout& layout = builder_.GetInsertBlock()->getModule()->getDataLayout();
    const bool past_caches = hint == StoreHint::nontemporal;
    const llvm::Align align(past_caches ? layout.getTypeStoreSize(value->getType()).getFixedValue() : access.align);
    llvm::StoreInst* store = builder_.CreateAlignedStore(value, to, align);
    llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    if (past_caches)
      store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(builder_.getContext(), one));
  }
  if (merge == nullptr) return;
  builder_.CreateBr(merge);
  builder_.SetInsertPoint(merge);
}

Value* AccessEmitter::is_aligned(const Access& access) {
  const auto size = static_cast<std::uint64_t>(ir::byte_size(access.dtype));
  Value* number =
      builder_.CreateUDiv(builder_.CreatePtrToInt(address(access), builder_.getInt64Ty()), builder_.getInt64(size));
  Value* past = builder_.CreateAnd(number, builder_.getInt64(static_cast<std::uint64_t>(access.elements) - 1));
  return builder_.CreateICmpEQ(past, builder_.getInt64(0));
}

/// Reports an access that is not inside, and branches to `skip`. Returns the block that goes to `skip`. The builder
/// stands where the access may happen.
BasicBlock* AccessEmitter::check(const Access& access, BasicBlock* skip) {
  llvm::Type* type = access.first->getType();
  const auto element = [&](Value* accessed, std::int64_t which) {
    Value* moved = builder_.CreateAdd(access.first, llvm::ConstantInt::getSigned(type, access.displacement));
    moved = builder_.CreateAdd(moved, accessed != nullptr ? accessed : llvm::ConstantInt::getSigned(type, which));
    moved = builder_.CreateSExt(moved, builder_.getInt64Ty());
    if (access.origin == nullptr) return moved;
    return builder_.CreateAdd(moved, builder_.CreateSExt(access.origin, builder_.getInt64Ty()));
  };
  Value* first = element(access.first_accessed, 0);
  Value* last = element(access.last_accessed, access.elements - 1);
  Value* first_ok = builder_.CreateICmpULT(first, access.extent);
  Value* ok = builder_.CreateAnd(first_ok, builder_.CreateICmpULT(last, access.extent));
  if (access.proves_align) ok = builder_.CreateAnd(ok, is_aligned(access));
  BasicBlock* inside = new_block(builder_, "inside");
  BasicBlock* failed = new_block(builder_, "outside");
  builder_.CreateCondBr(ok, inside, failed);
  builder_.SetInsertPoint(failed);
  report(access, builder_.CreateSelect(first_ok, last, first));
  failed = builder_.GetInsertBlock();
  builder_.CreateBr(skip);
  builder_.SetInsertPoint(inside);
  return failed;
}

/// The first thread to claim the fault word fills it.
void AccessEmitter::report(const Access& access, Value* coordinate) {
  Value* exchanged = builder_.CreateAtomicCmpXchg(fault_, builder_.getInt64(0), builder_.getInt64(1), {},
                                                  llvm::AtomicOrdering::AcquireRelease, llvm::AtomicOrdering::Acquire);
  emit_if(builder_, builder_.CreateExtractValue(exchanged, 1), [&] {
    const std::array<Value*, 3> fields = {access.name, coordinate, access.extent};
    for (unsigned i = 0; i < fields.size(); ++i)
      builder_.CreateStore(fields[i], builder_.CreateConstGEP1_64(builder_.getInt64Ty(), fault_, i + 1));
  });
}

}  // namespace padlock::compiler
