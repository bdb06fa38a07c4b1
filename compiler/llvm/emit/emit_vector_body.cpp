#include "compiler/llvm/emit/emit_vector_body.h"

#include <algorithm>
#include <bit>

#include "compiler/llvm/emit/emit_index.h"
#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/emit_ops.h"
#include "compiler/llvm/emit/emit_sum.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::IRBuilder;
using llvm::Value;

namespace {

// Measured on a Zen 4 with one thread (docs/host-kernels.md), and the first on a Zen 3, too.
constexpr int kLoadsAheadBytes = 1024;
constexpr int kStoresAheadBytes = 8192;
constexpr int kLoadsAheadRows = 2;
constexpr int kLineBytes = 64;

}  // namespace

VectorBodyEmitter::VectorBodyEmitter(KernelContext& context, std::size_t body, IRBuilder<>& builder,
                                     const LaunchFields& fields, ExprEmitter& exprs, BodyArguments arguments)
    : context_(context),
      index_(body),
      body_(context.schedule.bodies[body]),
      builder_(builder),
      exprs_(exprs),
      accesses_(builder, fields.fault),
      arguments_(std::move(arguments)) {
  if (body_.uses_rows)
    for (int axis = 0; axis + 1 < kernel().rank(); ++axis)
      exprs_.set_coordinate(kernel().coordinate(axis), arguments_.outer[static_cast<std::size_t>(axis)]);
  for (std::size_t i = 0; i < kernel().results.size(); ++i)
    outputs_.push_back(fields.buffer(builder_, context_.buffer_of_result(i)));
  load_scalars(fields);
  for (const BodyLoad& load : body_.loads)
    steps_.push_back(load.kind == LoadKind::strided ? exprs_.address(builder_, load.step) : nullptr);
  if (!arguments_.takes_rows || !loads_invariants()) emit_invariants();  // else row by row
  prefetch_next_sums();
  hoist_from_sums({kernel().coordinate(kernel().rank() - 1)});
}

/// Fetches, where results go past the caches, the rows that the sums of the next row add up: one after the other they
/// are too short for a core's hardware prefetcher, and often in descending order.
void VectorBodyEmitter::prefetch_next_sums() {
  if (!body_.uses_rows || body_.lanes == 1 || kernel().rank() == 1 || !has_sums(body_)) return;
  Value* streams = emit_streaming(context_, builder_, exprs_);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(streams); known != nullptr && known->isZero()) return;
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  auto* ahead = llvm::BasicBlock::Create(builder_.getContext(), "ahead", function);
  auto* after = llvm::BasicBlock::Create(builder_.getContext(), "fetched", function);
  builder_.CreateCondBr(streams, ahead, after);
  builder_.SetInsertPoint(ahead);
  const int axis = kernel().rank() - 2;
  Value* here = arguments_.outer[static_cast<std::size_t>(axis)];
  exprs_.set_coordinate(kernel().coordinate(axis), builder_.CreateAdd(here, context_.index(1)));
  for (std::size_t i = 0; i < body_.nodes.size(); ++i)
    if (const BodyNode& node = body_.nodes[i]; node.kind == NodeKind::sum && node.scope < 0)
      static_cast<void>(emit_sum(builder_, exprs_, context_.target, node.dtype, 1, node.walks, [&] {
        prefetch_terms(static_cast<int>(i));
        return std::vector<Value*>{};
      }));
  exprs_.set_coordinate(kernel().coordinate(axis), here);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// Fetches the run's columns of what a sum adds up where its walks stand.
void VectorBodyEmitter::prefetch_terms(int sum) {
  for (const BodyNode& node : body_.nodes) {
    if (node.scope != sum || node.kind != NodeKind::load) continue;
    const BodyLoad& load = body_.loads[static_cast<std::size_t>(node.load)];
    if (load.kind != LoadKind::contiguous) continue;
    const int line = kLineBytes / ir::byte_size(load.dtype);
    counted_loop(builder_, arguments_.begin, arguments_.end, line,
                 [&](Value* column) { prefetch(accesses_.address(vector_of(node.load, column, 1)), Prefetch::far); });
  }
}

void VectorBodyEmitter::hoist_from_sums(Value* column) {
  exprs_.set_coordinate(kernel().coordinate(kernel().rank() - 1), column);
  hoist_from_sums(std::vector<Expr>{});
}

