#include "compiler/llvm/emit/grid/emit_segments.h"

#include "compiler/llvm/emit/emit_loop.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

void SegmentEmitter::enter_tile(Value* origin) {
  const auto [row, column] = vector_.wide.divide(vector_.builder, origin, vector_.schedule().columns);
  row0_ = vector_.builder.CreateTrunc(row, vector_.context.index_type());
  column0_ = vector_.builder.CreateTrunc(column, vector_.context.index_type());
}

Value* SegmentEmitter::place(Value* local) {
  llvm::IRBuilder<>& builder = vector_.builder;
  const auto [rows, column] =
      vector_.exprs.divide(builder, builder.CreateAdd(column0_, local), vector_.schedule().columns);
  if (rows_.outer_axes() == 0) return column;
  const std::vector<Value*> coordinates = rows_.unflatten(builder.CreateAdd(row0_, rows));
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
    vector_.exprs.set_coordinate(vector_.schedule().kernel.coordinate(static_cast<int>(axis)), coordinates[axis]);
  return column;
}

void SegmentEmitter::enter_row(Value* column, Value* last) {
  Value* columns = vector_.exprs.exact(vector_.builder, vector_.schedule().columns);
  last_ = vector_.builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, columns);
  rows_.set_columns(column, last_);
}

std::vector<SegmentSite> SegmentEmitter::dispatch_whole(Value* column, Value* last) {
  std::vector<SegmentSite> sites(vector_.schedule().bodies.size());
  enter_row(column, last);
  rows_.emit_row([&](const ScheduledCase& row) { choose_whole(row, column, sites); });
  return sites;
}

std::vector<SegmentSite> SegmentEmitter::dispatch_part(Value* column, Value* last, int known) {
  std::vector<SegmentSite> sites(vector_.schedule().bodies.size());
  enter_row(column, last);
  rows_.emit_row([&](const ScheduledCase& row) { choose_part(row, column, known, sites); });
  return sites;
}

/// The first segment that ends after the column has it. Ends where none is right.
void SegmentEmitter::choose_whole(const ScheduledCase& row, Value* column, std::vector<SegmentSite>& sites) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock* none = vector_.block("none");
  for (const SegmentCall& call : row.calls) {
    BasicBlock* later = &call == &row.calls.back() ? none : vector_.block("later");
    Value* end = rows_.run_end(call);
    if (later != none) {
      BasicBlock* here = vector_.block("segment");
      builder.CreateCondBr(builder.CreateICmpSLT(column, end), here, later);
      builder.SetInsertPoint(here);
    }
    const std::vector<LoopStrategy>& strategies =
        vector_.schedule().bodies[static_cast<std::size_t>(call.body)].strategies;
    if (strategies.size() > 1) {
      vector_.exprs.set_coordinate(run_.begin, column);
      vector_.exprs.set_coordinate(run_.end, end);
      BasicBlock* all = vector_.block("all");
      builder.CreateCondBr(holds(builder, vector_.exprs, strategies[1].entry_conditions), all, none);
      builder.SetInsertPoint(all);
      add_run(call, column, last_, sites);
    } else {
      builder.CreateBr(none);
    }
    builder.SetInsertPoint(later);
  }
  if (row.calls.empty()) builder.CreateBr(none);
  builder.SetInsertPoint(none);
}

/// Finds the body at a column. The known body makes whatever lies between the segments that are tested.
void SegmentEmitter::choose_part(const ScheduledCase& row, Value* column, int known, std::vector<SegmentSite>& sites) {
  llvm::IRBuilder<>& builder = vector_.builder;
  std::vector<const SegmentCall*> calls;
  for (const SegmentCall& call : row.calls)
    if (call.body != known) calls.push_back(&call);
  BasicBlock* none = vector_.block("none");
  for (const SegmentCall* call : calls) {
    const bool is_last = call == calls.back();
    BasicBlock* here = vector_.block("segment");
    BasicBlock* later = is_last ? none : vector_.block("later");
    Value* end = rows_.run_end(*call);
    builder.CreateCondBr(builder.CreateICmpSLT(column, end), here, later);
    builder.SetInsertPoint(here);
    Value* begin = rows_.run_begin(*call);
    BasicBlock* any = vector_.block("any");
    builder.CreateCondBr(builder.CreateICmpSLT(begin, end), any, later);
    builder.SetInsertPoint(any);
    add_run(*call, begin, is_last ? last_ : end, sites);
    builder.SetInsertPoint(later);
  }
  if (calls.empty()) builder.CreateBr(none);
  builder.SetInsertPoint(none);
}

void SegmentEmitter::add_run(const SegmentCall& call, Value* begin, Value* resume, std::vector<SegmentSite>& sites) {
  BodyArguments arguments = rows_.arguments_of(call);
  arguments.begin = begin;
  sites[static_cast<std::size_t>(call.body)].runs.push_back(
      {vector_.builder.GetInsertBlock(), std::move(arguments), resume});
}

SegmentSite::Run SegmentEmitter::enter(SegmentSite& site, std::size_t body) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock* here = vector_.block("body");
  std::vector<std::vector<Value*>> values;
  for (SegmentSite::Run& run : site.runs) {
    llvm::IRBuilder<>(run.from).CreateBr(here);
    values.push_back(run.arguments.values());
    values.back().push_back(run.resume);
  }
  builder.SetInsertPoint(here);
  const auto merged = [&](std::size_t position) -> Value* {
    Value* first = values[0][position];
    bool same = true;
    for (const std::vector<Value*>& run : values) same &= run[position] == first;
    if (same) return first;
    llvm::PHINode* phi = builder.CreatePHI(first->getType(), static_cast<unsigned>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) phi->addIncoming(values[i][position], site.runs[i].from);
    return phi;
  };
  SegmentSite::Run chosen{here, BodyArguments(vector_.context, body), nullptr};
  std::size_t position = 0;
  chosen.arguments.for_each([&](Value*& value, bool) { value = merged(position++); });
  chosen.resume = merged(position);
  return chosen;
}

}  // namespace padlock::compiler
