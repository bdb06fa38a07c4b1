#include "compiler/emit/host/runs/run_vector.h"

#include <bit>

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

RunVector::RunVector(KernelContext& context, std::size_t body, IRBuilder<>& builder, const LaunchFields& fields,
                     ExprEmitter& exprs, BodyArguments arguments)
    : context_(context),
      index_(body),
      body_(context.schedule.bodies[body]),
      builder_(builder),
      exprs_(exprs),
      accesses_(builder, fields.fault),
      arguments_(std::move(arguments)),
      outputs_(fields.results(builder, context)),
      memos_(remember_searches(builder, body_)),
      values_(context, body_, builder, fields, exprs) {
  values_.remember(memos_);
  if (body_.uses_rows)
    for (std::size_t i = 0; i < arguments_.outer.size(); ++i)
      exprs_.set_coordinate(context_.outer_variables()[i], arguments_.outer[i]);
  for (const BodyLoad& load : body_.loads)
    steps_.push_back(load.kind == LoadKind::strided ? exprs_.address(builder_, load.step) : nullptr);
  if (!arguments_.takes_rows || !loads_invariants()) emit_invariants();  // else row by row
  prefetch_next_sums();
  give_row_values(arguments_.row_values);
  hoist_from_sums({kernel().column()});
}

void RunVector::give_row_values(const std::vector<Value*>& values) {
  const std::vector<Expr> exprs = row_values_of(context_, index_);
  for (std::size_t i = 0; i < values.size(); ++i) exprs_.give_exact(exprs[i], values[i]);
}

void RunVector::hoist_from_sums(Value* column) {
  exprs_.set_coordinate(kernel().column(), column);
  hoist_from_sums(std::vector<Expr>{});
}

/// Computes once, outside the loops, what sums have in common but for `varying`: where walks begin and end, with a
/// division each, and their rows' offsets. LLVM would leave this in the loops, which may not run.
void RunVector::hoist_from_sums(std::vector<Expr> varying) {
  for (const auto& walk : kernel().walk_variables) varying.push_back(walk.variable);
  for (const BodyNode& node : body_.nodes) {
    for (const Walk& walk : node.walks)
      for (const Expr e : {walk.first, walk.step, walk.other, walk.limit}) exprs_.hoist_exact(builder_, e, varying);
    if (node.kind != NodeKind::load || node.scope < 0) continue;
    const BodyLoad& load = body_.loads[static_cast<std::size_t>(node.load)];
    if (has_offset(load)) exprs_.hoist_address(builder_, load.offset, varying);
  }
}

/// Computes once the values that do not depend on the innermost coordinate.
void RunVector::emit_invariants() {
  const auto load = [&](const BodyNode& node) { return emit_load(node.load, nullptr, 1); };
  invariants_ = values_.invariants(body_.lanes, {.load = load});
}

bool RunVector::loads_invariants() const {
  return std::ranges::any_of(body_.loads, [](const BodyLoad& load) { return load.kind == LoadKind::invariant; });
}

bool RunVector::moves_pointer(std::size_t load) const {
  return body_.loads[load].kind == LoadKind::contiguous && !has_offset(body_.loads[load]);
}

bool RunVector::counts_elements(std::size_t load) const {
  return !moves_pointer(load) || context_.checks_load(index_, load);
}

RunVector::Row RunVector::first_row() {
  const auto moved = [&](Value* pointer, ir::DType dtype, Value* first) {
    return accesses_.address({.pointer = pointer, .dtype = dtype, .first = first});
  };
  Row row;
  if (context_.checks_stores(index_)) row.offset = arguments_.row;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    row.outputs.push_back(moved(outputs_[i], result_type(i), arguments_.row));
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const BodyArguments::Load& load = arguments_.loads[i];
    row.bases.push_back(counts_elements(i) ? load.base : nullptr);
    row.loads.push_back(moves_pointer(i) ? moved(load.tensor, body_.loads[i].dtype, load.base) : nullptr);
  }
  return row;
}

RunVector::Row RunVector::row_steps() {
  const auto bytes = [&](Value* elements, ir::DType dtype) {
    return builder_.CreateMul(elements, builder_.getInt64(static_cast<std::uint64_t>(ir::byte_size(dtype))));
  };
  Row step;
  step.offset = exprs_.address(builder_, context_.schedule.row_step());
  for (std::size_t i = 0; i < outputs_.size(); ++i) step.outputs.push_back(bytes(step.offset, result_type(i)));
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    step.bases.push_back(arguments_.loads[i].step);
    step.loads.push_back(moves_pointer(i) ? bytes(arguments_.loads[i].step, body_.loads[i].dtype) : nullptr);
  }
  return step;
}

void RunVector::set_row(const Row& row) {
  arguments_.row = row.offset;
  for (std::size_t i = 0; i < row.bases.size(); ++i) arguments_.loads[i].base = row.bases[i];
  if (loads_invariants()) emit_invariants();
  row_outputs_.clear();
  row_loads_.clear();
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    row_outputs_.push_back({.pointer = row.outputs[i], .dtype = result_type(i), .origin = row.offset});
  for (std::size_t i = 0; i < row.loads.size(); ++i)
    row_loads_.push_back({.pointer = row.loads[i], .dtype = body_.loads[i].dtype, .origin = row.bases[i]});
}

// --- vectors of elements -------------------------------------------------------------------------------------------

