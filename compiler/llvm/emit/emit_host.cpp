#include "compiler/llvm/emit/emit_host.h"

#include <algorithm>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/llvm/emit/emit_row_dispatch.h"
#include "compiler/schedule/index32_variant.h"

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

/// Returns whether the caller's floating-point environment could change what a function computes. Code that only moves
/// values, or compares them as integers (relu), has no value of a float's type and need not set the environment, which
/// takes 30 cycles of a call.
bool has_float_arithmetic(const llvm::Function* function) {
  const auto is_float = [](const Value* value) { return value->getType()->isFPOrFPVectorTy(); };
  return std::ranges::any_of(llvm::instructions(*function), [&](const llvm::Instruction& instruction) {
    return is_float(&instruction) || std::ranges::any_of(instruction.operand_values(), is_float);
  });
}

/// Returns whether one call of the body may take the run of several rows together.
bool has_groups(const Schedule& schedule, const SegmentCall& call) {
  return !schedule.bodies[static_cast<std::size_t>(call.body)].uses_rows &&
         std::ranges::all_of(call.streams, [](const Stream& stream) { return stream.step.valid(); });
}

/// The calls of a row, those first that copy, from the middle: over the rows of a group they go through memory in
/// order, and what the edges write is in lines that are in the cache by then.
std::vector<const SegmentCall*> from_the_middle(const Schedule& schedule, const ScheduledCase& row) {
  const auto distance = [&](const SegmentCall* call) {
    const std::vector<BodyLoad>& loads = schedule.bodies[static_cast<std::size_t>(call->body)].loads;
    const bool copies = std::ranges::find(loads, LoadKind::contiguous, &BodyLoad::kind) != loads.end();
    const auto before = call - row.calls.data(), after = std::ssize(row.calls) - 1 - before;
    return std::pair(!copies, std::abs(before - after));
  };
  std::vector<const SegmentCall*> calls;
  for (const SegmentCall& call : row.calls) calls.push_back(&call);
  std::ranges::stable_sort(calls, {}, distance);
  return calls;
}

