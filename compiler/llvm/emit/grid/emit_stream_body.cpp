#include "compiler/llvm/emit/grid/emit_stream_body.h"

#include <llvm/IR/CFG.h>

#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/emit_ops.h"
#include "compiler/llvm/emit/grid/vector_words.h"
#include "compiler/llvm/emit/vector_shift.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

StreamBody::StreamBody(const VectorContext& vector, std::size_t body, BodyArguments arguments)
    : vector_(vector),
      builder_(vector.builder),
      index_(body),
      body_(vector.schedule().bodies[body]),
      accesses_(builder_, vector.fields.fault),
      arguments_(std::move(arguments)) {}

void StreamBody::set_lanes(Value* column, Value* from, Value* to) {
  column_ = column;
  from_ = from;
  to_ = to;
}

llvm::Type* StreamBody::type_of(std::size_t load, int lanes) const {
  return OpEmitter(builder_, lanes, vector_.context.target).storage_type(load_at(load).dtype);
}

unsigned StreamBody::granule_bytes(std::size_t load) const {
  return static_cast<unsigned>(vector_.lanes() * ir::byte_size(load_at(load).dtype));
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

/// In memory, where a reversed load has its last lane first.
StreamBody::Pair StreamBody::pair_of(std::size_t load) {
  const Granules& granules = vector_.schedule().granules;
  Value* lanes = vector_.context.index(vector_.lanes());
  Value* zeroth = vector_.element(builder_.CreateSub(column_, from_));
  Value* base = arguments_.loads[load].base;
  Pair pair;
  pair.element = reversed(load) ? builder_.CreateSub(builder_.CreateSub(base, zeroth),
                                                     builder_.getInt64(static_cast<std::uint64_t>(vector_.lanes()) - 1))
                                : builder_.CreateAdd(base, zeroth);
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  Value* address = builder_.CreatePtrToInt(accesses_.address(access_of(load, pair.element)), builder_.getInt64Ty());
  Value* past = builder_.CreateAnd(builder_.CreateTrunc(address, builder_.getInt32Ty()),
                                   builder_.getInt32(granule_bytes(load) - size));
  pair.shift = past;
  Value* shift = builder_.CreateUDiv(past, builder_.getInt32(size));
  ExprEmitter& exprs = vector_.exprs;
  exprs.set_coordinate(granules.shift, builder_.CreateZExt(shift, vector_.context.index_type()));
  exprs.set_coordinate(granules.from, reversed(load) ? builder_.CreateSub(lanes, to_) : from_);
  exprs.set_coordinate(granules.to, reversed(load) ? builder_.CreateSub(lanes, from_) : to_);
  const auto granule = [&](ir::Expr offset) {
    return builder_.CreateAdd(pair.element, vector_.element(exprs.exact(builder_, offset)));
  };
  pair.first = granule(granules.first_offset);
  pair.last = granule(granules.last_offset);
  vector_.wide.set_coordinate(granules.first, pair.first);
  vector_.wide.set_coordinate(granules.last, pair.last);
  vector_.wide.set_coordinate(granules.extent, arguments_.loads[load].extent);
  pair.inside = holds(builder_, vector_.wide, granules.tests);
  return pair;
}

Value* StreamBody::granules_are_inside() {
  Value* all = builder_.getTrue();
  pairs_.resize(body_.loads.size());
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (!is_vector(load_at(i))) continue;
    pairs_[i] = pair_of(i);
    all = builder_.CreateAnd(all, pairs_[i].inside);
  }
  return all;
}

std::vector<Value*> StreamBody::load_granules(std::size_t load, const Pair& pair) {
  llvm::Type* type = VectorShift(builder_, granule_bytes(load), ir::byte_size(load_at(load).dtype)).type();
  std::vector<Value*> loaded;
  for (Value* granule : {pair.first, pair.last})
    loaded.push_back(accesses_.load(access_of(load, granule, vector_.lanes()), type));
  loaded.push_back(pair.shift);
  return loaded;
}

