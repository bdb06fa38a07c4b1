#include "compiler/llvm/emit/grid/emit_stream_body.h"

#include "compiler/llvm/emit/emit_index.h"
#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/emit_ops.h"
#include "compiler/llvm/emit/emit_sum.h"
#include "compiler/llvm/emit/vector_shift.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

Access VectorContext::checked(Access store, std::size_t result) const {
  bool checks = false;
  for (std::size_t body = 0; body < schedule().bodies.size(); ++body) checks |= context.checks_stores(body);
  if (!checks) return store;
  // Results are dense even where the value is an input, returned, with strides of its own.
  const ir::Layout output = ir::Layout::dense(context.exprs(), schedule().kernel.extents);
  store.name = builder.getInt64(context.buffer_of_result(result));
  store.extent = exprs.word(output.storage_extent());
  store.proves_align = store.elements > 1;
  return store;
}

StreamBody::StreamBody(const VectorContext& vector, std::size_t body, BodyArguments arguments, Value* column)
    : vector_(vector),
      builder_(vector.builder),
      index_(body),
      body_(vector.schedule().bodies[body]),
      accesses_(builder_, vector.fields.fault),
      arguments_(std::move(arguments)),
      column_(column) {
  const Kernel& kernel = vector.schedule().kernel;
  if (column != nullptr) vector.exprs.set_coordinate(kernel.coordinate(kernel.rank() - 1), column);
}

llvm::Type* StreamBody::type_of(std::size_t load, int lanes) const {
  return OpEmitter(builder_, lanes, vector_.context.target).storage_type(load_at(load).dtype);
}

unsigned StreamBody::vector_bytes(std::size_t load) const {
  return static_cast<unsigned>(vector_.lanes() * ir::byte_size(load_at(load).dtype));
}

/// From four elements on a vector takes more instructions than the two loads and the shift of granules.
bool StreamBody::takes_granules(std::size_t load) const {
  constexpr int kFewElements = 4;
  return is_vector(load_at(load)) && vector_.lanes() > kFewElements;
}

llvm::Type* StreamBody::granule_type(std::size_t load) const {
  return VectorShift(builder_, vector_bytes(load), ir::byte_size(load_at(load).dtype)).type();
}

Access StreamBody::access_of(std::size_t load, Value* element, int elements) {
  const ir::DType dtype = load_at(load).dtype;
  Access access{.pointer = arguments_.loads[load].tensor, .dtype = dtype, .first = element, .elements = elements};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(elements * ir::byte_size(dtype));
  if (vector_.context.checks_load(index_, load)) {
    access.name = arguments_.loads[load].name;
    access.extent = arguments_.loads[load].extent;
    access.proves_align = elements > 1;
  }
  return access;
}

// --- vectors of neighbouring elements ------------------------------------------------------------------------------

/// The element that a load of no `general` kind has for a column of the output, which is not negative.
Value* StreamBody::element_of(std::size_t load, Value* column) {
  const BodyLoad& which = load_at(load);
  Value* base = arguments_.loads[load].base;
  if (which.kind == LoadKind::invariant) return base;
  llvm::Type* offset = vector_.context.offset_type();
  if (which.kind == LoadKind::strided) {
    Value* step = vector_.exprs.exact(builder_, which.step);
    step = which.step.range().lo < 0 ? builder_.CreateSExt(step, offset) : builder_.CreateZExt(step, offset);
    return builder_.CreateAdd(base, builder_.CreateMul(builder_.CreateZExt(column, offset), step));
  }
  Value* steps = builder_.CreateZExt(column, offset);
  return which.kind == LoadKind::reversed ? builder_.CreateSub(base, steps) : builder_.CreateAdd(base, steps);
}

/// A reversed load has its last lane first.
Value* StreamBody::first_in_memory(std::size_t load) {
  Value* element = element_of(load, column_);
  if (!reversed(load)) return element;
  return builder_.CreateSub(element, vector_.context.offset(vector_.lanes() - 1));
}

