#include "compiler/llvm/emit_host.h"

#include <algorithm>
#include <set>

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/llvm/kernel_function.h"
#include "compiler/narrowing.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

std::size_t KernelContext::buffer_of_input(ir::ValueId value) const {
  return static_cast<std::size_t>(std::ranges::find(abi.inputs, value) - abi.inputs.begin());
}
std::size_t KernelContext::index_of_scalar(ir::ValueId value) const {
  return static_cast<std::size_t>(std::ranges::find(abi.scalars, value) - abi.scalars.begin());
}

void set_attributes(llvm::Function& function, const TargetFeatures& target) {
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty()) function.addFnAttr("target-features", target.features);
  // LLVM would turn copy loops into calls of memcpy, and split 512-bit vectors on CPUs tuned for less.
  function.addFnAttr("no-builtins");
  function.addFnAttr("prefer-vector-width", "512");
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

LaunchFields::LaunchFields(IRBuilder<>& builder, Value* launch) {
  const auto field = [&](unsigned index, const char* name) -> Value* {
    return builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getPtrTy(), launch, index), name);
  };
  static_assert(offsetof(ir::HostLaunch, sizes) == 8 && offsetof(ir::HostLaunch, scalars) == 16 &&
                offsetof(ir::HostLaunch, fault) == 24);
  buffers = field(0, "buffers");
  sizes = field(1, "sizes");
  scalars = field(2, "scalars");
  fault = field(3, "fault");
}

Value* LaunchFields::buffer(IRBuilder<>& builder, std::size_t index) const {
  return builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getPtrTy(), buffers, index),
                            "buffer");
}

Value* emit_predicate(IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph, PredicateId predicate) {
  Value* all = builder.getTrue();
  for (const ConditionId id : graph.conditions_of(predicate)) {
    const Condition& condition = graph.condition(id);
    Value* value = exprs.exact(builder, condition.expr);
    Value* zero = builder.getInt64(0);
    Value* holds = condition.kind == Condition::Kind::zero ? builder.CreateICmpEQ(value, zero)
                                                           : builder.CreateICmpSGE(value, zero);
    all = builder.CreateAnd(all, holds);
  }
  return all;
}

