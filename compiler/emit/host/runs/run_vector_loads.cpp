#include "compiler/emit/host/runs/run_vector.h"
#include "compiler/emit/scalar/emit_ops.h"

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

/// Elements that lie next to each other, in either order.
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

void RunVector::emit_box(const Turn& turn, Value* column, llvm::function_ref<Row(int g)> row_at) {
  std::vector<std::vector<Value*>> vectors(body_.loads.size());  // of each row
  for (int g = 0; g < turn.rows; ++g)
    for (const TurnedLoad& load : turn.loads) {
      if (g % load.rows != 0) continue;
      set_row(row_at(g));
      const std::vector<Value*> rows = emit_turned(load, column, turn.lanes);
      std::vector<Value*>& all = vectors[static_cast<std::size_t>(load.load)];
      all.insert(all.end(), rows.begin(), rows.end());
    }
  turned_.resize(body_.loads.size());
  for (int g = 0; g < turn.rows; ++g) {
    for (std::size_t i = 0; i < vectors.size(); ++i)
      turned_[i] = vectors[i].empty() ? nullptr : vectors[i][static_cast<std::size_t>(g)];
    set_row(row_at(g));
    emit(column, {.from = {}, .limit = {}, .lanes = turn.lanes});
  }
  turned_.clear();
}

/// The vectors of the row that is set and of those after it, which a block has.
std::vector<Value*> RunVector::emit_turned(const TurnedLoad& load, Value* column, int lanes) {
  llvm::Type* element = OpEmitter(builder_, 1, context_.target)
                            .storage_type(body_.loads[static_cast<std::size_t>(load.load)].dtype)
                            ->getScalarType();
  auto* block = llvm::FixedVectorType::get(element, static_cast<unsigned>(load.rows));
  Value* step = steps_[static_cast<std::size_t>(load.load)];
  Value* first = builder_.CreateAdd(base_of(load.load), builder_.CreateMul(column, step));
  Value* from = accesses_.address(access_of(load.load, first));
  const auto moved = [&](Value* pointer, int columns) {
    return builder_.CreateGEP(element, pointer, builder_.CreateMul(step, context_.index(columns)));
  };
  std::vector<Value*> made;
  for (int i = 0; i < load.rows; ++i) {
    std::vector<Value*> blocks;
    for (int at = 0; at < lanes; at += load.rows)
      blocks.push_back(builder_.CreateAlignedLoad(block, moved(from, at), llvm::Align(1)));
    made.push_back(llvm::concatenateVectors(builder_, blocks));
    from = moved(from, 1);
  }
  for (const Shuffle& shuffle : load.shuffles)
    made.push_back(builder_.CreateShuffleVector(made[static_cast<std::size_t>(shuffle.first)],
                                                made[static_cast<std::size_t>(shuffle.second)], shuffle.lanes));
  made.erase(made.begin(), made.end() - load.rows);
  return made;
}

}  // namespace padlock::compiler
