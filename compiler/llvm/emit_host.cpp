#include "compiler/llvm/emit_host.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/llvm/emit_row.h"
#include "compiler/narrowing.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

Value* save_environment(IRBuilder<>& builder) {
  Value* slot = builder.CreateAlloca(builder.getInt32Ty());
  Value* ours = builder.CreateAlloca(builder.getInt32Ty());
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {slot});
  builder.CreateStore(builder.getInt32(0x1F80), ours);
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {ours});
  return slot;
}

void restore_environment(IRBuilder<>& builder, Value* slot) {
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {slot});
}

namespace {

/// Emits the entry: walks rows [first, last) and keeps their outer coordinates.
class EntryEmitter {
 public:
  EntryEmitter(KernelContext& context, const std::vector<llvm::Function*>& bodies)
      : context_(context), bodies_(bodies), builder_(context.module.getContext()), i64_(builder_.getInt64Ty()) {}

  void emit() {
    llvm::Type* pointer = builder_.getPtrTy();
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, i64_, i64_, i64_, i64_}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, context_.abi.name, context_.module);
    set_attributes(*function_, context_.target);
    BasicBlock* entry = block("entry");
    BasicBlock* start = block("start");
    builder_.SetInsertPoint(entry);
    Value* saved = save_environment(builder_);
    LaunchFields fields(builder_, function_->getArg(0), context_);
    ExprEmitter exprs = context_.expressions(entry, fields.sizes);
    exprs_ = &exprs;
    RowEmitter rows(context_, builder_, exprs);
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    rows.load_buffers(fields);
    rows.set_columns(function_->getArg(3), function_->getArg(4));
    emit_rows(rows);
    // Non-temporal stores are ordered before the task ends.
    if (context_.schedule.store != StoreKind::plain) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    restore_environment(builder_, saved);
    builder_.CreateRetVoid();
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }
  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }

  /// The outer coordinates of the first row are divided out; later rows count up.
  void emit_rows(RowEmitter& emitter) {
    const std::vector<Value*> first = emitter.unflatten(function_->getArg(1));
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = block("rows");
    BasicBlock* body = block("row");
    BasicBlock* done = block("done");
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    llvm::PHINode* row = builder_.CreatePHI(i64_, 2, "row");
    row->addIncoming(function_->getArg(1), before);
    std::vector<llvm::PHINode*> coordinates;
    for (int axis = 0; axis < outer_axes(); ++axis) {
      coordinates.push_back(builder_.CreatePHI(i64_, 2));
      coordinates.back()->addIncoming(first[static_cast<std::size_t>(axis)], before);
      exprs_->set_coordinate(kernel().coordinate(axis), coordinates.back());
    }
    builder_.CreateCondBr(builder_.CreateICmpSLT(row, function_->getArg(2)), body, done);
    builder_.SetInsertPoint(body);
    emitter.emit_row([&](const ScheduledCase& which) {
      for (const SegmentCall& call : which.calls) emit_call(emitter, call);
    });
    advance(coordinates);
    row->addIncoming(builder_.CreateAdd(row, builder_.getInt64(1)), builder_.GetInsertBlock());
    builder_.CreateBr(header);
    builder_.SetInsertPoint(done);
  }

  void emit_call(RowEmitter& emitter, const SegmentCall& call) {
    const BodyArguments told = emitter.arguments_of(call);
    BasicBlock* work = block("segment");
    BasicBlock* after = block("after");
    builder_.CreateCondBr(builder_.CreateICmpSLT(told.begin(), told.end()), work, after);
    builder_.SetInsertPoint(work);
    std::vector<Value*> arguments = {function_->getArg(0)};
    arguments.insert(arguments.end(), told.values.begin(), told.values.end());
    llvm::Function* body = bodies_[static_cast<std::size_t>(call.body)];
    builder_.CreateCall(body, arguments)->setCallingConv(body->getCallingConv());
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  /// An odometer: the last outer axis counts, and carries.
  void advance(const std::vector<llvm::PHINode*>& coordinates) {
    Value* carry = builder_.getTrue();
    for (int i = outer_axes() - 1; i >= 0; --i) {
      llvm::PHINode* coordinate = coordinates[static_cast<std::size_t>(i)];
      Value* counted = builder_.CreateAdd(coordinate, builder_.CreateZExt(carry, i64_));
      Value* extent = exprs_->exact(builder_, kernel().extents[static_cast<std::size_t>(i)]);
      Value* wraps = builder_.CreateICmpEQ(counted, extent);
      coordinate->addIncoming(builder_.CreateSelect(wraps, builder_.getInt64(0), counted), builder_.GetInsertBlock());
      carry = context_.schedule.mutation == Mutation::row_carry_lost ? builder_.getFalse() : wraps;
    }
  }

  KernelContext& context_;
  const std::vector<llvm::Function*>& bodies_;
  IRBuilder<> builder_;
  llvm::Type* i64_;
  llvm::Function* function_ = nullptr;
  ExprEmitter* exprs_ = nullptr;
};

}  // namespace

std::vector<ir::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                            const TargetFeatures& target, bool bounds_check) {
  const Schedule& schedule = kernel.schedule();
  ir::KernelAbi abi = contract_of(schedule);
  SizeTable sizes;
  IndexWidths widths = kernel.index_widths(false);
  KernelContext context{module, kernel, schedule, target, bounds_check, abi, sizes, widths};
  std::vector<llvm::Function*> bodies;
  for (std::size_t i = 0; i < schedule.bodies.size(); ++i) bodies.push_back(emit_body(context, i));
  EntryEmitter(context, bodies).emit();
  std::vector<ir::KernelAbi> variants = {abi};
  if (!kernel.guards().empty()) {
    // Bodies without such a division serve both, and so do the sizes.
    ir::KernelAbi special = abi;
    special.name += ".index32";
    special.guards = kernel.guards();
    IndexWidths narrow = kernel.index_widths(true);
    KernelContext specialised{module, kernel, schedule, target, bounds_check, special, sizes, narrow};
    for (std::size_t i = 0; i < schedule.bodies.size(); ++i)
      if (!narrowed_in(schedule, schedule.bodies[i]).empty()) bodies[i] = emit_body(specialised, i);
    EntryEmitter(specialised, bodies).emit();
    variants.push_back(std::move(special));
  }
  const std::vector<ir::SizeArgument> all = std::move(sizes).take();
  for (ir::KernelAbi& variant : variants) variant.sizes = all;
  return variants;
}

}  // namespace padlock::compiler
