#include "compiler/emit/host/runs/run_vector.h"
#include "compiler/emit/scalar/emit_ops.h"
#include "compiler/emit/scalar/host_instructions.h"

#include <llvm/Analysis/VectorUtils.h>

// Emits the loads of a body's vector.
namespace padlock::compiler {

Access RunVector::access_of(int index, Value* first, Value* guard) {
  const ir::DType dtype = body_.loads[static_cast<std::size_t>(index)].dtype;
  const BodyArguments::Load& load = argument(index);
  Access access{.pointer = load.tensor, .dtype = dtype, .first = first, .guard = guard};
  if (context_.checks_load(index_, static_cast<std::size_t>(index))) {
    access.name = load.name;
    access.extent = load.extent;
  }
  return access;
}

Value* RunVector::base_of(int load) {
  const ir::Expr offset = body_.loads[static_cast<std::size_t>(load)].offset;
  Value* base = argument(load).base;
  return offset.valid() ? builder_.CreateAdd(base, exprs_.address(builder_, offset)) : base;
}

Value* RunVector::emit_load(int index, Value* column, int lanes) {
  const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
  if (!turned_.empty() && turned_[static_cast<std::size_t>(index)] != nullptr)
    return turned_[static_cast<std::size_t>(index)];
  llvm::Type* type = OpEmitter(builder_, lanes, context_.target).storage_type(load.dtype);
  if (box_row_ != nullptr) return emit_rows(index, type, column);
  switch (load.kind) {
    case LoadKind::invariant:
      return accesses_.load(access_of(index, base_of(index)), type->getScalarType());
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

Access RunVector::vector_of(int index, Value* column, int lanes) {
  const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
  const bool reversed = load.kind == LoadKind::reversed;
  Value* base = base_of(index);
  const bool in_row = !reversed && !has_offset(load);
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

/// Loads elements that lie next to each other, in either order.
Value* RunVector::emit_vector(int index, llvm::Type* type, Value* column, int lanes) {
  const bool reversed = body_.loads[static_cast<std::size_t>(index)].kind == LoadKind::reversed;
  Access access = vector_of(index, column, lanes);
  access.displacement += reversed ? -displacement_ : displacement_;
  mask(access, reversed);
  Value* vector = accesses_.load(access, type);
  return reversed && lanes > 1 ? builder_.CreateVectorReverse(vector) : vector;
}

Value* RunVector::emit_strided(int index, llvm::Type* type, Value* column, int lanes) {
  Value* step = steps_[static_cast<std::size_t>(index)];
  Value* base = base_of(index);
  Value* offset = builder_.CreateAdd(base, builder_.CreateMul(displaced(column), step));
  if (lanes == 1) return accesses_.load(access_of(index, offset), type);
  Value* vector = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < lanes; ++lane) {
    Value* element = accesses_.load(access_of(index, offset), type->getScalarType());
    vector = builder_.CreateInsertElement(vector, element, static_cast<std::uint64_t>(lane));
    offset = builder_.CreateAdd(offset, step);
  }
  return vector;
}

// --- boxes ----------------------------------------------------------------------------------------------------------

Value* RunVector::begin_few_rows(const Turn& turn, Value* to, Value* rows) {
  const TurnedLoad& load = turn.loads.front();
  Value* column = builder_.CreateSub(to, context_.index(load.columns));
  Value* step = steps_[static_cast<std::size_t>(load.load)];
  if (load.columns > 1) block_bytes_ = block_bytes(load.grouped, step, turn.lanes / (load.rows * load.columns));
  Value* last = builder_.CreateAdd(base_of(load.load), builder_.CreateMul(column, step));
  last = builder_.CreateAdd(last, builder_.CreateSub(rows, context_.index(1)));
  exprs_.set_coordinate(TurnVariables(context_.exprs()).storage, argument(load.load).end);
  Value* inside = builder_.CreateICmpSLE(last, exprs_.exact(builder_, load.last_block));
  return builder_.CreateSelect(inside, to, builder_.CreateSub(to, context_.index(turn.left_out)));
}

/// Returns the bytes that regroup `elements` elements of each block, for all blocks of a vector.
Value* RunVector::block_bytes(const BlockBytes& all, Value* elements, int blocks) {
  Value* chosen = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::uint8_t> bytes(all[i].begin(), all[i].end());
    Value* these = llvm::ConstantDataVector::get(builder_.getContext(), bytes);
    Value* is_it = builder_.CreateICmpEQ(elements, context_.index(static_cast<std::int64_t>(i) + 1));
    chosen = chosen == nullptr ? these : builder_.CreateSelect(is_it, these, chosen);
  }
  return llvm::concatenateVectors(builder_, std::vector<Value*>(static_cast<std::size_t>(blocks), chosen));
}

void RunVector::emit_box(const Turn& turn, Value* column, llvm::function_ref<Row(int g)> row_at) {
  std::vector<std::vector<Value*>> vectors(body_.loads.size());  // for each row
  for (int g = 0; g < turn.rows; ++g)
    for (const TurnedLoad& load : turn.loads) {
      if (g % load.rows != 0) continue;
      set_row(row_at(g));
      const std::vector<Value*> rows = emit_turned(load, column, turn.lanes);
      std::vector<Value*>& all = vectors[static_cast<std::size_t>(load.load)];
      all.insert(all.end(), rows.begin(), rows.end());
    }
  turned_.resize(body_.loads.size());
  for (int i = 0; i < turn.rows; ++i) {
    // Rows that do not exist have the last row's place, and the last row is stored after them.
    const int g = turn.few_rows ? turn.rows - 1 - i : i;
    for (std::size_t load = 0; load < vectors.size(); ++load)
      turned_[load] = vectors[load].empty() ? nullptr : vectors[load][static_cast<std::size_t>(g)];
    set_row(row_at(g));
    emit(column, {.from = {}, .limit = {}, .lanes = turn.lanes});
  }
  turned_.clear();
}

/// Loads a block's vectors: of the row that is set and of the rows after it.
std::vector<Value*> RunVector::emit_turned(const TurnedLoad& load, Value* column, int lanes) {
  llvm::Type* element = OpEmitter(builder_, 1, context_.target)
                            .storage_type(body_.loads[static_cast<std::size_t>(load.load)].dtype)
                            ->getScalarType();
  const int block_lanes = load.rows * load.columns;
  auto* block = llvm::FixedVectorType::get(element, static_cast<unsigned>(block_lanes));
  Value* step = steps_[static_cast<std::size_t>(load.load)];
  Value* first = builder_.CreateAdd(base_of(load.load), builder_.CreateMul(column, step));
  Value* from = accesses_.address(access_of(load.load, first));
  const auto moved = [&](Value* pointer, int columns) {
    return builder_.CreateGEP(element, pointer, builder_.CreateMul(step, context_.index(columns)));
  };
  std::vector<Value*> made;
  for (int i = 0; i < load.rows; ++i) {
    Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes)));
    for (int at = 0; at < lanes; at += block_lanes) {
      Value* loaded = builder_.CreateAlignedLoad(block, moved(from, at), llvm::Align(1));
      vector = at == 0 && lanes == block_lanes
                   ? loaded
                   : builder_.CreateInsertVector(vector->getType(), vector, loaded, static_cast<std::uint64_t>(at));
    }
    made.push_back(load.columns == 1 ? vector
                                     : shuffle_bytes(builder_, context_.target.architecture, vector, block_bytes_));
    from = moved(from, load.columns);
  }
  for (const Shuffle& shuffle : load.shuffles)
    made.push_back(builder_.CreateShuffleVector(made[static_cast<std::size_t>(shuffle.first)],
                                                made[static_cast<std::size_t>(shuffle.second)], shuffle.lanes));
  made.erase(made.begin(), made.end() - load.rows);
  return made;
}

