#include "compiler/emit/host/runs/run_vector.h"
#include "compiler/emit/scalar/emit_ops.h"

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

}  // namespace padlock::compiler