/// Bytes that an element is past a multiple of the vector's size, i32.
Value* StreamBody::past_vector(std::size_t load, Value* element) {
  Value* address = builder_.CreatePtrToInt(accesses_.address(access_of(load, element)), builder_.getInt64Ty());
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  return builder_.CreateAnd(builder_.CreateTrunc(address, builder_.getInt32Ty()),
                            builder_.getInt32(vector_bytes(load) - size));
}

/// One load where the address is a multiple of the vector's size: as a rule all of a launch's are, or none.
std::vector<Value*> StreamBody::load_elements(std::size_t load, Value* element, Value* past) {
  BasicBlock* aligned = vector_.block("aligned");
  BasicBlock* misaligned = vector_.block("misaligned");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(builder_.CreateICmpEQ(past, builder_.getInt32(0)), aligned, misaligned);
  builder_.SetInsertPoint(aligned);
  Value* vector = accesses_.load(access_of(load, element, vector_.lanes()), granule_type(load));
  vector = builder_.CreateBitCast(vector, type_of(load, vector_.lanes()));
  std::vector<llvm::PHINode*> phis;
  for (int i = 0; i < vector_.lanes(); ++i) {
    phis.push_back(llvm::PHINode::Create(type_of(load, 1), 2, "", loaded));
    Value* lane = builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(i));
    phis.back()->addIncoming(lane, builder_.GetInsertBlock());
  }
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(misaligned);
  Access access = access_of(load, element);
  std::vector<Value*> lanes;
  for (; access.displacement < vector_.lanes(); ++access.displacement)
    lanes.push_back(accesses_.load(access, type_of(load, 1)));
  for (std::size_t i = 0; i < lanes.size(); ++i) phis[i]->addIncoming(lanes[i], builder_.GetInsertBlock());
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  return {phis.begin(), phis.end()};
}

/// A vector that is a granule itself takes no second one, and is inside as it is: then nothing is tested.
std::vector<Value*> StreamBody::load_granules(std::size_t load, Value* element, Value* past,
                                              llvm::function_ref<void()> outside) {
  const Granules& granules = vector_.schedule().granules;
  ExprEmitter& exprs = vector_.exprs;
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  exprs.set_coordinate(granules.shift, builder_.CreateUDiv(past, builder_.getInt32(size)));
  Value* first = builder_.CreateAdd(element, exprs.exact_offset(builder_, granules.offset));
  exprs.set_coordinate(granules.first, first);
  exprs.set_coordinate(granules.extent,
                       builder_.CreateTrunc(arguments_.loads[load].extent, vector_.context.offset_type()));
  BasicBlock* inside = vector_.block("granules");
  BasicBlock* elsewhere = vector_.block("outside");
  Value* is_granule = builder_.CreateICmpEQ(past, builder_.getInt32(0));
  builder_.CreateCondBr(builder_.CreateOr(is_granule, holds_of_offsets(builder_, exprs, granules.tests)), inside,
                        elsewhere);
  builder_.SetInsertPoint(elsewhere);
  outside();
  builder_.SetInsertPoint(inside);
  Access access = access_of(load, first, vector_.lanes());
  Value* low = accesses_.load(access, granule_type(load));
  access.displacement = vector_.lanes();
  BasicBlock* without = builder_.GetInsertBlock();
  BasicBlock* second = vector_.block("second");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(is_granule, loaded, second);
  builder_.SetInsertPoint(second);
  Value* next = accesses_.load(access, granule_type(load));
  BasicBlock* with = builder_.GetInsertBlock();
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  llvm::PHINode* high = builder_.CreatePHI(next->getType(), 2);
  high->addIncoming(llvm::PoisonValue::get(next->getType()), without);
  high->addIncoming(next, with);
  return {low, high, past};
}

