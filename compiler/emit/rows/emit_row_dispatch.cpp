#include "compiler/emit/rows/emit_row_dispatch.h"

#include <set>

#include "compiler/schedule/cases/row_recurrence.h"

namespace padlock::compiler {
namespace {

template <class Emit>
Value* all_hold(IRBuilder<>& builder, ExprEmitter& exprs, const std::vector<Expr>& tests, Emit&& emit) {
  Value* all = builder.getTrue();
  for (const Expr test : tests) {
    // Compares with the constant instead of adding it. It is the elements of some vectors or lines, which any index
    // holds.
    const auto [moving, rest] = split_sum(exprs.exprs(), test);
    const bool folds = rest.is_constant();
    Value* value = emit(folds ? moving : test);
    const auto least = folds ? -static_cast<std::int64_t>(rest.constant()) : 0;
    all = builder.CreateAnd(all, builder.CreateICmpSGE(value, llvm::ConstantInt::getSigned(value->getType(), least)));
  }
  return all;
}

}  // namespace

Value* holds(IRBuilder<>& builder, ExprEmitter& exprs, const std::vector<Expr>& tests) {
  return all_hold(builder, exprs, tests, [&](Expr e) { return exprs.exact(builder, e); });
}

Value* holds_of_offsets(IRBuilder<>& builder, ExprEmitter& exprs, const std::vector<Expr>& tests) {
  return all_hold(builder, exprs, tests, [&](Expr e) { return exprs.exact_offset(builder, e); });
}

Value* holds_of_offsets(IRBuilder<>& builder, ExprEmitter& exprs, const std::vector<ir::Constraint>& tests) {
  Value* all = builder.getTrue();
  for (const ir::Constraint& test : tests) {
    const auto how = test.comparison == ir::Comparison::le ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_SGE;
    Value* left = exprs.exact_offset(builder, test.lhs);
    all = builder.CreateAnd(all, builder.CreateICmp(how, left, exprs.exact_offset(builder, test.rhs)));
  }
  return all;
}

void RowEmitter::load_buffers(const LaunchFields& fields) {
  fields_ = &fields;
  for (const ir::ValueId input : context_.abi.inputs)
    buffers_.push_back(fields.buffer(builder_, context_.buffer_of_input(input)));
}

void RowEmitter::set_columns(Value* first, Value* last) {
  const RunVariables run(context_.exprs());
  exprs_.set_coordinate(run.column_first, first);
  exprs_.set_coordinate(run.column_last, last);
  runs_.clear();
  for (const SegmentCall& call : context_.schedule.calls())
    for (const Expr bound : {call.run_begin, call.run_end})
      if (Value*& value = runs_[bound.id()]; value == nullptr) value = exprs_.exact(builder_, bound);
}

std::vector<Value*> RowEmitter::unflatten(Value* row, std::span<const int> axes) {
  std::vector<Value*> coordinates(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coordinates[i] = row;
    if (i == 0) break;
    const auto [quotient, remainder] = exprs_.divide(builder_, row, kernel().extent(axes[i]));
    coordinates[i] = remainder;
    row = quotient;
  }
  return coordinates;
}

std::vector<Value*> RowEmitter::unflatten(Value* row) {
  const std::vector<int> order = context_.schedule.row_order();
  const std::vector<Value*> ordered = unflatten(row, order);
  std::vector<Value*> coordinates(ordered.size());
  for (std::size_t i = 0; i < order.size(); ++i) coordinates[static_cast<std::size_t>(order[i])] = ordered[i];
  return coordinates;
}

void RowEmitter::set_row(Value* row, llvm::Type* type, std::span<const int> axes) {
  digits_ = unflatten(row, axes);
  set_coordinates(axes, type);
}

void RowEmitter::set_coordinates(std::span<const int> axes, llvm::Type* type) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    exprs_.set_coordinate(kernel().coordinate(axes[i]), builder_.CreateZExt(digits_[i], type));
}

/// The last axis of the order counts rows; where it begins again, the axis before it goes on.
void RowEmitter::set_next_row(Value* moves, llvm::Type* type) {
  const std::vector<int> axes = context_.schedule.row_order();
  for (std::size_t i = axes.size(); i-- > 0;) {
    digits_[i] = builder_.CreateAdd(digits_[i], builder_.CreateZExt(moves, digits_[i]->getType()));
    if (i == 0) break;
    moves = builder_.CreateICmpEQ(digits_[i], exprs_.exact(builder_, kernel().extent(axes[i])));
    digits_[i] = builder_.CreateSelect(moves, llvm::Constant::getNullValue(digits_[i]->getType()), digits_[i]);
  }
  set_coordinates(axes, type);
}

void RowEmitter::set_row(Value* row, llvm::Type* type) { set_row(row, type, context_.schedule.row_order()); }

std::vector<Value*> RowEmitter::emit_row(EmitCase emit_case) {
  row_offset_ = emit_row_offset();
  BasicBlock* next = new_block(builder_, "next");
  Ways ways;
  emit_tree(0, next, emit_case, ways);
  builder_.SetInsertPoint(next);
  return join(builder_, ways);
}

