#include "compiler/emit/gpu/vector_grid/element_values.h"

#include <algorithm>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/scalar/emit_ops.h"

namespace padlock::compiler {

ElementValues::ElementValues(const VectorContext& vector, SegmentEmitter& segments)
    : vector_(vector),
      builder_(vector.builder),
      segments_(segments),
      accesses_(builder_, vector.fields.fault),
      nodes_(vector.context, body(), builder_, vector.fields, vector.exprs) {
  for (std::size_t i = 0; i < body().loads.size(); ++i) add_load(i);
  for (const BodyNode& node : body().nodes) add_predicate(node.guard);
}

void ElementValues::add_load(std::size_t number) {
  const KernelContext& context = vector_.context;
  const LoadSource& source = vector_.schedule().cases[0].calls[0].sources[number];
  const BodyLoad& load = body().loads[number];
  const std::size_t buffer = context.buffer_of_input(source.tensor);
  Access access = vector_.access_of(vector_.fields.buffer(builder_, buffer), load.dtype, nullptr);
  if (context.checks_load(0, number)) {
    access.name = builder_.getInt64(buffer);
    access.extent = vector_.exprs.word(kernel().program->value(source.tensor).layout.storage_extent());
  }
  const SplitByColumn split = *split_by_column(kernel(), source);
  const auto is_step = [&](Int128 of) { return split.step.is_constant(of); };
  const Move move = !split.step.valid()         ? Move::uneven
                    : is_step(0)                ? Move::none
                    : is_step(1) || is_step(-1) ? Move::unit
                                                : Move::even;
  loads_.push_back({.move = move,
                    .access = access,
                    .type = OpEmitter(builder_, 1, context.target).storage_type(load.dtype),
                    .guard = load.guard,
                    .split = split});
  Load& added = loads_.back();
  added.access.in_word = move != Move::none && context.target.permutes_bytes && ir::byte_size(load.dtype) == 2;
  if (move != Move::none) added.filled = fill_of(body(), number);
  if (added.filled != nullptr) {
    const BodyNode& fill = body().nodes[static_cast<std::size_t>(added.filled->operands[1])];
    added.access.otherwise = added.access.in_word ? builder_.getInt32(static_cast<std::uint32_t>(fill.bits))
                                                  : OpEmitter(builder_, 1, context.target).bits(fill.dtype, fill.bits);
  }
  add_predicate(load.guard);
}

void ElementValues::add_predicate(PredicateId predicate) {
  if (predicate != kAlways && std::ranges::find(predicates_, predicate) == predicates_.end())
    predicates_.push_back(predicate);
}

std::vector<Value*> ElementValues::emit(Value* first) {
  Value *zero = vector_.index(0), *all = vector_.index(vector_.lanes());
  Value* column = segments_.place(first);
  vector_.exprs.set_inside(true);
  Value* columns = vector_.exact(vector_.schedule().columns);
  own_ = builder_.CreateSub(columns, column);
  Value* end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, own_, all);
  rows_[0] = row_of(column, zero, end);
  segments_.enter_next_row();
  rows_[1] = row_of(builder_.CreateSub(column, columns), end, all);
  for (const PredicateId predicate : predicates_)
    lanes_[predicate] = builder_.CreateOr(rows_[0].lanes[predicate], rows_[1].lanes[predicate]);
  vector_.wait_for_earlier_grids();
  for (std::size_t i = 0; i < loads_.size(); ++i)
    if (loads_[i].move == Move::none) load_of_rows(loads_[i], i);
  std::vector<std::vector<Value*>> elements(loads_.size());
  for (int lane = 0; lane < vector_.lanes(); ++lane)
    for (std::size_t i = 0; i < loads_.size(); ++i) elements[i].push_back(load(loads_[i], i, lane));
  vector_.exprs.set_inside(false);
  std::vector<Value*> loaded;
  for (std::size_t i = 0; i < loads_.size(); ++i) loaded.push_back(vector_of(elements[i], loads_[i]));
  return compute(loaded);
}