namespace {

/// Emits the entry: walks rows [first, last), keeps the outer coordinates, and calls the bodies of each row's segments.
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
    Value* saved = save_environment();
    LaunchFields fields(builder_, function_->getArg(0));
    ExprEmitter exprs(context_.exprs(), context_.widths, context_.sizes, entry, fields.sizes);
    exprs_ = &exprs;
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    for (const ir::ValueId input : context_.abi.inputs)
      buffers_.push_back(fields.buffer(builder_, context_.buffer_of_input(input)));
    emit_runs();
    emit_rows();
    restore_environment(saved);
    builder_.CreateRetVoid();
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }
  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }

  /// Round to nearest even, no flush to zero, no denormals-are-zero, whatever the caller has set.
  Value* save_environment() {
    Value* slot = builder_.CreateAlloca(builder_.getInt32Ty());
    Value* ours = builder_.CreateAlloca(builder_.getInt32Ty());
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {slot});
    builder_.CreateStore(builder_.getInt32(0x1F80), ours);
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {ours});
    return slot;
  }

  /// Non-temporal stores are ordered before the task ends.
  void restore_environment(Value* slot) {
    if (context_.schedule.store != StoreKind::plain) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {slot});
  }

  /// The runs of this task, once for all rows.
  void emit_runs() {
    const RunVariables run(context_.exprs());
    exprs_->set_coordinate(run.column_first, function_->getArg(3));
    exprs_->set_coordinate(run.column_last, function_->getArg(4));
    for (const ScheduledCase& row : context_.schedule.cases)
      for (const SegmentCall& call : row.calls)
        for (const Expr bound : {call.run_begin, call.run_end})
          if (Value*& value = runs_[bound.id()]; value == nullptr) value = exprs_->exact(builder_, bound);
  }

  /// The outer coordinates of the first row, by division, once; later rows count up.
  std::vector<Value*> first_coordinates() {
    std::vector<Value*> coordinates(static_cast<std::size_t>(outer_axes()));
    Value* rest = function_->getArg(1);
    for (int i = outer_axes() - 1; i >= 0; --i) {
      Value* extent = exprs_->exact(builder_, kernel().extents[static_cast<std::size_t>(i)]);
      coordinates[static_cast<std::size_t>(i)] = i == 0 ? rest : builder_.CreateURem(rest, extent);
      if (i > 0) rest = builder_.CreateUDiv(rest, extent);
    }
    return coordinates;
  }

  void emit_rows() {
    const std::vector<Value*> first = first_coordinates();
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = block("rows");
    BasicBlock* body = block("row");
    BasicBlock* next = block("next");
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
    row_offset_ = emit_row_offset();
    emit_case(0, next);
    builder_.SetInsertPoint(next);
    advance(coordinates);
    row->addIncoming(builder_.CreateAdd(row, builder_.getInt64(1)), next);
    builder_.CreateBr(header);
    builder_.SetInsertPoint(done);
  }

  Value* emit_row_offset() {
    std::vector<Expr> coordinates;
    for (int axis = 0; axis < outer_axes(); ++axis) coordinates.push_back(kernel().coordinate(axis));
    coordinates.push_back(context_.exprs().constant(0));
    const ir::Layout output = ir::Layout::dense(context_.exprs(), kernel().extents);
    return exprs_->address(builder_, output.offset_of(context_.exprs(), coordinates));
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

  void emit_case(int index, BasicBlock* next) {
    const ScheduledCase& row = context_.schedule.cases[static_cast<std::size_t>(index)];
    if (!row.is_test()) {
      for (const SegmentCall& call : row.calls) emit_call(call);
      builder_.CreateBr(next);
      return;
    }
    BasicBlock* holds = block("holds");
    BasicBlock* fails = block("fails");
    builder_.CreateCondBr(emit_predicate(builder_, *exprs_, kernel().graph, row.test), holds, fails);
    builder_.SetInsertPoint(holds);
    emit_case(row.holds, next);
    builder_.SetInsertPoint(fails);
    emit_case(row.fails, next);
  }

  void emit_call(const SegmentCall& call) {
    Value* begin = runs_.at(call.run_begin.id());
    Value* end = runs_.at(call.run_end.id());
    BasicBlock* work = block("segment");
    BasicBlock* after = block("after");
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), work, after);
    builder_.SetInsertPoint(work);
    std::vector<Value*> arguments = {function_->getArg(0), begin, end, row_offset_};
    const bool checks = context_.checks_any_load(static_cast<std::size_t>(call.body));
    for (const Stream& stream : call.streams) {
      const std::size_t buffer = context_.buffer_of_input(stream.tensor);
      arguments.push_back(buffers_[buffer]);
      arguments.push_back(exprs_->address(builder_, stream.base));
      if (!checks) continue;
      arguments.push_back(builder_.getInt64(buffer));
      arguments.push_back(exprs_->exact(builder_, kernel().program->value(stream.tensor).layout.storage_extent()));
    }
    if (context_.schedule.bodies[static_cast<std::size_t>(call.body)].uses_rows)
      for (int axis = 0; axis < outer_axes(); ++axis)
        arguments.push_back(exprs_->exact(builder_, kernel().coordinate(axis)));
    llvm::CallInst* made = builder_.CreateCall(bodies_[static_cast<std::size_t>(call.body)], arguments);
    made->setCallingConv(llvm::CallingConv::Fast);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  KernelContext& context_;
  const std::vector<llvm::Function*>& bodies_;
  IRBuilder<> builder_;
  llvm::Type* i64_;
  llvm::Function* function_ = nullptr;
  ExprEmitter* exprs_ = nullptr;
  Value* row_offset_ = nullptr;
  std::vector<Value*> buffers_;
  std::map<std::uint32_t, Value*> runs_;  // where they begin and end, by Expr::id
};

/// The contract as far as it is known before code: sizes are collected while it is emitted.
ir::KernelAbi contract_of(const Schedule& schedule) {
  const Kernel& kernel = schedule.kernel;
  ir::ExprContext& exprs = kernel.program->exprs();
  ir::KernelAbi abi;
  abi.name = kernel.name;
  abi.results = kernel.results;
  std::set<ir::ValueId> inputs, scalars;
  for (const ScheduledCase& row : schedule.cases)
    for (const SegmentCall& call : row.calls)
      for (const Stream& stream : call.streams) inputs.insert(stream.tensor);
  for (const Body& body : schedule.bodies)
    for (const BodyNode& node : body.nodes)
      if (node.kind == NodeKind::scalar) scalars.insert(node.scalar);
  abi.inputs.assign(inputs.begin(), inputs.end());
  abi.scalars.assign(scalars.begin(), scalars.end());
  abi.columns = schedule.columns;
  abi.rows = schedule.rows;
  Int128 element_bytes = 0;
  for (const ir::ValueId result : kernel.results) element_bytes += ir::byte_size(kernel.program->value(result).dtype);
  abi.row_bytes = exprs.mul(abi.columns, exprs.constant(element_bytes));
  for (const ir::ValueId input : abi.inputs) abi.accesses.push_back("load of " + kernel.program->value(input).name);
  for (const ir::ValueId result : abi.results) abi.accesses.push_back("store of " + kernel.program->value(result).name);
  return abi;
}

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
      if (is_narrowed(schedule, schedule.bodies[i])) bodies[i] = emit_body(specialised, i);
    EntryEmitter(specialised, bodies).emit();
    variants.push_back(std::move(special));
  }
  const std::vector<ir::SizeArgument> all = std::move(sizes).take();
  for (ir::KernelAbi& variant : variants) variant.sizes = all;
  return variants;
}

}  // namespace padlock::compiler