std::vector<Value*> StreamBody::load_vector(std::size_t load, llvm::function_ref<void()> outside) {
  Value* element = first_in_memory(load);
  Value* past = past_vector(load, element);
  return takes_granules(load) ? load_granules(load, element, past, outside) : load_elements(load, element, past);
}

/// A vector that is a granule is not shifted.
Value* StreamBody::from_granules(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* shifts = vector_.block("shifts");
  BasicBlock* shifted = vector_.block("shifted");
  builder_.CreateCondBr(builder_.CreateICmpNE(loaded[2], builder_.getInt32(0)), shifts, shifted);
  builder_.SetInsertPoint(shifts);
  const VectorShift words(builder_, vector_bytes(load), ir::byte_size(load_at(load).dtype));
  Value* cut = words.shifted(loaded[0], loaded[1], loaded[2]);
  builder_.CreateBr(shifted);
  builder_.SetInsertPoint(shifted);
  llvm::PHINode* vector = builder_.CreatePHI(cut->getType(), 2);
  vector->addIncoming(loaded[0], before);
  vector->addIncoming(cut, shifts);
  return vector;
}

Value* StreamBody::vector_from(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  llvm::Type* type = type_of(load, vector_.lanes());
  Value* vector = llvm::PoisonValue::get(type);
  if (takes_granules(load)) {
    vector = builder_.CreateBitCast(from_granules(load, loaded), type);
  } else {
    for (std::size_t i = 0; i < loaded.size(); ++i) vector = builder_.CreateInsertElement(vector, loaded[i], i);
  }
  return reversed(load) ? builder_.CreateVectorReverse(vector) : vector;
}

// --- elements ------------------------------------------------------------------------------------------------------

Value* StreamBody::gather(std::size_t load) {
  Value* vector = llvm::PoisonValue::get(type_of(load, vector_.lanes()));
  for (int i = 0; i < vector_.lanes(); ++i) {
    Value* element = element_of(load, builder_.CreateAdd(column_, vector_.context.index(i)));
    Value* value = accesses_.load(access_of(load, element), type_of(load, 1));
    vector = builder_.CreateInsertElement(vector, value, static_cast<std::uint64_t>(i));
  }
  return vector;
}

Value* StreamBody::load_element(std::size_t load) { return load_at(load).scope >= 0 ? nullptr : load_here(load); }

Value* StreamBody::load_here(std::size_t load) {
  const BodyLoad& which = load_at(load);
  const bool is_general = which.kind == LoadKind::general;
  Access access =
      access_of(load, is_general ? vector_.exprs.address(builder_, which.offset) : element_of(load, column_));
  if (is_general && which.guard != kAlways)
    access.guard = emit_predicate(builder_, vector_.exprs, vector_.schedule().kernel.graph, which.guard);
  return accesses_.load(access, type_of(load, 1));
}

// --- values --------------------------------------------------------------------------------------------------------

std::vector<Value*> StreamBody::load(llvm::function_ref<void()> outside) {
  std::vector<Value*> loaded = emit_indices();
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (is_vector(load_at(i))) {
      const std::vector<Value*> values = load_vector(i, outside);
      loaded.insert(loaded.end(), values.begin(), values.end());
    } else {
      loaded.push_back(load_at(i).kind == LoadKind::invariant ? load_element(i) : gather(i));
    }
  }
  return loaded;
}

std::vector<Value*> StreamBody::compute(llvm::ArrayRef<Value*> loaded) {
  const auto index_count = static_cast<std::size_t>(
      std::ranges::count(body_.nodes, NodeKind::index, &BodyNode::kind));  // of a vector none has a scope
  indices_.assign(loaded.begin(), loaded.begin() + static_cast<std::ptrdiff_t>(index_count));
  loaded = loaded.drop_front(index_count);
  std::vector<Value*> values;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const std::size_t count = !is_vector(load_at(i)) ? 1
                              : takes_granules(i)    ? 3
                                                     : static_cast<std::size_t>(vector_.lanes());
    const llvm::ArrayRef<Value*> own = loaded.take_front(count);
    values.push_back(is_vector(load_at(i)) ? vector_from(i, own) : own.front());
    loaded = loaded.drop_front(count);
  }
  return compute_from(vector_.lanes(), values);
}