/// Computes once what sums have in common but for what varies, and their walks: where these begin and end, with a
/// division each, and their rows' offsets. LLVM would leave it in the loops, which may not run.
void VectorBodyEmitter::hoist_from_sums(std::vector<Expr> varying) {
  for (const auto& walk : kernel().walk_variables) varying.push_back(walk.variable);
  for (const BodyNode& node : body_.nodes) {
    for (const Walk& walk : node.walks)
      for (const Expr e : {walk.first, walk.step, walk.other, walk.limit}) exprs_.hoist_exact(builder_, e, varying);
    if (node.kind != NodeKind::load || node.scope < 0) continue;
    const BodyLoad& load = body_.loads[static_cast<std::size_t>(node.load)];
    if (has_offset(load)) exprs_.hoist_address(builder_, load.offset, varying);
  }
}

void VectorBodyEmitter::load_scalars(const LaunchFields& fields) {
  for (const BodyNode& node : body_.nodes) {
    if (node.kind != NodeKind::scalar || scalars_.contains(node.scalar)) continue;
    llvm::Type* word = builder_.getInt64Ty();
    Value* slot = builder_.CreateConstGEP1_64(word, fields.scalars, context_.index_of_scalar(node.scalar));
    scalars_[node.scalar] = builder_.CreateLoad(word, slot, "scalar");
  }
}

bool VectorBodyEmitter::is_invariant(const BodyNode& node) const {
  if (node.scope >= 0) return false;
  switch (node.kind) {
    case NodeKind::constant:
    case NodeKind::scalar:
      return true;
    case NodeKind::load:
      return body_.loads[static_cast<std::size_t>(node.load)].kind == LoadKind::invariant;
    case NodeKind::when:
      return false;
    case NodeKind::operation:
      return std::ranges::all_of(node.operands, [&](int o) { return invariant_[static_cast<std::size_t>(o)]; });
    case NodeKind::index:
      return !mentions(node.index, kernel().coordinate(kernel().rank() - 1));
    case NodeKind::sum:
      return false;
  }
  return false;
}

/// Computes values that do not depend on the innermost coordinate once, as scalars, and spreads them.
void VectorBodyEmitter::emit_invariants() {
  invariant_.resize(body_.nodes.size());
  scalar_values_.resize(body_.nodes.size());
  vector_values_.resize(body_.nodes.size());
  for (std::size_t i = 0; i < body_.nodes.size(); ++i) {
    const BodyNode& node = body_.nodes[i];
    invariant_[i] = is_invariant(node);
    if (!invariant_[i]) continue;
    scalar_values_[i] = emit_node(node, context_.index(0), 1, scalar_values_);
    if (body_.lanes > 1)
      vector_values_[i] = builder_.CreateVectorSplat(static_cast<unsigned>(body_.lanes), scalar_values_[i]);
  }
}

bool VectorBodyEmitter::loads_invariants() const {
  return std::ranges::any_of(body_.loads, [](const BodyLoad& load) { return load.kind == LoadKind::invariant; });
}

bool VectorBodyEmitter::moves_pointer(std::size_t load) const {
  return body_.loads[load].kind == LoadKind::contiguous && !has_offset(body_.loads[load]);
}

bool VectorBodyEmitter::counts_elements(std::size_t load) const {
  return !moves_pointer(load) || context_.checks_load(index_, load);
}

VectorBodyEmitter::Row VectorBodyEmitter::first_row() {
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

VectorBodyEmitter::Row VectorBodyEmitter::row_steps() {
  const auto bytes = [&](Value* elements, ir::DType dtype) {
    return builder_.CreateMul(elements, builder_.getInt64(static_cast<std::uint64_t>(ir::byte_size(dtype))));
  };
  Row step;
  step.offset = exprs_.address(builder_, kernel().extents.back());
  for (std::size_t i = 0; i < outputs_.size(); ++i) step.outputs.push_back(bytes(step.offset, result_type(i)));
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    step.bases.push_back(arguments_.loads[i].step);
    step.loads.push_back(moves_pointer(i) ? bytes(arguments_.loads[i].step, body_.loads[i].dtype) : nullptr);
  }
  return step;
}