/// Joins halves that are in words: of halves in registers of their own, ptxas joins two again for each use.
Value* ElementValues::vector_of(llvm::ArrayRef<Value*> lanes, const Load& load) {
  const unsigned step = load.access.in_word ? 2 : 1;
  llvm::Type* type = step == 2 ? builder_.getInt32Ty() : load.type;
  Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes.size()) / step));
  for (std::size_t i = 0; i < lanes.size(); i += step) {
    Value* element = lanes[i];
    if (step == 2)
      element =
          builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {lanes[i], lanes[i + 1], builder_.getInt32(0x5410)});
    made = builder_.CreateInsertElement(made, element, i / step);
  }
  return builder_.CreateBitCast(made, llvm::FixedVectorType::get(load.type, static_cast<unsigned>(lanes.size())));
}

/// Describes the row whose outer coordinates the expressions have, which has lanes [begin, end).
ElementValues::Row ElementValues::row_of(Value* column, Value* begin, Value* end) {
  Row row{.column = column};
  for (const PredicateId predicate : predicates_) row.lanes[predicate] = lanes_of(predicate, column, begin, end);
  for (const Load& load : loads_) add_start(row, load);
  return row;
}

/// Replaces the starts of a load that is the same in a row's lanes by the elements. A row without lanes loads nothing.
void ElementValues::load_of_rows(const Load& load, std::size_t number) {
  for (Row& row : rows_) {
    Access access = load.access;
    access.first = row.starts[number];
    if (load.guard != kAlways)
      access.guard = builder_.CreateICmpNE(row.lanes.at(load.guard), builder_.getInt32(0));
    else if (&row == &rows_[1])
      access.guard = builder_.CreateICmpSLT(own_, vector_.index(vector_.lanes()));
    row.starts[number] = accesses_.load(access, load.type);
  }
}

/// Lane 0 may be before the tensor's first element. Where lanes are constants from it, its element lies within 32 bits,
/// with a sign, if that of any lane does.
void ElementValues::add_start(Row& row, const Load& load) {
  Value* start = vector_.exprs.address(builder_, load.split.at_first);
  if (load.move != Move::uneven) {
    Value* column = builder_.CreateSExt(row.column, vector_.context.offset_type());
    Value* step = vector_.exprs.address(builder_, load.split.step);
    start = builder_.CreateAdd(start, builder_.CreateMul(column, step));
  }
  if (load.move == Move::unit) {
    start = builder_.CreateSExt(start, builder_.getInt64Ty());
    if (load.access.extent == nullptr) {
      Access access = load.access;
      access.first = start;
      start = accesses_.address(access);
    }
  }
  row.starts.push_back(start);
}

/// Emits the lanes of [begin, end) in which a predicate holds, as bits.
Value* ElementValues::lanes_of(PredicateId predicate, Value* column, Value* begin, Value* end) {
  LaneRange lanes = {begin, end};
  Value* holds = lanes.narrow(vector_, kernel().rank() - 1, predicate, column);
  if (vector_.context.target.sets_bits) {
    // (PTX ISA, bmsk: so many bits from one on.)
    llvm::Type* i32 = builder_.getInt32Ty();
    Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.CreateSub(lanes.end, lanes.first),
                                                  vector_.index(0));
    auto* type = llvm::FunctionType::get(i32, {i32, i32}, false);
    auto* code = llvm::InlineAsm::get(type, "bmsk.clamp.b32 $0, $1, $2;", "=r,r,r", /*hasSideEffects=*/false);
    const auto word = [&](Value* index) { return builder_.CreateTrunc(index, i32); };
    Value* bits = builder_.CreateCall(code, {word(lanes.first), word(count)});
    return builder_.CreateSelect(holds, bits, builder_.getInt32(0));
  }
  holds = builder_.CreateAnd(holds, builder_.CreateICmpSLT(lanes.first, lanes.end));
  // Both are in [0, lanes] if the second is after the first.
  const auto bit = [&](Value* lane) {
    return builder_.CreateShl(builder_.getInt32(1), builder_.CreateTrunc(lane, builder_.getInt32Ty()));
  };
  return builder_.CreateSelect(holds, builder_.CreateSub(bit(lanes.end), bit(lanes.first)), builder_.getInt32(0));
}

