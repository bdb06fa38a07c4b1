#include "compiler/emit/gpu/vector_grid/thread_values.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/scalar/emit_ops.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

Value* VectorContext::row_of_output(Value* row) const {
  if (!context.in_parts) return row;
  const abi::SizeArgument first{.value = context.exprs().constant(0), .fit = abi::SizeArgument::Encoding::first_row};
  return builder.CreateAdd(exprs.of_launch(first, row->getType()), row);
}

Value* VectorContext::launched_elements(llvm::Type* type) const {
  const ir::Expr all = context.exprs().mul(schedule().rows, schedule().columns);
  const auto fit = context.in_parts ? abi::SizeArgument::Encoding::elements : abi::SizeArgument::Encoding::saturate;
  return exprs.of_launch({.value = all, .fit = fit}, type);
}

Access VectorContext::checked(Access store, std::size_t result) const {
  bool checks = false;
  for (std::size_t body = 0; body < schedule().bodies.size(); ++body) checks |= context.checks_stores(body);
  if (!checks) return store;
  store.name = builder.getInt64(context.buffer_of_result(result));
  store.extent = launched_elements(builder.getInt64Ty());
  store.proves_align = store.elements > 1;
  return store;
}

void VectorContext::wait_for_earlier_grids() const {
  if (!context.abi.waits) return;
  // The order keeps at most two grids resident: with more, a small launch takes a tenth longer.
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_griddepcontrol_wait, {});
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_griddepcontrol_launch_dependents, {});
}

void VectorContext::in_turn(llvm::function_ref<void()> before, llvm::function_ref<void()> after) const {
  if (interval == nullptr) {
    before();
    builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {builder.getInt32(0)});
    after();
    return;
  }
  BasicBlock* first = block("before_barrier");
  BasicBlock* barrier = block("barrier");
  BasicBlock* second = block("after_barrier");
  builder.CreateCondBr(builder.CreateICmpEQ(interval, builder.getInt32(0)), first, second);
  builder.SetInsertPoint(first);
  before();
  builder.CreateBr(barrier);
  builder.SetInsertPoint(barrier);
  builder.CreateRetVoid();
  builder.SetInsertPoint(second);
  after();
}

Value* holds_in_row(const VectorContext& vector, const Condition& condition, ir::Expr rest) {
  Value *value = vector.exact(rest), *zero = vector.index(0);
  const bool is_equation = condition.kind == Condition::Kind::zero;
  return is_equation ? vector.builder.CreateICmpEQ(value, zero) : vector.builder.CreateICmpSGE(value, zero);
}

Value* LaneRange::narrow(const VectorContext& vector, int column_axis, PredicateId predicate, Value* column,
                         llvm::ArrayRef<ir::Expr> without) {
  llvm::IRBuilder<>& builder = vector.builder;
  const Kernel& kernel = vector.schedule().kernel;
  Value* holds = builder.getTrue();
  for (const ConditionId id : kernel.graph.conditions_of(predicate)) {
    const Condition& condition = kernel.graph.condition(id);
    const ColumnCondition form = *column_condition(kernel, column_axis, condition);
    if (llvm::any_of(without, [&](ir::Expr axis) { return mentions(form.rest, axis); })) continue;
    if (form.slope == 0) {
      holds = builder.CreateAnd(holds, holds_in_row(vector, condition, form.rest));
      continue;
    }
    Value* rest = vector.exact(form.rest);
    if (form.slope == 1) {
      Value* from = builder.CreateSub(builder.CreateNeg(rest), column);
      first = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, from);
    } else {
      Value* to = builder.CreateAdd(builder.CreateSub(rest, column), vector.index(1));
      end = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, to);
    }
  }
  return holds;
}

ThreadValues::ThreadValues(const VectorContext& vector, std::size_t body, BodyArguments arguments, Value* column)
    : vector_(vector),
      builder_(vector.builder),
      index_(body),
      body_(vector.schedule().bodies[body]),
      accesses_(builder_, vector.fields.fault),
      arguments_(std::move(arguments)),
      column_(column) {
  const Kernel& kernel = vector.schedule().kernel;
  if (column != nullptr) vector.exprs.set_coordinate(kernel.column(), column);
}