void RowEmitter::emit_tree(int root, BasicBlock* next, EmitCase emit_case, Ways& ways) {
  const ScheduledCase& row = context_.schedule.cases[static_cast<std::size_t>(root)];
  if (!row.is_test()) {
    std::vector<Value*> values = emit_case(row);
    ways.emplace_back(builder_.GetInsertBlock(), std::move(values));
    builder_.CreateBr(next);
    return;
  }
  BasicBlock* holds = new_block(builder_, "holds");
  BasicBlock* fails = new_block(builder_, "fails");
  builder_.CreateCondBr(emit_predicate(builder_, exprs_, kernel().graph, row.test), holds, fails);
  for (const bool held : {true, false}) {
    builder_.SetInsertPoint(held ? holds : fails);
    path_.emplace_back(row.test, held);
    emit_tree(held ? row.holds : row.fails, next, emit_case, ways);
    path_.pop_back();
  }
}

Value* RowEmitter::emit_row_offset() {
  return exprs_.address(builder_, kernel().element_at(context_.exprs().constant(0)));
}

namespace {

/// Rows without any condition.
constexpr std::int64_t kUnlimitedRows = std::int64_t{1} << 62;

}  // namespace

Value* RowEmitter::rows_with_same_case(const ScheduledCase& which) {
  Value* rows = builder_.getInt64(kUnlimitedRows);
  const auto at_most = [&](Value* other) { rows = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows, other); };
  const bool by_data = follows_data(which);
  for (const auto& [predicate, held] : path_)
    if (!by_data || !has_data(predicate)) at_most(held ? rows_holding(predicate) : rows_failing(predicate));
  std::set<std::uint32_t> seen;
  for (const SegmentCall& call : which.calls)
    for (const LoadSource& source : call.sources)
      if (source.rows.valid() && seen.insert(source.rows.id()).second) at_most(exprs_.exact(builder_, source.rows));
  return rows;
}

/// Returns the step of a condition from row to row, if it is one constant everywhere.
std::optional<Int128> RowEmitter::even_step(const Condition& condition) {
  const auto recurrence = recurrence_in(context_.exprs(), condition.expr, context_.schedule.row_coordinate());
  if (!recurrence || !recurrence->is_even() || !recurrence->step.is_constant()) return std::nullopt;
  return recurrence->step.constant();
}

/// Emits the number of rows before the first in which one of the conditions fails.
Value* RowEmitter::rows_holding(PredicateId predicate) {
  const Graph& graph = kernel().graph;
  Value* rows = builder_.getInt64(kUnlimitedRows);
  for (const ConditionId id : graph.conditions_of(predicate)) {
    const Condition& condition = graph.condition(id);
    const bool ordered = condition.kind == Condition::Kind::nonnegative;
    const auto step = even_step(condition);
    if (!step) return builder_.getInt64(1);
    if (*step == 0 || (ordered && *step > 0)) continue;
    if (!ordered || *step != -1) return builder_.getInt64(1);
    Value* left = builder_.CreateAdd(exprs_.exact(builder_, condition.expr), builder_.getInt64(1));
    rows = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows, left);
  }
  return rows;
}

/// Emits the number of rows before the first in which all conditions that fail now hold.
Value* RowEmitter::rows_failing(PredicateId predicate) {
  const Graph& graph = kernel().graph;
  Value* rows = builder_.getInt64(1);
  for (const ConditionId id : graph.conditions_of(predicate)) {
    const Condition& condition = graph.condition(id);
    const bool ordered = condition.kind == Condition::Kind::nonnegative;
    const auto step = even_step(condition);
    if (!ordered || !step || *step > 1) continue;
    Value* value = exprs_.exact(builder_, condition.expr);
    Value* until = *step == 1 ? builder_.CreateNeg(value) : builder_.getInt64(kUnlimitedRows);
    Value* failing = builder_.CreateICmpSLT(value, builder_.getInt64(0));
    Value* alike = builder_.CreateSelect(failing, until, builder_.getInt64(1), "failing_rows");
    rows = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, rows, alike);
  }
  return rows;
}

std::vector<Value*> RowEmitter::bases_of(const std::vector<LoadSource>& sources) {
  std::vector<Value*> bases;
  for (const LoadSource& source : sources) bases.push_back(exprs_.address(builder_, source.base));
  return bases;
}

Value* RowEmitter::is_empty(const SegmentCall& call) {
  return builder_.CreateICmpSGE(runs_.at(call.run_begin.id()), runs_.at(call.run_end.id()));
}

