#include "compiler/emit/host/emit_host.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <llvm/IR/InstIterator.h>

#include "compiler/emit/host/row_chunks/chunk_plan.h"
#include "compiler/emit/host/row_chunks/emit_row_chunks.h"
#include "compiler/emit/host/runs/emit_runs.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/emit/scalar/host_instructions.h"

namespace padlock::compiler {
namespace {

/// Returns whether the caller's floating-point environment could change what a function computes. Code that only moves
/// values, or compares them as integers (relu), has no values of float types. It need not set the environment, which
/// saves 30 cycles of a call.
bool has_float_arithmetic(const llvm::Function* function) {
  const auto is_float = [](const Value* value) { return value->getType()->isFPOrFPVectorTy(); };
  return std::ranges::any_of(llvm::instructions(*function), [&](const llvm::Instruction& instruction) {
    return is_float(&instruction) || std::ranges::any_of(instruction.operand_values(), is_float);
  });
}

/// Returns whether one call of the body may take the runs of several rows together. Steps of loads that data says are
/// measured.
bool has_groups(const KernelContext& context, const SegmentCall& call) {
  const auto can_step = [&](const LoadSource& source) {
    const bool is_measured = source.base.has_data() && context.schedule.row_data_call() != nullptr;
    return source.step.valid() || (is_measured && row_values_of(context, static_cast<std::size_t>(call.body)).empty());
  };
  return !context.schedule.body_of(call).uses_rows && std::ranges::all_of(call.sources, can_step);
}

/// Returns whether rows that lie one after another, in the result and in what is loaded, are one long row for the body.
bool may_join_rows(const Schedule& schedule, const ScheduledCase& row) {
  if (row.calls.size() != 1) return false;
  const Body& body = schedule.body_of(row.calls.front());
  const auto moves = [](const BodyNode& node) {
    return node.kind == NodeKind::constant || node.kind == NodeKind::scalar || node.kind == NodeKind::load ||
           node.kind == NodeKind::operation;
  };
  return !body.uses_rows && !body.is_pointwise && std::ranges::all_of(body.nodes, moves) &&
         std::ranges::all_of(body.loads, [](const BodyLoad& load) { return load.kind == LoadKind::contiguous; });
}

/// Returns the calls of a row. Calls that copy come first, from the middle outwards: over the rows of a group they go
/// through memory in order. The edges then write lines that are in the cache by that time.
std::vector<const SegmentCall*> from_the_middle(const Schedule& schedule, const ScheduledCase& row) {
  const auto distance = [&](const SegmentCall* call) {
    const std::vector<BodyLoad>& loads = schedule.body_of(*call).loads;
    const bool copies = std::ranges::find(loads, LoadKind::contiguous, &BodyLoad::kind) != loads.end();
    const auto before = call - row.calls.data(), after = std::ssize(row.calls) - 1 - before;
    return std::pair(!copies, std::abs(before - after));
  };
  std::vector<const SegmentCall*> calls;
  for (const SegmentCall& call : row.calls) calls.push_back(&call);
  std::ranges::stable_sort(calls, {}, distance);
  return calls;
}

/// The functions that a kernel's entries call.
struct KernelParts {
  std::vector<llvm::Function*> bodies;
  RowChunkFunctions chunks;  // null if there is no plan

  [[nodiscard]] bool any_float() const {
    const auto computes = [](const llvm::Function* body) { return body != nullptr && has_float_arithmetic(body); };
    return std::ranges::any_of(bodies, computes) || computes(chunks.plain);
  }
};

/// Emits the entry. It goes over rows [first, last) in groups of one case, and keeps the outer coordinates of a group's
/// first row.
class EntryEmitter : private FunctionEmitter {
 public:
  EntryEmitter(KernelContext& context, const KernelParts& parts)
      : FunctionEmitter(context, make_entry(context.module, context.abi, context.target), parts.any_float()),
        parts_(parts) {}

  void emit() {
    RowEmitter rows(context_, builder_, exprs_);
    rows.load_buffers(scope_.fields);
    rows.remember_searches();
    rows.set_columns(scope_.argument(3), scope_.argument(4));
    if (parts_.chunks.plain != nullptr) has_plan_ = emit_has_plan();
    emit_rows(rows);
    if (parts_.chunks.streamed != nullptr || std::ranges::any_of(context_.schedule.bodies, has_nontemporal_stores))
      emit_fence();
    scope_.end();
  }