// --- rows of few columns --------------------------------------------------------------------------------------------

void RunVector::begin_interleave(const Interleave& interleave) {
  if (interleave.grouped.empty()) return;
  Value* columns = exprs_.address(builder_, context_.schedule.columns);
  const int block = interleave.columns * interleave.block_rows;
  block_bytes_ = block_bytes(interleave.grouped, columns, interleave.lanes / block);
}

void RunVector::emit_interleave(const Interleave& interleave, Value* row) {
  Value* columns = exprs_.address(builder_, context_.schedule.columns);
  std::vector<std::vector<Value*>> results(outputs_.size());  // for each column
  box_row_ = row;
  box_loads_ = &interleave.loads;
  for (int c = 0; c < interleave.columns; ++c) {
    Value* last = builder_.CreateSub(columns, context_.index(1));
    Value* column = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, context_.index(c), last);
    const std::vector<Value*> values = compute(column, {.from = {}, .limit = {}, .lanes = interleave.lanes}, 0);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i].push_back(values[static_cast<std::size_t>(body_.roots[i])]);
  }
  box_row_ = nullptr;
  for (std::size_t i = 0; i < results.size(); ++i) store_rows(interleave, i, std::move(results[i]), row);
}

/// Loads one column of a box: an element of each of its rows, or one element that all rows share.
Value* RunVector::emit_rows(int index, llvm::Type* type, Value* column) {
  const auto load = static_cast<std::size_t>(index);
  const bool along = std::ranges::find(*box_loads_, index) != box_loads_->end();
  const LoadKind kind = body_.loads[load].kind;
  Value* first = kind == LoadKind::strided     ? builder_.CreateMul(column, steps_[load])
                 : kind == LoadKind::reversed  ? builder_.CreateNeg(column)
                 : kind == LoadKind::invariant ? context_.index(0)
                                               : column;
  if (along) first = builder_.CreateAdd(first, box_row_);
  Access access = access_of(index, first);
  if (moves_pointer(load))
    access.pointer = row_loads_[load].pointer;
  else
    access.first = builder_.CreateAdd(first, base_of(index));
  return accesses_.load(access, along ? type : type->getScalarType());
}

void RunVector::store_rows(const Interleave& interleave, std::size_t result, std::vector<Value*> columns, Value* row) {
  for (const Shuffle& shuffle : interleave.shuffles)
    columns.push_back(builder_.CreateShuffleVector(columns[static_cast<std::size_t>(shuffle.first)],
                                                   columns[static_cast<std::size_t>(shuffle.second)], shuffle.lanes));
  columns.erase(columns.begin(), columns.end() - interleave.columns);
  if (!interleave.grouped.empty())
    for (Value*& vector : columns) vector = shuffle_bytes(builder_, context_.target.architecture, vector, block_bytes_);
  const int block = interleave.columns * interleave.block_rows;
  llvm::Type* element = llvm::cast<llvm::VectorType>(columns.front()->getType())->getElementType();
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(block));
  Value* row_elements = exprs_.address(builder_, context_.schedule.columns);
  Value* to = builder_.CreateGEP(element, row_outputs_[result].pointer, builder_.CreateMul(row, row_elements));
  Value* step = builder_.CreateMul(row_elements, context_.index(interleave.block_rows));
  for (int at = 0; at < interleave.lanes; at += block)
    for (Value* vector : columns) {
      Value* part = interleave.lanes == block
                        ? vector
                        : builder_.CreateExtractVector(type, vector, static_cast<std::uint64_t>(at));
      builder_.CreateAlignedStore(part, to, llvm::Align(1));
      to = builder_.CreateGEP(element, to, step);
    }
}

}  // namespace padlock::compiler