Value* StreamBody::from_granules(std::size_t load, llvm::ArrayRef<Value*> granules) {
  const VectorShift words(builder_, granule_bytes(load), ir::byte_size(load_at(load).dtype));
  Value* vector =
      builder_.CreateBitCast(words.shifted(granules[0], granules[1], granules[2]), type_of(load, vector_.lanes()));
  return reversed(load) ? builder_.CreateVectorReverse(vector) : vector;
}

// --- elements ------------------------------------------------------------------------------------------------------

Value* StreamBody::gathered(std::size_t load, Value* lane) {
  Value* step = load_at(load).kind == LoadKind::strided ? vector_.wide.address(builder_, load_at(load).step)
                                                        : builder_.getInt64(reversed(load) ? ~std::uint64_t{0} : 1);
  Value* column = vector_.element(builder_.CreateAdd(builder_.CreateSub(column_, from_), lane));
  Value* element = builder_.CreateAdd(arguments_.loads[load].base, builder_.CreateMul(column, step));
  return accesses_.load(access_of(load, element), type_of(load, 1));
}

Value* StreamBody::gather(std::size_t load) {
  Value* vector = llvm::PoisonValue::get(type_of(load, vector_.lanes()));
  for (int i = 0; i < vector_.lanes(); ++i)
    vector =
        builder_.CreateInsertElement(vector, gathered(load, vector_.context.index(i)), static_cast<std::uint64_t>(i));
  return vector;
}

/// In a loop, since it is rare. A lane that is not needed takes the element of the next one that is.
Value* StreamBody::gather_needed(std::size_t load) {
  llvm::Type* type = type_of(load, vector_.lanes());
  BasicBlock* before = builder_.GetInsertBlock();
  std::vector<llvm::PHINode*> words;
  std::vector<Value*> moved;
  Value* last = builder_.CreateSub(to_, vector_.context.index(1));
  counted_loop(builder_, vector_.context.index(0), vector_.context.index(vector_.lanes()), 1, [&](Value* lane) {
    for (llvm::Type* word : word_types_of(builder_, type)) {
      words.push_back(builder_.CreatePHI(word, 2));
      words.back()->addIncoming(llvm::PoisonValue::get(word), before);
    }
    lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lane, from_);
    lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lane, last);
    Value* element = gathered(load, lane);
    moved = shifted_in(builder_, std::vector<Value*>(words.begin(), words.end()), element);
    for (std::size_t i = 0; i < words.size(); ++i) words[i]->addIncoming(moved[i], builder_.GetInsertBlock());
  });
  // The loop is never without a trip, which its exit does not know.
  std::vector<Value*> gathered_words;
  for (Value* word : moved) {
    llvm::PHINode* phi = builder_.CreatePHI(word->getType(), 2);
    for (BasicBlock* from : llvm::predecessors(builder_.GetInsertBlock()))
      phi->addIncoming(from == before ? llvm::PoisonValue::get(word->getType()) : word, from);
    gathered_words.push_back(phi);
  }
  return vector_of(builder_, gathered_words, type);
}

Value* StreamBody::load_element(std::size_t load) {
  const BodyLoad& which = load_at(load);
  Value* base = arguments_.loads[load].base;
  Value* column = vector_.element(column_);
  Value* element = base;
  Value* guard = nullptr;
  if (which.kind == LoadKind::contiguous) element = builder_.CreateAdd(base, column);
  if (which.kind == LoadKind::reversed) element = builder_.CreateSub(base, column);
  if (which.kind == LoadKind::strided)
    element = builder_.CreateAdd(base, builder_.CreateMul(column, vector_.wide.address(builder_, which.step)));
  if (which.kind == LoadKind::general) {
    element = vector_.exprs.address(builder_, which.offset);
    if (which.guard != kAlways)
      guard = emit_predicate(builder_, vector_.exprs, vector_.schedule().kernel.graph, which.guard);
  }
  Access access = access_of(load, element);
  access.guard = guard;
  return accesses_.load(access, type_of(load, 1));
}

