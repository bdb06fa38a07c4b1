#include "compiler/emit/gpu/vector_grid/emit_segments.h"

#include <algorithm>
#include <utility>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

Value* SegmentEmitter::place(Value* element) {
  if (rows_.outer_axes() == 0) {
    rows_.set_row_data();
    return element;
  }
  const auto [row, column] = vector_.exprs.divide(vector_.builder, element, vector_.schedule().columns);
  rows_.set_row(vector_.row_of_output(row), vector_.context.offset_type());
  if (values_)
    values_->read(row);
  else
    rows_.set_row_data();
  return column;
}

WholeSites SegmentEmitter::dispatch(Value* column, bool whole) {
  WholeSites sites{.bodies = std::vector<SegmentSite>(vector_.schedule().bodies.size())};
  rows_.emit_row([&](const ScheduledCase& row) -> std::vector<Value*> {
    std::optional<Blend> blend = whole ? blend_of(vector_.schedule(), row) : std::nullopt;
    const bool has_columns = blend && !blend->lone_columns.empty();
    // A launch takes several vectors a thread only where rows are beyond blended columns.
    if (!blend || (has_columns && vector_.context.vectors > 1)) {
      choose(row, column, whole, sites.bodies);
    } else if (!has_columns) {
      choose_blend(row, std::move(*blend), column, sites.blends);
    } else {
      Value* beyond =
          vector_.exact(beyond_blended_columns(vector_.context.exprs(), vector_.schedule().columns, vector_.lanes()));
      choose_either(
          vector_.builder.CreateICmpSLE(beyond, vector_.index(0)),
          [&] { choose_blend(row, std::move(*blend), column, sites.blends); },
          [&] { choose(row, column, whole, sites.bodies); });
    }
    return {};
  });
  return sites;
}

/// Emits `first` for where the condition holds, and `second` for elsewhere. The builder then stands where neither
/// chose.
void SegmentEmitter::choose_either(Value* condition, llvm::function_ref<void()> first,
                                   llvm::function_ref<void()> second) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock *narrow = vector_.block("narrow"), *wide = vector_.block("wide"), *none = vector_.block("none");
  builder.CreateCondBr(condition, narrow, wide);
  builder.SetInsertPoint(narrow);
  first();
  builder.CreateBr(none);
  builder.SetInsertPoint(wide);
  second();
  builder.CreateBr(none);
  builder.SetInsertPoint(none);
}

void SegmentEmitter::choose_blend(const ScheduledCase& row, Blend blend, Value* column, std::vector<BlendSite>& sites) {
  llvm::IRBuilder<>& builder = vector_.builder;
  BasicBlock *here = vector_.block("blend"), *none = vector_.block("none");
  Value* last = builder.CreateSub(vector_.exact(vector_.schedule().columns), vector_.index(vector_.lanes()));
  builder.CreateCondBr(builder.CreateICmpSLE(column, last), here, none);
  builder.SetInsertPoint(here);
  std::vector<BodyArguments> segments;
  for (const SegmentCall& call : row.calls)
    segments.push_back(rows_.arguments_of(call, column, vector_.exact(call.end), nullptr));
  auto site = std::ranges::find(sites, blend, &BlendSite::blend);
  if (site == sites.end()) site = sites.insert(site, {.blend = std::move(blend)});
  site->rows.emplace_back(builder.GetInsertBlock(), std::move(segments));
  builder.SetInsertPoint(none);
}

/// The first segment that ends after the column has the column. The builder ends where no segment fits.
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

namespace {

/// Lets open blocks meet, each with its arguments of a body. Returns the arguments where they meet.
BodyArguments meet(const VectorContext& vector, std::vector<std::pair<BasicBlock*, BodyArguments>>& ways,
                   std::size_t body) {
  llvm::IRBuilder<>& builder = vector.builder;
  std::vector<std::vector<Value*>> values;
  for (auto& way : ways) values.push_back(way.second.values());
  const auto merged = [&](std::size_t position) -> Value* {
    Value* first = values[0][position];
    bool same = true;
    for (const std::vector<Value*>& way : values) same &= way[position] == first;
    if (same) return first;
    llvm::PHINode* phi = builder.CreatePHI(first->getType(), static_cast<unsigned>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) phi->addIncoming(values[i][position], ways[i].first);
    return phi;
  };
  BodyArguments chosen(vector.context, body);
  std::size_t position = 0;
  chosen.for_each([&](Value*& value, bool) { value = merged(position++); });
  return chosen;
}

}  // namespace

BodyArguments SegmentEmitter::enter(SegmentSite& site, std::size_t body) {
  BasicBlock* here = vector_.block("body");
  for (const auto& way : site) llvm::IRBuilder<>(way.first).CreateBr(here);
  vector_.builder.SetInsertPoint(here);
  return meet(vector_, site, body);
}

std::vector<BodyArguments> SegmentEmitter::enter(BlendSite& site) {
  BasicBlock* here = vector_.block("blended");
  for (const auto& way : site.rows) llvm::IRBuilder<>(way.first).CreateBr(here);
  vector_.builder.SetInsertPoint(here);
  std::vector<BodyArguments> segments;
  for (std::size_t segment = 0; segment < site.blend.bodies.size(); ++segment) {
    SegmentSite ways;
    for (auto& [block, arguments] : site.rows) ways.emplace_back(block, arguments[segment]);
    segments.push_back(meet(vector_, ways, static_cast<std::size_t>(site.blend.bodies[segment])));
  }
  return segments;
}

}  // namespace padlock::compiler