std::vector<Value*> StreamBody::compute_element() {
  std::vector<Value*> values;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) values.push_back(load_element(i));
  return compute(1, values);
}

std::vector<Value*> StreamBody::compute(int lanes, llvm::ArrayRef<Value*> loads) {
  indices_ = emit_indices();
  return compute_from(lanes, loads);
}

/// Emits the coordinates that are elements, at the first column: where the others are not set, there are none.
std::vector<Value*> StreamBody::emit_indices() {
  std::vector<Value*> indices;
  for (const BodyNode& node : body_.nodes)
    if (node.kind == NodeKind::index && node.scope < 0) indices.push_back(emit_index(builder_, vector_.exprs, node));
  return indices;
}

/// `values`: of the loads, vectors of so many lanes or scalars that all lanes share.
std::vector<Value*> StreamBody::compute_from(int lanes, llvm::ArrayRef<Value*> loads) {
  OpEmitter ops(builder_, lanes, vector_.context.target);
  const auto spread = [&](Value* value, int count) {
    return count == 1 || value->getType()->isVectorTy()
               ? value
               : builder_.CreateVectorSplat(static_cast<unsigned>(count), value);
  };
  std::vector<Value*> values(body_.nodes.size());
  std::size_t next_index = 0;
  std::function<void(int)> emit_scope;
  const auto emit = [&](int at, const BodyNode& node) -> Value* {
    std::vector<Value*> operands;
    for (const int operand : node.operands) operands.push_back(values[static_cast<std::size_t>(operand)]);
    switch (node.kind) {
      case NodeKind::constant:
        return ops.bits(node.dtype, node.bits);
      case NodeKind::scalar: {
        llvm::Type* word = builder_.getInt64Ty();
        Value* slot =
            builder_.CreateConstGEP1_64(word, vector_.fields.scalars, vector_.context.index_of_scalar(node.scalar));
        Value* bits = builder_.CreateTrunc(builder_.CreateLoad(word, slot, "scalar"),
                                           ops.storage_type(node.dtype)->getScalarType());
        return spread(bits, lanes);
      }
      case NodeKind::load:
        if (node.scope >= 0) return load_here(static_cast<std::size_t>(node.load));
        return spread(loads[static_cast<std::size_t>(node.load)], lanes);
      case NodeKind::when:
        return builder_.CreateSelect(
            emit_predicate(builder_, vector_.exprs, vector_.schedule().kernel.graph, node.guard), operands[0],
            operands[1]);
      case NodeKind::operation:
        return ops.emit(node.op, node.dtype, body_.operand_type(node), operands);
      case NodeKind::sum:
        return emit_sum(builder_, vector_.exprs, vector_.context.target, node.dtype, 1, node.walks, [&] {
          emit_scope(at);
          std::vector<Value*> terms;
          for (const int operand : node.operands) terms.push_back(values[static_cast<std::size_t>(operand)]);
          return terms;
        });
      case NodeKind::index:
        if (node.scope >= 0) return emit_index(builder_, vector_.exprs, node);
        return spread_index(builder_, vector_.context.exprs(), vector_.schedule().kernel, node, indices_[next_index++],
                            lanes);
    }
    return nullptr;
  };
  emit_scope = [&](int scope) {
    for (std::size_t i = 0; i < body_.nodes.size(); ++i)
      if (body_.nodes[i].scope == scope) values[i] = emit(static_cast<int>(i), body_.nodes[i]);
  };
  emit_scope(-1);
  std::vector<Value*> results;
  for (const int root : body_.roots) results.push_back(spread(values[static_cast<std::size_t>(root)], lanes));
  return results;
}

}  // namespace padlock::compiler