void RowEmitter::set_loads(const SegmentCall& call, BodyArguments& arguments) {
  for (std::size_t i = 0; i < call.sources.size(); ++i) {
    const LoadSource& source = call.sources[i];
    BodyArguments::Load& load = arguments.loads[i];
    const std::size_t buffer = context_.buffer_of_input(source.tensor);
    load.tensor = buffers_[buffer];
    load.base = base_of(source);
    if (arguments.has_grid) set_storage(source.tensor, load);
    const Expr extent = kernel().program->value(source.tensor).layout.storage_extent();
    if (arguments.has_boxes) load.end = exprs_.word(extent);
    if (!arguments.checks_loads) continue;
    load.name = builder_.getInt64(buffer);
    load.extent = exprs_.word(extent);
    if (arguments.has_grid) load.origin = origin_of(source.tensor);
  }
}

/// Emits where a source's load starts.
Value* RowEmitter::base_of(const LoadSource& source) {
  if (!context_.in_parts) return exprs_.address(builder_, source.base);
  const auto input = static_cast<std::uint32_t>(context_.buffer_of_input(source.tensor));
  return exprs_.address_from_origin(builder_, source.base, input);
}

/// Emits the bounds of a tensor's storage, as offsets from the launch's origin in it.
void RowEmitter::set_storage(ir::ValueId tensor, BodyArguments::Load& load) {
  const Expr extent = kernel().program->value(tensor).layout.storage_extent();
  if (!context_.in_parts) {
    load.least = context_.offset(0);
    load.end = builder_.CreateTrunc(exprs_.word(extent), context_.offset_type());
    return;
  }
  const auto from_origin = [&](Expr e) {
    return exprs_.of_launch({.value = e,
                             .fit = abi::SizeArgument::Encoding::from_origin32,
                             .input = static_cast<std::uint32_t>(context_.buffer_of_input(tensor))},
                            context_.offset_type());
  };
  load.least = from_origin(context_.exprs().constant(0));
  load.end = from_origin(extent);
}

Value* RowEmitter::origin_of(ir::ValueId tensor) {
  if (!context_.in_parts) return builder_.getInt64(0);
  Value* below = exprs_.of_launch({.value = context_.exprs().constant(0),
                                   .fit = abi::SizeArgument::Encoding::from_origin,
                                   .input = static_cast<std::uint32_t>(context_.buffer_of_input(tensor))},
                                  builder_.getInt64Ty());
  return builder_.CreateNeg(below);
}

BodyArguments RowEmitter::arguments_of(const SegmentCall& call, Value* rows) {
  return arguments_of(call, runs_.at(call.run_begin.id()), runs_.at(call.run_end.id()), rows);
}

BodyArguments RowEmitter::arguments_of(const SegmentCall& call, Value* begin, Value* end, Value* rows) {
  const auto body = static_cast<std::size_t>(call.body);
  BodyArguments arguments(context_, body);
  arguments.begin = begin;
  arguments.end = end;
  arguments.row = row_offset_;
  set_loads(call, arguments);
  const std::vector<Expr> outer = context_.outer_variables();
  for (std::size_t i = 0; i < arguments.outer.size(); ++i) arguments.outer[i] = exprs_.exact(builder_, outer[i]);
  set_row_values(body, arguments);
  if (arguments.takes_rows) {
    arguments.rows = rows;
    for (std::size_t i = 0; i < call.sources.size(); ++i) {
      const LoadSource& source = call.sources[i];
      const auto measured = measured_steps_.find(&source);
      arguments.loads[i].step = source.step.valid()                 ? exprs_.address(builder_, source.step)
                                : measured != measured_steps_.end() ? measured->second
                                                                    : builder_.getInt64(0);
    }
  }
  return arguments;
}

void RowEmitter::set_row_values(std::size_t body, BodyArguments& arguments) {
  const std::vector<Expr> values = row_values_of(context_, body);
  const auto set = [&](std::vector<Value*>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = exprs_.exact(builder_, values[i]);
  };
  set(arguments.row_values);
  if (arguments.next_row_values.empty()) return;
  const Expr last = context_.schedule.row_coordinate();
  Value* here = exprs_.exact(builder_, last);
  exprs_.set_coordinate(last, builder_.CreateAdd(here, llvm::ConstantInt::get(here->getType(), 1)));
  set(arguments.next_row_values);
  exprs_.set_coordinate(last, here);
}

/// Returns the contract as far as it is known before code: sizes are collected while code is emitted.
abi::KernelAbi contract_of(const Schedule& schedule) {
  const Kernel& kernel = schedule.kernel;
  ir::ExprContext& exprs = kernel.program->exprs();
  abi::KernelAbi abi;
  abi.name = kernel.name;
  abi.results = kernel.results;
  std::set<ir::ValueId> inputs, scalars;
  const auto add_scalars = [&](const Body& body) {
    for (const BodyNode& node : body.nodes)
      if (node.kind == NodeKind::scalar) scalars.insert(node.scalar);
  };
  for (const SegmentCall& call : schedule.calls())
    for (const LoadSource& source : call.sources) inputs.insert(source.tensor);
  if (const RowChunks* const chunks = schedule.row_chunks()) {
    for (const LoadSource& source : chunks->sources) inputs.insert(source.tensor);
    add_scalars(chunks->body);
  }
  for (const Body& body : schedule.bodies) add_scalars(body);
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

}  // namespace padlock::compiler