llvm::Type* ThreadValues::type_of(std::size_t load, int lanes) const {
  return OpEmitter(builder_, lanes, vector_.context.target).storage_type(load_at(load).dtype);
}

Access ThreadValues::access_of(std::size_t load, Value* element, int elements) {
  Access access = vector_.access_of(arguments_.loads[load].tensor, load_at(load).dtype, element, elements);
  if (vector_.context.checks_load(index_, load)) {
    access.name = arguments_.loads[load].name;
    access.extent = arguments_.loads[load].extent;
    access.origin = arguments_.loads[load].origin;
    access.proves_align = elements > 1;
  }
  return access;
}

// --- elements ------------------------------------------------------------------------------------------------------

/// Emits the element of a load (no `general` kind) for a column of the output, which is not negative.
Value* ThreadValues::element_of(std::size_t load, Value* column) {
  const BodyLoad& moving = load_at(load);
  Value* base = arguments_.loads[load].base;
  if (has_offset(moving)) base = builder_.CreateAdd(base, vector_.exprs.address(builder_, moving.offset));
  if (moving.kind == LoadKind::invariant) return base;
  llvm::Type* offset = vector_.context.offset_type();
  if (moving.kind == LoadKind::strided) {
    Value* step = vector_.exact(moving.step);
    step = moving.step.range().lo < 0 ? builder_.CreateSExt(step, offset) : builder_.CreateZExt(step, offset);
    return builder_.CreateAdd(base, builder_.CreateMul(builder_.CreateZExt(column, offset), step));
  }
  Value* steps = builder_.CreateZExt(column, offset);
  return moving.kind == LoadKind::reversed ? builder_.CreateSub(base, steps) : builder_.CreateAdd(base, steps);
}

/// Emits the element of a `general` load. A launch that counts from another element gives that element as the base.
Value* ThreadValues::general_element(std::size_t load) {
  Value* element = vector_.exprs.address(builder_, load_at(load).offset);
  return vector_.context.in_parts ? builder_.CreateAdd(element, arguments_.loads[load].base) : element;
}

Value* ThreadValues::gather(std::size_t load) {
  std::vector<Value*> lanes;
  for (int i = 0; i < vector_.lanes(); ++i) {
    Value* element = element_of(load, builder_.CreateAdd(column_, vector_.index(i)));
    lanes.push_back(accesses_.load(access_of(load, element), type_of(load, 1)));
  }
  return joined(load, lanes);
}

Value* ThreadValues::load_element(std::size_t load) { return is_late(load_at(load)) ? nullptr : load_here(load); }

Value* ThreadValues::load_here(std::size_t load) {
  const BodyLoad& body_load = load_at(load);
  const bool is_general = body_load.kind == LoadKind::general;
  Access access = access_of(load, is_general ? general_element(load) : element_of(load, column_));
  if (is_general && body_load.guard != kAlways)
    access.guard = emit_predicate(builder_, vector_.exprs, vector_.schedule().kernel.graph, body_load.guard);
  return accesses_.load(access, type_of(load, 1));
}

// --- values --------------------------------------------------------------------------------------------------------

std::vector<Value*> ThreadValues::load(llvm::function_ref<void()> outside) {
  if (has_sums(body_)) {
    indices_ = emit_indices();
    return compute_from(vector_.lanes(),
                        [&](std::size_t i) { return vector_from(i, load_lanes(i, outside, nullptr)); });
  }
  std::vector<Value*> loaded = emit_indices();
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const std::vector<Value*> values = load_lanes(i, outside, nullptr);
    loaded.insert(loaded.end(), values.begin(), values.end());
  }
  return loaded;
}