 private:
  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }

  /// Orders non-temporal stores before the end of the task.
  void emit_fence() {
    emit_if(builder_, emit_is_nontemporal(context_, builder_, exprs_),
            [&] { emit_store_fence(builder_, context_.target.architecture); });
  }

  /// Divides out the outer coordinates of the first row; later rows count up.
  void emit_rows(RowEmitter& emitter) {
    const std::vector<Value*> first = emitter.unflatten(scope_.argument(1));
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = block("rows");
    BasicBlock* body = block("row");
    BasicBlock* done = block("done");
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    llvm::PHINode* row = builder_.CreatePHI(i64_, 2, "row");
    row->addIncoming(scope_.argument(1), before);
    std::vector<llvm::PHINode*> coordinates;
    for (int axis = 0; axis < outer_axes(); ++axis) {
      coordinates.push_back(builder_.CreatePHI(i64_, 2));
      coordinates.back()->addIncoming(first[static_cast<std::size_t>(axis)], before);
      exprs_.set_coordinate(kernel().coordinate(axis), coordinates.back());
    }
    builder_.CreateCondBr(builder_.CreateICmpSLT(row, scope_.argument(2)), body, done);
    builder_.SetInsertPoint(body);
    if (has_plan_ != nullptr) emit_units(emitter, row, coordinates, header);
    Value* left = rows_left(row, coordinates);
    Value* max_rows = max_rows_of_group(left);
    emitter.set_row_data();
    Value* rows = emitter.emit_row([&](const ScheduledCase& row_case) -> std::vector<Value*> {
      Value* group = max_rows;
      if (kernel().rank() > 1)
        group = rows_of_group(emitter, row_case, smaller(max_rows, emitter.rows_with_same_case(row_case)));
      const bool joins = emitter.follows_data(row_case) && may_join_rows(context_.schedule, row_case);
      for (const SegmentCall* call : from_the_middle(context_.schedule, row_case))
        emit_call(emitter, *call, group, joins);
      return {group};
    })[0];
    advance(coordinates, rows);
    row->addIncoming(builder_.CreateAdd(row, rows), builder_.GetInsertBlock());
    builder_.CreateBr(header);
    builder_.SetInsertPoint(done);
  }

  /// Emits how many of the task's rows are left before the row axis' coordinate starts again.
  Value* rows_left(Value* row, const std::vector<llvm::PHINode*>& coordinates) {
    if (outer_axes() == 0) return builder_.getInt64(1);
    const int axis = context_.schedule.row_axis;
    Value* extent = exprs_.exact(builder_, kernel().extent(axis));
    return smaller(builder_.CreateSub(scope_.argument(2), row),
                   builder_.CreateSub(extent, coordinates[static_cast<std::size_t>(axis)]));
  }
  /// Emits the most rows for a group of the rows left: at most kGroupBytes (one row may have more), and whole lines of
  /// turned results.
  Value* max_rows_of_group(Value* left) {
    if (outer_axes() == 0) return left;
    ir::ExprContext& exprs = context_.exprs();
    const Expr one = exprs.constant(1);
    const Expr bytes = exprs.max(context_.abi.row_bytes, one);
    Expr unit = one;
    for (const Body& body : context_.schedule.bodies)
      for (const Turn& turn : body.turns) unit = exprs.max(unit, exprs.constant(turn.line));
    const Expr units = exprs.floordiv(exprs.constant(kGroupBytes), exprs.mul(bytes, unit));
    const Expr group = exprs.mul(exprs.max(units, one), unit);
    return smaller(left, exprs_.exact(builder_, group));
  }
  /// Emits the number of rows in a group. It is one where elements are computed row by row, as where a pad longer than
  /// its data repeats them once more.
  Value* rows_of_group(RowEmitter& emitter, const ScheduledCase& row_case, Value* max_rows) {
    Value* rows = max_rows;
    for (const SegmentCall& call : row_case.calls)
      if (!has_groups(context_, call)) rows = builder_.CreateSelect(emitter.is_empty(call), rows, builder_.getInt64(1));
    return emitter.follows_data(row_case) ? emitter.rows_by_data(row_case, rows) : rows;
  }

  // --- rows by a plan -----------------------------------------------------------------------------------------------