void VectorBodyEmitter::set_row(const Row& row) {
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

Value* VectorBodyEmitter::emit_node(const BodyNode& node, Value* column, int lanes, const std::vector<Value*>& values) {
  OpEmitter ops(builder_, lanes, context_.target);
  std::vector<Value*> operands;
  for (const int operand : node.operands) operands.push_back(values[static_cast<std::size_t>(operand)]);
  switch (node.kind) {
    case NodeKind::constant:
      return ops.bits(node.dtype, node.bits);
    case NodeKind::scalar:
      return builder_.CreateTrunc(scalars_.at(node.scalar), ops.storage_type(node.dtype));
    case NodeKind::load:
      return emit_load(node.load, column, lanes);
    case NodeKind::when:
      return builder_.CreateSelect(emit_predicate(builder_, exprs_, kernel().graph, node.guard), operands[0],
                                   operands[1]);
    case NodeKind::operation:
      return ops.emit(node.op, node.dtype, body_.operand_type(node), operands);
    case NodeKind::index:
      return spread_index(builder_, context_.exprs(), kernel(), node, emit_index(builder_, exprs_, node), lanes);
    case NodeKind::sum:
      break;  // emit_scope has its loops
  }
  return nullptr;
}

// --- loads ---------------------------------------------------------------------------------------------------------

Access VectorBodyEmitter::access_of(int index, Value* first, Value* guard) {
  const ir::DType dtype = body_.loads[static_cast<std::size_t>(index)].dtype;
  const BodyArguments::Load& load = argument(index);
  Access access{.pointer = load.tensor, .dtype = dtype, .first = first, .guard = guard};
  if (context_.checks_load(index_, static_cast<std::size_t>(index))) {
    access.name = load.name;
    access.extent = load.extent;
  }
  return access;
}

Value* VectorBodyEmitter::base_of(int load) {
  const BodyLoad& which = body_.loads[static_cast<std::size_t>(load)];
  Value* base = argument(load).base;
  return has_offset(which) ? builder_.CreateAdd(base, exprs_.address(builder_, which.offset)) : base;
}

Value* VectorBodyEmitter::emit_load(int index, Value* column, int lanes) {
  const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
  llvm::Type* type = OpEmitter(builder_, lanes, context_.target).storage_type(load.dtype);
  switch (load.kind) {
    case LoadKind::invariant: {
      Value* element = accesses_.load(access_of(index, base_of(index)), type->getScalarType());
      return lanes == 1 ? element : builder_.CreateVectorSplat(static_cast<unsigned>(lanes), element);
    }
    case LoadKind::contiguous:
    case LoadKind::reversed:
      return emit_vector(index, type, column, lanes);
    case LoadKind::strided:
      return emit_strided(index, type, column, lanes);
    case LoadKind::general: {
      Value* offset = exprs_.address(builder_, load.offset);
      Value* guard = load.guard == kAlways ? nullptr : emit_predicate(builder_, exprs_, kernel().graph, load.guard);
      return accesses_.load(access_of(index, offset, guard), type);
    }
  }
  return nullptr;
}

Access VectorBodyEmitter::vector_of(int index, Value* column, int lanes) {
  const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
  const bool reversed = load.kind == LoadKind::reversed;
  Value* base = base_of(index);
  const bool in_row = !reversed && !has_offset(load) && !row_loads_.empty();
  Access access = access_of(index, in_row     ? column
                                   : reversed ? builder_.CreateSub(base, column)
                                              : builder_.CreateAdd(base, column));
  if (in_row) {
    access.pointer = row_loads_[static_cast<std::size_t>(index)].pointer;
    access.origin = base;
  }
  access.displacement = reversed ? 1 - lanes : 0;
  access.elements = lanes;
  return access;
}

/// Elements that lie next to each other, in either order.
Value* VectorBodyEmitter::emit_vector(int index, llvm::Type* type, Value* column, int lanes) {
  const bool reversed = body_.loads[static_cast<std::size_t>(index)].kind == LoadKind::reversed;
  Access access = vector_of(index, column, lanes);
  access.displacement += reversed ? -displacement_ : displacement_;
  Value* vector = accesses_.load(access, type);
  return reversed && lanes > 1 ? builder_.CreateVectorReverse(vector) : vector;
}

Value* VectorBodyEmitter::emit_strided(int index, llvm::Type* type, Value* column, int lanes) {
  Value* step = steps_[static_cast<std::size_t>(index)];
  Value* base = base_of(index);
  Value* offset = builder_.CreateAdd(base, builder_.CreateMul(displaced(column), step));
  if (lanes == 1) return accesses_.load(access_of(index, offset), type);
  return emit_gather(index, type, offset, step, lanes);
}

/// A vector of elements `step` apart.
Value* VectorBodyEmitter::emit_gather(int index, llvm::Type* type, Value* offset, Value* step, int lanes) {
  Value* vector = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < lanes; ++lane) {
    Value* element = accesses_.load(access_of(index, offset), type->getScalarType());
    vector = builder_.CreateInsertElement(vector, element, static_cast<std::uint64_t>(lane));
    offset = builder_.CreateAdd(offset, step);
  }
  return vector;
}