/// By granules where those lie in the tensor, else by elements.
Value* StreamBody::load_lanes(std::size_t load) {
  if (!is_vector(load_at(load))) return gather_needed(load);
  const Pair pair = pair_of(load);
  BasicBlock* granules = vector_.block("granules");
  BasicBlock* elements = vector_.block("elements");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(pair.inside, granules, elements);
  llvm::PHINode* phi = llvm::PHINode::Create(type_of(load, vector_.lanes()), 2, "", loaded);
  for (const bool whole : {true, false}) {
    builder_.SetInsertPoint(whole ? granules : elements);
    Value* value = whole ? from_granules(load, load_granules(load, pair)) : gather_needed(load);
    phi->addIncoming(value, builder_.GetInsertBlock());
    builder_.CreateBr(loaded);
  }
  builder_.SetInsertPoint(loaded);
  return phi;
}

// --- values --------------------------------------------------------------------------------------------------------

std::vector<llvm::Type*> StreamBody::loaded_types() const {
  std::vector<llvm::Type*> types;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (!is_vector(load_at(i))) {
      types.push_back(type_of(i, load_at(i).kind == LoadKind::invariant ? 1 : vector_.lanes()));
      continue;
    }
    llvm::Type* granule = VectorShift(builder_, granule_bytes(i), ir::byte_size(load_at(i).dtype)).type();
    types.insert(types.end(), {granule, granule, builder_.getInt32Ty()});
  }
  return types;
}

std::vector<Value*> StreamBody::load() {
  std::vector<Value*> loaded;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (is_vector(load_at(i))) {
      const std::vector<Value*> granules = load_granules(i, pairs_[i]);
      loaded.insert(loaded.end(), granules.begin(), granules.end());
    } else {
      loaded.push_back(load_at(i).kind == LoadKind::invariant ? load_element(i) : gather(i));
    }
  }
  return loaded;
}

std::vector<Value*> StreamBody::compute(llvm::ArrayRef<Value*> loaded) {
  std::vector<Value*> values;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const bool vector = is_vector(load_at(i));
    values.push_back(vector ? from_granules(i, loaded.take_front(3)) : loaded.front());
    loaded = loaded.drop_front(vector ? 3 : 1);
  }
  return compute(vector_.lanes(), values);
}

std::vector<Value*> StreamBody::compute_lanes() {
  std::vector<Value*> values;
  if (body_.lanes == 1)
    vector_.exprs.set_coordinate(vector_.schedule().kernel.coordinate(vector_.schedule().kernel.rank() - 1), column_);
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const bool one = body_.lanes == 1 || load_at(i).kind == LoadKind::invariant;
    values.push_back(one ? load_element(i) : load_lanes(i));
  }
  return compute(body_.lanes, values);
}

/// `values`: of the loads, vectors of so many lanes or scalars that all lanes share.
std::vector<Value*> StreamBody::compute(int lanes, llvm::ArrayRef<Value*> loads) {
  OpEmitter ops(builder_, lanes, vector_.context.target);
  const auto spread = [&](Value* value, int count) {
    return count == 1 || value->getType()->isVectorTy()
               ? value
               : builder_.CreateVectorSplat(static_cast<unsigned>(count), value);
  };
  std::vector<Value*> values;
  const auto emit = [&](const BodyNode& node) -> Value* {
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
        return spread(loads[static_cast<std::size_t>(node.load)], lanes);
      case NodeKind::when:
        return builder_.CreateSelect(
            emit_predicate(builder_, vector_.exprs, vector_.schedule().kernel.graph, node.guard), operands[0],
            operands[1]);
      case NodeKind::operation:
        return ops.emit(node.op, node.dtype, body_.operand_type(node), operands);
    }
    return nullptr;
  };
  for (const BodyNode& node : body_.nodes) values.push_back(emit(node));
  std::vector<Value*> results;
  for (const int root : body_.roots) results.push_back(spread(values[static_cast<std::size_t>(root)], vector_.lanes()));
  return results;
}

}  // namespace padlock::compiler