std::vector<Value*> RunVector::compute(Value* column, const VectorLoop& loop, int displacement) {
  BodyValues::Values values = loop.lanes == body_.lanes ? invariants_.vectors : invariants_.scalars;
  for (Value*& value : values) {
    if (box_row_ != nullptr) value = nullptr;  // differs between the rows of a box
    if (value != nullptr) value = values_.spread(value, loop.lanes);
  }
  displacement_ = displacement;
  exprs_.set_coordinate(kernel().column(), displaced(column));
  const auto load = [&](const BodyNode& node) { return emit_load(node.load, column, loop.lanes); };
  values_.emit(loop.lanes, {.load = load}, values);
  return values;
}

void RunVector::emit_masked(Value* column, Value* limit, const VectorLoop& loop) {
  accessed_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, builder_.CreateSub(limit, column),
                                             context_.index(loop.lanes));
  emit(column, loop);
  accessed_ = nullptr;
}

/// Masks by a comparison of bytes, which can count the elements of any vector.
void RunVector::mask(Access& access, bool reversed) {
  if (accessed_ == nullptr) return;
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (int lane = 0; lane < access.elements; ++lane)
    numbers.push_back(builder_.getInt8(static_cast<std::uint8_t>(reversed ? access.elements - 1 - lane : lane)));
  Value* count = builder_.CreateVectorSplat(static_cast<unsigned>(access.elements),
                                            builder_.CreateTrunc(accessed_, builder_.getInt8Ty()));
  access.mask = builder_.CreateICmpULT(llvm::ConstantVector::get(numbers), count);
  Value* others = builder_.CreateSub(context_.index(access.elements), accessed_);
  access.first_accessed = reversed ? others : context_.index(0);
  access.last_accessed = builder_.CreateSub(builder_.CreateAdd(access.first_accessed, accessed_), context_.index(1));
}

void RunVector::store(Value* column, const VectorLoop& loop, int displacement, const std::vector<Value*>& values) {
  for (std::size_t result = 0; result < body_.roots.size(); ++result) {
    Access access = row_outputs_[result];
    access.first = column;
    access.displacement = displacement;
    access.elements = loop.lanes;
    mask(access, /*reversed=*/false);
    if (context_.checks_stores(index_)) {
      // Results are dense. The kernel may return an input, whose strides may differ.
      const ir::Layout output = ir::Layout::dense(context_.exprs(), kernel().extents);
      access.name = builder_.getInt64(context_.buffer_of_result(result));
      access.extent = exprs_.word(output.storage_extent());
    }
    Value* value = values[static_cast<std::size_t>(body_.roots[result])];
    accesses_.store(access, value, loop.nontemporal ? StoreHint::nontemporal : StoreHint::none);
  }
}

/// One instruction loads or stores two vectors if the target has such and they stand together: then all loads come
/// before all stores. (No load reads what a store writes: a launch has compared the buffers.)
void RunVector::emit_trip(Value* column, const VectorLoop& loop) {
  if (!context_.target.pairs_accesses) {
    for (int i = 0; i < loop.unroll; ++i) emit(column, loop, i * loop.lanes);
    return;
  }
  std::vector<std::vector<Value*>> vectors;
  for (int i = 0; i < loop.unroll; ++i) vectors.push_back(compute(column, loop, i * loop.lanes));
  if (loop.nontemporal && loop.unroll % 2 == 0) return store_pairs(column, loop, vectors);
  for (int i = 0; i < loop.unroll; ++i) store(column, loop, i * loop.lanes, vectors[static_cast<std::size_t>(i)]);
}

/// LLVM pairs plain stores by itself. A non-temporal one it would split, since such come in pairs alone.
void RunVector::store_pairs(Value* column, const VectorLoop& loop, const std::vector<std::vector<Value*>>& vectors) {
  VectorLoop pair = loop;
  pair.lanes = 2 * loop.lanes;
  for (std::size_t i = 0; i < vectors.size(); i += 2) {
    std::vector<Value*> values = vectors[i];
    for (const int root : body_.roots) {
      const auto at = static_cast<std::size_t>(root);
      values[at] = llvm::concatenateVectors(builder_, {vectors[i][at], vectors[i + 1][at]});
    }
    store(column, pair, static_cast<int>(i) * loop.lanes, values);
  }
}

// --- alignment -----------------------------------------------------------------------------------------------------

Value* RunVector::address_of(std::size_t result, Value* column) {
  const bool in_row = !row_outputs_.empty();
  return accesses_.address({.pointer = in_row ? row_outputs_[result].pointer : outputs_[result],
                            .dtype = result_type(result),
                            .first = in_row ? column : builder_.CreateAdd(arguments_.row, column)});
}

/// Emits the low bits of an address, as an index.
Value* RunVector::low_bits(Value* address, int bytes) {
  Value* low = builder_.CreateTrunc(builder_.CreatePtrToInt(address, builder_.getInt64Ty()), context_.index_type());
  return builder_.CreateAnd(low, context_.index(bytes - 1));
}

Value* RunVector::misalignment(Value* column, int lanes) {
  const int size = result_bytes(0);
  // (By a shift: LLVM would treat a division as possibly slow.)
  const int shift = std::countr_zero(static_cast<unsigned>(size));
  return builder_.CreateLShr(low_bits(address_of(0, column), lanes * size), context_.index(shift));
}

Value* RunVector::are_aligned(llvm::ArrayRef<std::pair<Value*, int>> addresses) {
  Value* bits = context_.index(0);
  for (const auto& [address, bytes] : addresses) bits = builder_.CreateOr(bits, low_bits(address, bytes));
  return builder_.CreateICmpEQ(bits, context_.index(0));
}

Value* RunVector::stores_are_aligned(Value* column) {
  std::vector<std::pair<Value*, int>> addresses;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    addresses.emplace_back(address_of(i, column), body_.lanes * result_bytes(i));
  return are_aligned(addresses);
}

}  // namespace padlock::compiler