// --- vectors of elements -------------------------------------------------------------------------------------------

std::vector<Value*> VectorBodyEmitter::compute(Value* column, const VectorLoop& loop, int displacement) {
  std::vector<Value*> values = loop.lanes == body_.lanes && loop.lanes > 1 ? vector_values_ : scalar_values_;
  if (loop.lanes > 1 && loop.lanes != body_.lanes)
    for (Value*& value : values)
      if (value != nullptr) value = builder_.CreateVectorSplat(static_cast<unsigned>(loop.lanes), value);
  displacement_ = displacement;
  exprs_.set_coordinate(kernel().coordinate(kernel().rank() - 1), displaced(column));
  emit_scope(-1, column, loop.lanes, values);
  return values;
}

/// Emits the nodes that are made in the walks of one sum, or (-1) of none.
void VectorBodyEmitter::emit_scope(int scope, Value* column, int lanes, std::vector<Value*>& values) {
  for (std::size_t i = 0; i < body_.nodes.size(); ++i) {
    const BodyNode& node = body_.nodes[i];
    if (node.scope != scope || invariant_[i]) continue;
    if (node.kind != NodeKind::sum) {
      values[i] = emit_node(node, column, lanes, values);
      continue;
    }
    values[i] = emit_sum(builder_, exprs_, context_.target, node.dtype, lanes, node.walks, [&] {
      emit_scope(static_cast<int>(i), column, lanes, values);
      std::vector<Value*> terms;
      for (const int operand : node.operands) terms.push_back(values[static_cast<std::size_t>(operand)]);
      return terms;
    });
  }
}

void VectorBodyEmitter::store(Value* column, const VectorLoop& loop, int displacement,
                              const std::vector<Value*>& values) {
  const bool in_row = !row_outputs_.empty();
  Value* first = in_row ? column : builder_.CreateAdd(arguments_.row, column);
  for (std::size_t result = 0; result < body_.roots.size(); ++result) {
    Access access{.pointer = in_row ? row_outputs_[result].pointer : outputs_[result],
                  .dtype = result_type(result),
                  .first = first,
                  .displacement = displacement,
                  .elements = loop.lanes};
    if (in_row) access.origin = row_outputs_[result].origin;
    if (context_.checks_stores(index_)) {
      // Results are dense even where the value is an input, returned, with strides of its own.
      const ir::Layout output = ir::Layout::dense(context_.exprs(), kernel().extents);
      access.name = builder_.getInt64(context_.buffer_of_result(result));
      access.extent = exprs_.word(output.storage_extent());
    }
    Value* value = values[static_cast<std::size_t>(body_.roots[result])];
    accesses_.store(access, value, loop.nontemporal ? StoreHint::nontemporal : StoreHint::none);
  }
}

// --- hints ---------------------------------------------------------------------------------------------------------

/// May name any address: it never faults. An operand bundle, even an empty one, makes the quicker selection
/// (codegen.cpp) leave the block from its begin up to here to a graph, where addresses become part of the instructions:
/// else each would be computed apart, which a copy takes longer for.
void VectorBodyEmitter::prefetch(Value* address, Prefetch how) {
  const bool write = how == Prefetch::write;
  const unsigned locality = how == Prefetch::far ? 2 : 3;  // of 3 goes to the first cache, of 2 to the second
  llvm::Function* prefetch =
      llvm::Intrinsic::getOrInsertDeclaration(&context_.module, llvm::Intrinsic::prefetch, {address->getType()});
  builder_.CreateCall(prefetch,
                      {address, builder_.getInt32(write ? 1 : 0), builder_.getInt32(locality), builder_.getInt32(1)},
                      {llvm::OperandBundleDef("padlock-graph", llvm::ArrayRef<Value*>())});
}

void VectorBodyEmitter::plan_prefetches() {
  Value* end = arguments_.end;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const int size = ir::byte_size(body_.loads[i].dtype);
    ahead_.push_back(context_.index(kLoadsAheadBytes / size));
    gaps_.push_back(nullptr);
    if (!arguments_.takes_rows || body_.loads[i].kind != LoadKind::contiguous) continue;
    if (!has_row_gap(context_.schedule, static_cast<int>(index_), i)) continue;
    // A core's hardware prefetcher follows the order of the lines: to fetch a gap shorter than a row, too, costs less
    // than the misses at the row after it.
    Value* run = builder_.CreateSub(end, arguments_.begin);
    Value* gap = builder_.CreateSub(arguments_.loads[i].step, run);
    Value* is_wide = builder_.CreateICmpSGT(gap, run);
    gaps_.back() = builder_.CreateAdd(end, builder_.CreateSelect(is_wide, context_.index(0), gap));
    Value* rows = builder_.CreateMul(arguments_.loads[i].step, context_.index(kLoadsAheadRows));
    ahead_.back() = builder_.CreateSelect(is_wide, rows, ahead_.back());
  }
}

