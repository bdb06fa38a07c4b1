#include "compiler/llvm/emit/grid/emit_segments.h"

#include <tuple>
#include <utility>

#include "compiler/llvm/emit/emit_loop.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

/// A division of 64 bits takes three times the instructions of one in 32, which most blocks can do with.
void SegmentEmitter::begin_at(Value* element) {
  llvm::IRBuilder<>& builder = vector_.builder;
  const auto index = [&](Value* value) { return builder.CreateZExtOrTrunc(value, vector_.context.index_type()); };
  first_column_ = index(element);
  if (rows_.outer_axes() == 0) return;
  const Schedule& schedule = vector_.schedule();
  const auto divide = [&](Value* dividend) {
    const auto [row, column] = vector_.exprs.divide(builder, dividend, schedule.columns);
    return std::pair(index(row), index(column));
  };
  const Int128 most = schedule.exprs().mul(schedule.rows, schedule.columns).range().hi + kLongestTile;
  Value* low = builder.CreateTrunc(element, builder.getInt32Ty());
  const bool is_narrow = vector_.context.index_bits == 32;
  if (most < Int128{1} << 31 || !is_narrow) {
    std::tie(first_row_, first_column_) = divide(is_narrow ? low : element);
    return;
  }
  BasicBlock* narrow = vector_.block("narrow");
  BasicBlock* wide = vector_.block("wide");
  BasicBlock* placed = vector_.block("placed");
  builder.CreateCondBr(builder.CreateICmpEQ(builder.CreateLShr(element, 31), builder.getInt64(0)), narrow, wide);
  llvm::PHINode* row = llvm::PHINode::Create(vector_.context.index_type(), 2, "row", placed);
  llvm::PHINode* column = llvm::PHINode::Create(vector_.context.index_type(), 2, "column", placed);
  for (BasicBlock* way : {narrow, wide}) {
    builder.SetInsertPoint(way);
    const auto [its_row, its_column] = divide(way == narrow ? low : element);
    row->addIncoming(its_row, way);
    column->addIncoming(its_column, way);
    builder.CreateBr(placed);
  }
  builder.SetInsertPoint(placed);
  first_row_ = row;
  first_column_ = column;
}

/// The row and the column of an element.
ExprEmitter::Division SegmentEmitter::row_of(Value* elements) {
  llvm::IRBuilder<>& builder = vector_.builder;
  Value* place = first_column_ == nullptr ? elements : builder.CreateAdd(first_column_, elements);
  ExprEmitter::Division found = vector_.exprs.divide(builder, place, vector_.schedule().columns);
  if (first_row_ != nullptr) found.quotient = builder.CreateAdd(first_row_, found.quotient);
  return found;
}

void SegmentEmitter::fill_table(llvm::function_ref<Value*(Value*)> first_of) {
  table_->fill([&](Value* slot) {
    // The output's first vector may begin before it.
    Value* first =
        vector_.builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first_of(slot), vector_.context.index(0));
    return row_of(first).quotient;
  });
}

Value* SegmentEmitter::place(Value* elements, Value* number) {
  llvm::IRBuilder<>& builder = vector_.builder;
  if (rows_.outer_axes() == 0) return first_column_ == nullptr ? elements : builder.CreateAdd(first_column_, elements);
  const auto [row, column] = row_of(elements);
  if (table_)
    table_->find(row, number);
  else
    rows_.set_row(row, vector_.context.offset_type());
  return column;
}

std::vector<SegmentSite> SegmentEmitter::dispatch(Value* column, bool whole) {
  std::vector<SegmentSite> sites(vector_.schedule().bodies.size());
  const auto emit = [&](const ScheduledCase& row) { choose(row, column, whole, sites); };
  if (table_)
    table_->emit_row(emit);
  else
    rows_.emit_row(emit);
  return sites;
}

/// The first segment that ends after the column has it. Ends where none is right.
void SegmentEmitter::choose(const ScheduledCase& row, Value* column, bool whole, std::vector<SegmentSite>& sites) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock* none = vector_.block("none");
  for (const SegmentCall& call : row.calls) {
    const bool is_last = &call == &row.calls.back();
    Value* end = vector_.exprs.exact(builder, call.end);
    BasicBlock* later = is_last ? none : vector_.block("later");
    if (!is_last) {
      BasicBlock* here = vector_.block("segment");
      builder.CreateCondBr(builder.CreateICmpSLT(column, end), here, later);
      builder.SetInsertPoint(here);
    }
    const auto body = static_cast<std::size_t>(call.body);
    const std::vector<LoopStrategy>& strategies = vector_.schedule().bodies[body].strategies;
    if (whole && strategies.size() > 1) {
      vector_.exprs.set_coordinate(run_.begin, column);
      vector_.exprs.set_coordinate(run_.end, end);
      BasicBlock* all = vector_.block("all");
      builder.CreateCondBr(holds(builder, vector_.exprs, strategies[1].entry_conditions), all, none);
      builder.SetInsertPoint(all);
    }
    if (whole && strategies.size() < 2)
      builder.CreateBr(none);
    else
      sites[body].emplace_back(builder.GetInsertBlock(), rows_.arguments_of(call, column, end, nullptr));
    builder.SetInsertPoint(later);
  }
  if (row.calls.empty()) builder.CreateBr(none);
  builder.SetInsertPoint(none);
}

BodyArguments SegmentEmitter::enter(SegmentSite& site, std::size_t body) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock* here = vector_.block("body");
  std::vector<std::vector<Value*>> values;
  for (auto& [from, arguments] : site) {
    llvm::IRBuilder<>(from).CreateBr(here);
    values.push_back(arguments.values());
  }
  builder.SetInsertPoint(here);
  const auto merged = [&](std::size_t position) -> Value* {
    Value* first = values[0][position];
    bool same = true;
    for (const std::vector<Value*>& segment : values) same &= segment[position] == first;
    if (same) return first;
    llvm::PHINode* phi = builder.CreatePHI(first->getType(), static_cast<unsigned>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) phi->addIncoming(values[i][position], site[i].first);
    return phi;
  };
  BodyArguments chosen(vector_.context, body);
  std::size_t position = 0;
  chosen.for_each([&](Value*& value, bool) { value = merged(position++); });
  return chosen;
}

}  // namespace padlock::compiler