  /// Emits whether the launch has a plan, and the task has whole rows.
  Value* emit_has_plan() {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* given = block("plan");
    BasicBlock* after = block("no_plan");
    Value* columns = exprs_.exact(builder_, context_.schedule.columns);
    Value* is_whole = builder_.CreateICmpEQ(builder_.CreateSub(scope_.argument(4), scope_.argument(3)), columns);
    builder_.CreateCondBr(builder_.CreateAnd(is_whole, builder_.CreateIsNotNull(scope_.fields.plan)), given, after);
    builder_.SetInsertPoint(given);
    static_assert(RowChunkPlan::vectors() == 0);
    Value* is_made = builder_.CreateIsNotNull(builder_.CreateLoad(i64_, scope_.fields.plan));
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    return join(builder_, {{before, {builder_.getFalse()}}, {given, {is_made}}})[0];
  }

  /// At the beginning of a unit, emits that the plan takes this unit and as many later ones as it may. The task then
  /// goes on at `header` with the rows after them. The builder stands where the plan takes none.
  void emit_units(RowEmitter& emitter, llvm::PHINode* row, const std::vector<llvm::PHINode*>& coordinates,
                  BasicBlock* header) {
    const RowChunks& chunks = *context_.schedule.row_chunks();
    Value* begins = has_plan_;
    for (const int axis : chunks.row_axes(kernel()))
      begins = builder_.CreateAnd(begins, builder_.CreateIsNull(coordinates[static_cast<std::size_t>(axis)]));
    begins = builder_.CreateAnd(begins, emit_predicate(builder_, exprs_, kernel().graph, chunks.holds));
    BasicBlock* units = block("units");
    BasicBlock* some = block("some_units");
    BasicBlock* others = block("other_rows");
    builder_.CreateCondBr(begins, units, others);
    builder_.SetInsertPoint(units);
    Value* columns = exprs_.exact(builder_, context_.schedule.columns);
    std::vector<Value*> arguments = {scope_.argument(0), builder_.CreateMul(row, columns),
                                     exprs_.exact(builder_, chunks.alike),
                                     builder_.CreateMul(builder_.CreateSub(scope_.argument(2), row), columns)};
    for (Value* base : emitter.bases_of(chunks.sources)) arguments.push_back(base);
    Value* taken = emit_taker(arguments);
    builder_.CreateCondBr(builder_.CreateICmpSGT(taken, index(0)), some, others);
    builder_.SetInsertPoint(some);
    Value* next = builder_.CreateAdd(row, taken);
    const std::vector<Value*> there = emitter.unflatten(next);
    row->addIncoming(next, builder_.GetInsertBlock());
    for (std::size_t i = 0; i < there.size(); ++i) coordinates[i]->addIncoming(there[i], builder_.GetInsertBlock());
    builder_.CreateBr(header);
    builder_.SetInsertPoint(others);
  }

  /// Emits the call of the function that takes rows as the plan says.
  Value* emit_taker(const std::vector<Value*>& arguments) {
    const auto call = [&](llvm::Function* function) {
      llvm::CallInst* taken = builder_.CreateCall(function, arguments);
      taken->setCallingConv(function->getCallingConv());
      return taken;
    };
    if (parts_.chunks.streamed == nullptr) return call(parts_.chunks.plain);
    BasicBlock* streamed = block("streamed_units");
    BasicBlock* plain = block("plain_units");
    BasicBlock* taken = block("taken");
    Value* word = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scope_.fields.plan, RowChunkPlan::streams());
    builder_.CreateCondBr(builder_.CreateIsNotNull(builder_.CreateLoad(i64_, word)), streamed, plain);
    Ways ways;
    for (const auto& [way, function] : {std::pair(streamed, parts_.chunks.streamed), {plain, parts_.chunks.plain}}) {
      builder_.SetInsertPoint(way);
      ways.push_back({way, {call(function)}});
      builder_.CreateBr(taken);
    }
    builder_.SetInsertPoint(taken);
    return join(builder_, ways)[0];
  }

  void emit_call(RowEmitter& emitter, const SegmentCall& call, Value* rows, bool joins) {
    BodyArguments run = emitter.arguments_of(call, rows);
    if (joins && run.takes_rows) join_rows(run);
    emit_if(builder_, builder_.CreateICmpSLT(run.begin, run.end), [&] {
      std::vector<Value*> arguments = {scope_.argument(0)};
      for (Value* value : run.values()) arguments.push_back(value);
      llvm::Function* body = parts_.bodies[static_cast<std::size_t>(call.body)];
      builder_.CreateCall(body, arguments)->setCallingConv(body->getCallingConv());
    });
  }