/// Emits the entry: goes over rows [first, last), in groups of one case, and keeps the outer coordinates of the first.
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
    const bool floats = std::ranges::any_of(bodies_, has_float_arithmetic);
    Value* saved = floats ? save_environment(builder_) : nullptr;
    LaunchFields fields(builder_, function_->getArg(0), context_);
    ExprEmitter exprs = context_.expressions(entry, fields.sizes);
    exprs_ = &exprs;
    RowEmitter rows(context_, builder_, exprs);
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    rows.load_buffers(fields);
    rows.set_columns(function_->getArg(3), function_->getArg(4));
    emit_rows(rows);
    if (std::ranges::any_of(context_.schedule.bodies, may_stream)) emit_fence();
    if (floats) restore_environment(builder_, saved);
    builder_.CreateRetVoid();
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }
  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }

  /// Non-temporal stores are ordered before the task ends.
  void emit_fence() {
    BasicBlock* streamed = block("streamed");
    BasicBlock* end = block("end");
    builder_.CreateCondBr(emit_streaming(context_, builder_, *exprs_), streamed, end);
    builder_.SetInsertPoint(streamed);
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    builder_.CreateBr(end);
    builder_.SetInsertPoint(end);
  }

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
    Value* max_rows = max_rows_of_group(row, coordinates);
    std::vector<std::pair<Value*, BasicBlock*>> taken;
    emitter.emit_row([&](const ScheduledCase& which) {
      Value* rows = kernel().rank() > 1 ? rows_of_group(emitter, which, max_rows) : max_rows;
      for (const SegmentCall* call : from_the_middle(context_.schedule, which)) emit_call(emitter, *call, rows);
      taken.emplace_back(rows, builder_.GetInsertBlock());
    });
    llvm::PHINode* rows = builder_.CreatePHI(i64_, static_cast<unsigned>(taken.size()), "rows");
    for (const auto& [number, from] : taken) rows->addIncoming(number, from);
    advance(coordinates, rows);
    row->addIncoming(builder_.CreateAdd(row, rows), builder_.GetInsertBlock());
    builder_.CreateBr(header);
    builder_.SetInsertPoint(done);
  }

  /// Emits the most rows that a group may have: those left of the task, before the last outer coordinate starts again,
  /// and of at most kGroupBytes (one row has any number).
  Value* max_rows_of_group(Value* row, const std::vector<llvm::PHINode*>& coordinates) {
    if (outer_axes() == 0) return builder_.getInt64(1);
    ir::ExprContext& exprs = context_.exprs();
    const Expr one = exprs.constant(1);
    const Expr bytes = exprs.max(context_.abi.row_bytes, one);
    const Expr group = exprs.max(exprs.floordiv(exprs.constant(kGroupBytes), bytes), one);
    Value* extent = exprs_->exact(builder_, kernel().extents[static_cast<std::size_t>(outer_axes() - 1)]);
    Value* max_rows = smaller(builder_.CreateSub(function_->getArg(2), row), exprs_->exact(builder_, group));
    return smaller(max_rows, builder_.CreateSub(extent, coordinates.back()));
  }
  /// Emits the rows of a group: one where elements are computed row by row, those that a pad repeats once more, where
  /// it is longer than what it repeats.
  Value* rows_of_group(RowEmitter& emitter, const ScheduledCase& which, Value* max_rows) {
    Value* rows = smaller(max_rows, emitter.rows_with_same_case(which));
    for (const SegmentCall& call : which.calls)
      if (!has_groups(context_.schedule, call))
        rows = builder_.CreateSelect(emitter.is_empty(call), rows, builder_.getInt64(1));
    return rows;
  }
  Value* smaller(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }

  void emit_call(RowEmitter& emitter, const SegmentCall& call, Value* rows) {
    BodyArguments run = emitter.arguments_of(call, rows);
    BasicBlock* work = block("segment");
    BasicBlock* after = block("after");
    builder_.CreateCondBr(builder_.CreateICmpSLT(run.begin, run.end), work, after);
    builder_.SetInsertPoint(work);
    std::vector<Value*> arguments = {function_->getArg(0)};
    for (Value* value : run.values()) arguments.push_back(value);
    llvm::Function* body = bodies_[static_cast<std::size_t>(call.body)];
    builder_.CreateCall(body, arguments)->setCallingConv(body->getCallingConv());
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  /// An odometer: the last outer axis counts, and carries.
  void advance(const std::vector<llvm::PHINode*>& coordinates, Value* rows) {
    Value* carry = rows;
    for (int i = outer_axes() - 1; i >= 0; --i) {
      llvm::PHINode* coordinate = coordinates[static_cast<std::size_t>(i)];
      Value* counted = builder_.CreateAdd(coordinate, carry);
      Value* extent = exprs_->exact(builder_, kernel().extents[static_cast<std::size_t>(i)]);
      Value* wraps = builder_.CreateICmpEQ(counted, extent);
      coordinate->addIncoming(builder_.CreateSelect(wraps, builder_.getInt64(0), counted), builder_.GetInsertBlock());
      carry = builder_.CreateZExt(wraps, i64_, "carry");
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

std::vector<abi::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                             const TargetFeatures& target, bool bounds_check) {
  const Schedule& schedule = kernel.schedule();
  abi::KernelAbi abi = contract_of(schedule);
  abi.preconditions = kernel.preconditions();
  SizeTable sizes;
  IndexWidths widths = kernel.index_widths(false);
  KernelContext context{module, kernel, schedule, target, bounds_check, abi, sizes, widths};
  std::vector<llvm::Function*> bodies;
  for (std::size_t i = 0; i < schedule.bodies.size(); ++i) bodies.push_back(emit_body(context, i));
  EntryEmitter(context, bodies).emit();
  std::vector<abi::KernelAbi> variants = {abi};
  if (!kernel.guards().empty()) {
    // Bodies without such a division serve both, and so do the sizes.
    abi::KernelAbi special = abi;
    special.name += ".index32";
    special.guards = kernel.guards();
    IndexWidths narrow = kernel.index_widths(true);
    KernelContext specialised{module, kernel, schedule, target, bounds_check, special, sizes, narrow};
    for (std::size_t i = 0; i < schedule.bodies.size(); ++i)
      if (!index32_divisions_in(schedule, schedule.bodies[i]).empty()) bodies[i] = emit_body(specialised, i);
    EntryEmitter(specialised, bodies).emit();
    variants.push_back(std::move(special));
  }
  const std::vector<abi::SizeArgument> all = std::move(sizes).take();
  for (abi::KernelAbi& variant : variants) variant.sizes = all;
  return variants;
}

}  // namespace padlock::compiler