std::vector<Value*> ThreadValues::compute(llvm::ArrayRef<Value*> loaded) {
  if (has_sums(body_)) return loaded.vec();
  const auto index_count = static_cast<std::size_t>(
      std::ranges::count(body_.nodes, NodeKind::index, &BodyNode::kind));  // vectors need no indices in scopes
  indices_.assign(loaded.begin(), loaded.begin() + static_cast<std::ptrdiff_t>(index_count));
  loaded = loaded.drop_front(index_count);
  std::vector<Value*> values;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const std::size_t count = loaded_values(i);
    values.push_back(vector_from(i, loaded.take_front(count)));
    loaded = loaded.drop_front(count);
  }
  return compute_from(vector_.lanes(), [&](std::size_t i) { return values[i]; });
}

/// Loads vectors if the addresses of all are multiples of their sizes, else elements.
std::vector<Value*> ThreadValues::compute_vector() {
  const std::size_t count = body_.loads.size();
  std::vector<Value*> values(count), elements(count);
  Value* past = builder_.getInt32(0);
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_vector(load_at(i))) continue;
    elements[i] = element_of(i, column_);
    past = builder_.CreateOr(past, past_vector(i, elements[i]));
  }
  vector_.wait_for_earlier_grids();
  BasicBlock *aligned = vector_.block("aligned"), *misaligned = vector_.block("misaligned");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(builder_.CreateICmpEQ(past, builder_.getInt32(0)), aligned, misaligned);
  Ways ways;
  const auto add_way = [&](BasicBlock* way, llvm::function_ref<Value*(std::size_t)> load) {
    builder_.SetInsertPoint(way);
    std::vector<Value*> vectors;
    for (std::size_t i = 0; i < count; ++i)
      if (elements[i] != nullptr) vectors.push_back(load(i));
    ways.emplace_back(builder_.GetInsertBlock(), std::move(vectors));
    builder_.CreateBr(loaded);
  };
  add_way(aligned, [&](std::size_t i) {
    Value* vector = accesses_.load(access_of(i, elements[i], vector_.lanes()), granule_type(i));
    return builder_.CreateBitCast(vector, type_of(i, vector_.lanes()));
  });
  add_way(misaligned, [&](std::size_t i) { return joined(i, load_apart(i, elements[i])); });
  builder_.SetInsertPoint(loaded);
  const std::vector<Value*> vectors = join(builder_, ways);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) values[i] = elements[i] != nullptr ? vectors[next++] : load_here(i);
  return compute(vector_.lanes(), values);
}

std::vector<Value*> ThreadValues::compute_element() {
  std::vector<Value*> values;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) values.push_back(load_element(i));
  return compute(1, values);
}

std::vector<Value*> ThreadValues::compute(int lanes, llvm::ArrayRef<Value*> loads) {
  indices_ = emit_indices();
  return compute_from(lanes, [&](std::size_t i) { return loads[i] == nullptr ? load_here(i) : loads[i]; });
}

/// Emits the coordinates that are elements, at the first column. There are none where the other coordinates are not
/// set.
std::vector<Value*> ThreadValues::emit_indices() {
  std::vector<Value*> indices;
  for (const BodyNode& node : body_.nodes)
    if (node.kind == NodeKind::index && !is_late(node)) indices.push_back(emit_index(builder_, vector_.exprs, node));
  return indices;
}

/// `load_of`: gives vectors of `lanes` lanes, or scalars that all lanes share; in a sum's walks, at each turn.
std::vector<Value*> ThreadValues::compute_from(int lanes, llvm::function_ref<Value*(std::size_t)> load_of) {
  BodyValues nodes(vector_.context, body_, builder_, vector_.fields, vector_.exprs);
  BodyValues::Values values(body_.nodes.size());
  const auto load = [&](const BodyNode& node) { return load_of(static_cast<std::size_t>(node.load)); };
  std::size_t next_index = 0;
  const auto index = [&](const BodyNode& node) {
    return is_late(node) ? emit_index(builder_, vector_.exprs, node) : indices_[next_index++];
  };
  nodes.emit(lanes, {.load = load, .index = index}, values);
  std::vector<Value*> results;
  for (const int root : body_.roots) results.push_back(values[static_cast<std::size_t>(root)]);
  return results;
}

}  // namespace padlock::compiler