  /// Emits one run in the place of rows that are whole and adjacent, in the result and in each tensor.
  void join_rows(BodyArguments& run) {
    Value* columns = exprs_.exact(builder_, context_.schedule.columns);
    Value* step = exprs_.exact(builder_, context_.schedule.row_step());
    Value* joined = builder_.CreateAnd(builder_.CreateIsNull(run.begin), builder_.CreateICmpEQ(run.end, columns));
    joined = builder_.CreateAnd(joined, builder_.CreateICmpEQ(step, columns));
    for (const BodyArguments::Load& load : run.loads)
      joined = builder_.CreateAnd(joined, builder_.CreateICmpEQ(load.step, columns));
    run.end = builder_.CreateSelect(joined, builder_.CreateMul(columns, run.rows), run.end);
    run.rows = builder_.CreateSelect(joined, builder_.getInt64(1), run.rows);
  }

  /// Advances the coordinates like an odometer: the row axis counts, and carries.
  void advance(const std::vector<llvm::PHINode*>& coordinates, Value* rows) {
    Value* carry = rows;
    for (const int axis : context_.schedule.row_order() | std::views::reverse) {
      llvm::PHINode* coordinate = coordinates[static_cast<std::size_t>(axis)];
      Value* counted = builder_.CreateAdd(coordinate, carry);
      Value* extent = exprs_.exact(builder_, kernel().extent(axis));
      Value* wraps = builder_.CreateICmpEQ(counted, extent);
      coordinate->addIncoming(builder_.CreateSelect(wraps, builder_.getInt64(0), counted), builder_.GetInsertBlock());
      carry = builder_.CreateZExt(wraps, i64_, "carry");
    }
  }

  const KernelParts& parts_;
  Value* has_plan_ = nullptr;  // null for a kernel without a plan
};

/// Emits the bodies of a schedule, the planner, and the function that takes rows by the plan.
KernelParts emit_parts(KernelContext& context) {
  KernelParts parts;
  for (std::size_t i = 0; i < context.schedule.bodies.size(); ++i)
    parts.bodies.push_back(context.schedule.is_row_data(i) ? nullptr : emit_runs(context, i));
  if (context.bounds_check || !context.proven.takes_row_chunks()) return parts;
  const RowChunks& chunks = *context.schedule.row_chunks();
  const RowChunkPlan plan(context.schedule.kernel, chunks, context.target);
  context.abi.shared_bytes = plan.bytes;
  emit_chunk_plan(context, chunks, plan);
  parts.chunks = emit_row_chunks(context, chunks, plan);
  return parts;
}

}  // namespace

std::vector<abi::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                             const TargetFeatures& target, bool bounds_check) {
  const Schedule& schedule = kernel.schedule();
  abi::KernelAbi abi = contract_of(schedule);
  abi.preconditions = kernel.preconditions();
  SizeTable sizes;
  IndexWidths widths(schedule.kernel);
  KernelContext context{{}, module, kernel, schedule, target, bounds_check, abi, sizes, widths};
  KernelParts parts = emit_parts(context);
  EntryEmitter(context, parts).emit();
  std::vector<abi::KernelAbi> variants = {abi};
  if (!kernel.guards().empty()) {
    // Both variants share bodies that do the same, the plan and the sizes.
    abi::KernelAbi special = abi;
    special.name.append(".").append(name_of(kernel.guards().front().assumption));
    special.guards = kernel.guards();
    KernelContext specialised{{}, module, kernel, schedule, target, bounds_check, special, sizes, widths};
    for (std::size_t i = 0; i < schedule.bodies.size(); ++i)
      if (kernel.guards_loads(static_cast<int>(i)) && !schedule.is_row_data(i))
        parts.bodies[i] = emit_runs(specialised, i);
    EntryEmitter(specialised, parts).emit();
    variants.push_back(std::move(special));
  }
  const std::vector<abi::SizeArgument> arguments = std::move(sizes).take();
  for (abi::KernelAbi& variant : variants) variant.sizes = arguments;
  return variants;
}

}  // namespace padlock::compiler