/// Returns the value for a lane, which is in the first row or in the second.
Value* ElementValues::of_row(int lane, Value* first, Value* second) {
  if (lane == 0) return first;
  return builder_.CreateSelect(builder_.CreateICmpSGT(own_, vector_.index(lane)), first, second);
}

Value* ElementValues::holds(PredicateId predicate, int lane) {
  Value*& known = tests_[{predicate, lane}];
  if (known != nullptr) return known;
  llvm::Type* i32 = builder_.getInt32Ty();
  Value *lanes = lanes_.at(predicate), *bit = builder_.getInt32(std::uint32_t{1} << lane);
  if (!vector_.context.target.takes_words)
    return known = builder_.CreateICmpNE(builder_.CreateAnd(lanes, bit), builder_.getInt32(0));
  // LLVM would shift first, and test then.
  auto* type = llvm::FunctionType::get(builder_.getInt1Ty(), {i32, i32}, false);
  return known = builder_.CreateCall(
             llvm::InlineAsm::get(type, "{.reg .b32 %t; and.b32 %t, $1, $2; setp.ne.b32 $0, %t, 0;}", "=b,r,n",
                                  /*hasSideEffects=*/false),
             {lanes, bit});
}

Value* ElementValues::load(const Load& load, std::size_t number, int lane) {
  Access access = load.access;
  Value* start = of_row(lane, rows_[0].starts[number], rows_[1].starts[number]);
  access.first = start;
  switch (load.move) {
    case Move::none:
      return start;
    case Move::unit:
      access.displacement = lane * static_cast<std::int64_t>(load.split.step.constant());
      if (start->getType()->isPointerTy()) {
        access.pointer = start;
        access.first = builder_.getInt64(0);
      }
      break;
    case Move::even: {
      Value* step = vector_.exprs.address(builder_, load.split.step);
      access.first = builder_.CreateAdd(start, builder_.CreateMul(step, vector_.context.offset(lane)));
      break;
    }
    case Move::uneven: {
      Value* column = builder_.CreateAdd(of_row(lane, rows_[0].column, rows_[1].column), vector_.index(lane));
      vector_.set(kernel().column(), builder_.CreateZExt(column, vector_.context.offset_type()));
      access.first = builder_.CreateAdd(start, vector_.exprs.address(builder_, load.split.moved));
    }
  }
  if (load.guard != kAlways) access.guard = holds(load.guard, lane);
  return accesses_.load(access, load.type);
}

std::vector<Value*> ElementValues::compute(const std::vector<Value*>& loaded) {
  const auto load_of = [&](const BodyNode& node) { return loaded[static_cast<std::size_t>(node.load)]; };
  const auto choose = [&](const BodyNode& node, Value* value, Value* other) -> Value* {
    if (std::ranges::find(loads_, &node, &Load::filled) != loads_.end()) return value;
    const auto lanes = static_cast<unsigned>(vector_.lanes());
    Value* chosen = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt1Ty(), lanes));
    for (unsigned lane = 0; lane < lanes; ++lane)
      chosen = builder_.CreateInsertElement(chosen, holds(node.guard, static_cast<int>(lane)), std::uint64_t{lane});
    return builder_.CreateSelect(chosen, nodes_.spread(value, vector_.lanes()), nodes_.spread(other, vector_.lanes()));
  };
  BodyValues::Values values(body().nodes.size());
  nodes_.emit(vector_.lanes(), {.load = load_of, .choose = choose}, values);
  std::vector<Value*> results;
  for (const int root : body().roots)
    results.push_back(nodes_.spread(values[static_cast<std::size_t>(root)], vector_.lanes()));
  return results;
}

}  // namespace padlock::compiler
