#include "compiler/emit/gpu/vector_grid/emit_segments.h"

#include <utility>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

Value* SegmentEmitter::place(Value* element) {
  if (rows_.outer_axes() == 0) return element;
  const auto [row, column] = vector_.exprs.divide(vector_.builder, element, vector_.schedule().columns);
  rows_.set_row(vector_.row_of_output(row), vector_.context.offset_type());
  return column;
}

std::vector<SegmentSite> SegmentEmitter::dispatch(Value* column, bool whole) {
  std::vector<SegmentSite> sites(vector_.schedule().bodies.size());
  rows_.emit_row([&](const ScheduledCase& row) -> std::vector<Value*> {
    choose(row, column, whole, sites);
    return {};
  });
  return sites;
}

/// The first segment that ends after the column has it. Ends where none is right.
void SegmentEmitter::choose(const ScheduledCase& row, Value* column, bool whole, std::vector<SegmentSite>& sites) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock* none = vector_.block("none");
  for (const SegmentCall& call : row.calls) {
    const bool is_last = &call == &row.calls.back();
    Value* end = vector_.exact(call.end);
    BasicBlock* later = is_last ? none : vector_.block("later");
    if (!is_last) {
      BasicBlock* here = vector_.block("segment");
      builder.CreateCondBr(builder.CreateICmpSLT(column, end), here, later);
      builder.SetInsertPoint(here);
    }
    const auto body = static_cast<std::size_t>(call.body);
    const std::vector<LoopStrategy>& strategies = vector_.schedule().bodies[body].strategies;
    if (whole && strategies.size() > 1) {
      vector_.set(run_.begin, column);
      vector_.set(run_.end, end);
      BasicBlock* all = vector_.block("all");
      builder.CreateCondBr(vector_.holds(strategies[1].entry_conditions), all, none);
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