void VectorBodyEmitter::prefetch_loads(Value* column, const VectorLoop& loop) {
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (body_.loads[i].kind != LoadKind::contiguous) continue;
    Access access = vector_of(static_cast<int>(i), builder_.CreateAdd(column, ahead_[i]), 1);
    const int size = ir::byte_size(access.dtype);
    for (int byte = 0; byte < loop.step() * size; byte += kLineBytes) {
      access.displacement = byte / size;
      prefetch(accesses_.address(access), Prefetch::far);
    }
  }
}

void VectorBodyEmitter::prefetch_gaps() {
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (gaps_[i] == nullptr) continue;
    const int line = kLineBytes / ir::byte_size(body_.loads[i].dtype);
    counted_loop(builder_, arguments_.end, gaps_[i], line, [&](Value* column) {
      prefetch(accesses_.address(vector_of(static_cast<int>(i), column, 1)), Prefetch::near);
    });
  }
}

void VectorBodyEmitter::prefetch_stores() {
  ir::ExprContext& exprs = context_.exprs();
  const Expr row_bytes = exprs.max(context_.abi.row_bytes, exprs.constant(1));
  const Expr rows = exprs.floordiv(exprs.constant(kStoresAheadBytes), row_bytes);
  Value* ahead = exprs_.address(builder_, exprs.mul(rows, kernel().extents.back()));
  Value* length = builder_.CreateSub(arguments_.end, arguments_.begin);
  std::vector<std::pair<Value*, int>> edges;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto moved = [&](Value* from, Value* by) {
      return accesses_.address({.pointer = from, .dtype = result_type(i), .first = by});
    };
    Value* begin = moved(address_of(i, arguments_.begin), ahead);
    // Where a fill begins something else ends.
    if (!body_.loads.empty()) edges.emplace_back(begin, kLineBytes);
    edges.emplace_back(moved(begin, length), kLineBytes);
  }
  // Where no line is shared, none is written through the caches, and to have it there would cost the more.
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  auto* shared = llvm::BasicBlock::Create(builder_.getContext(), "shared", function);
  auto* after = llvm::BasicBlock::Create(builder_.getContext(), "after", function);
  builder_.CreateCondBr(are_aligned(edges), after, shared);
  builder_.SetInsertPoint(shared);
  for (const auto& edge : edges) prefetch(edge.first, Prefetch::write);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

// --- alignment -----------------------------------------------------------------------------------------------------

Value* VectorBodyEmitter::address_of(std::size_t result, Value* column) {
  const bool in_row = !row_outputs_.empty();
  return accesses_.address({.pointer = in_row ? row_outputs_[result].pointer : outputs_[result],
                            .dtype = result_type(result),
                            .first = in_row ? column : builder_.CreateAdd(arguments_.row, column)});
}

/// The low bits of an address, as an index.
Value* VectorBodyEmitter::low_bits(Value* address, int bytes) {
  Value* at = builder_.CreateTrunc(builder_.CreatePtrToInt(address, builder_.getInt64Ty()), context_.index_type());
  return builder_.CreateAnd(at, context_.index(bytes - 1));
}

Value* VectorBodyEmitter::misalignment(Value* column, int lanes) {
  const int size = result_bytes(0);
  // (By a shift: a division would be looked at as one that may be slow.)
  const int shift = std::countr_zero(static_cast<unsigned>(size));
  return builder_.CreateLShr(low_bits(address_of(0, column), lanes * size), context_.index(shift));
}

Value* VectorBodyEmitter::are_aligned(llvm::ArrayRef<std::pair<Value*, int>> addresses) {
  Value* bits = context_.index(0);
  for (const auto& [address, bytes] : addresses) bits = builder_.CreateOr(bits, low_bits(address, bytes));
  return builder_.CreateICmpEQ(bits, context_.index(0));
}

Value* VectorBodyEmitter::stores_are_aligned(Value* column) {
  std::vector<std::pair<Value*, int>> addresses;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    addresses.emplace_back(address_of(i, column), body_.lanes * result_bytes(i));
  return are_aligned(addresses);
}

}  // namespace padlock::compiler
