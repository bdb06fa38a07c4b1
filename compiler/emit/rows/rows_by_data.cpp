#include <algorithm>

#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/emit/rows/row_changes.h"
#include "compiler/emit/scalar/emit_access.h"

// Rows of which data says what they are. The data of a row is computed before its case is chosen. Rows one after
// another that have the same case and are read at equal distances are taken together: each was looked at by itself, so
// its loads are those of the case, at the places that were proved for it.
namespace padlock::compiler {

RowEmitter::Values RowEmitter::emit_row_data(Values known) {
  const SegmentCall& call = *context_.schedule.row_data_call();
  const auto index = static_cast<std::size_t>(call.body);
  const Body& body = context_.schedule.bodies[index];
  BodyArguments arguments(context_, index);
  set_loads(call, arguments);
  AccessEmitter accesses(builder_, fields_->fault);
  const auto load = [&](const BodyNode& node) -> Value* {
    const auto number = static_cast<std::size_t>(node.load);
    const BodyLoad& which = body.loads[number];
    const BodyArguments::Load& from = arguments.loads[number];
    Value* element = exprs_.address(builder_, which.offset);
    if (context_.in_parts) element = builder_.CreateAdd(element, from.base);
    const auto bytes = static_cast<unsigned>(ir::byte_size(which.dtype));
    Access access{.pointer = from.tensor,
                  .dtype = which.dtype,
                  .first = element,
                  .align = context_.target.aligned_elements ? bytes : 1};
    if (which.guard != kAlways) access.guard = emit_predicate(builder_, exprs_, kernel().graph, which.guard);
    if (context_.checks_load(index, number)) {
      access.name = from.name;
      access.extent = from.extent;
      access.origin = from.origin;
    }
    return accesses.load(access, builder_.getIntNTy(8 * bytes));
  };
  BodyValues values(context_, body, builder_, *fields_, exprs_);
  values.remember(memos_);
  known.resize(body.nodes.size());
  values.emit(1, {.load = load}, known);
  return known;
}

void RowEmitter::remember_searches() {
  if (const SegmentCall* const call = context_.schedule.row_data_call(); call != nullptr)
    memos_ = compiler::remember_searches(builder_, context_.schedule.body_of(*call));
}

bool RowEmitter::has_data(PredicateId predicate) const {
  const Graph& graph = kernel().graph;
  return std::ranges::any_of(graph.conditions_of(predicate),
                             [&](ConditionId id) { return graph.condition(id).expr.has_data(); });
}

std::vector<const LoadSource*> RowEmitter::sources_by_data(const ScheduledCase& which) const {
  std::vector<const LoadSource*> sources;
  for (const SegmentCall& call : which.calls)
    for (const LoadSource& source : call.sources)
      if (source.base.has_data()) sources.push_back(&source);
  return sources;
}

bool RowEmitter::follows_data(const ScheduledCase& which) const {
  if (context_.schedule.row_data_call() == nullptr) return false;
  return !sources_by_data(which).empty() ||
         std::ranges::any_of(path_, [&](const auto& test) { return has_data(test.first); });
}

/// Emits whether row `count` from here has the case, and is read one step after the row before it. The first step is
/// any.
Value* RowEmitter::emit_is_next(Value* count, const ScheduledCase& which, const Values& before, const Values& steps,
                                Values& starts) {
  const std::vector<bool> changes = changes_by_row(context_.schedule);
  Values known = row_data_;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (changes[i]) known[i] = nullptr;
  emit_row_data(std::move(known));
  Value* is_next = builder_.getTrue();
  for (const auto& [predicate, held] : path_) {
    if (!has_data(predicate)) continue;
    Value* holds = emit_predicate(builder_, exprs_, kernel().graph, predicate);
    is_next = builder_.CreateAnd(is_next, held ? holds : builder_.CreateNot(holds));
  }
  Value* is_first = builder_.CreateICmpEQ(count, builder_.getInt64(1));
  const std::vector<const LoadSource*> sources = sources_by_data(which);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    starts.push_back(exprs_.address(builder_, sources[i]->base));
    Value* even = builder_.CreateICmpEQ(builder_.CreateSub(starts[i], before[i]), steps[i]);
    is_next = builder_.CreateAnd(is_next, builder_.CreateOr(is_first, even));
  }
  return is_next;
}

Value* RowEmitter::rows_by_data(const ScheduledCase& which, Value* most) {
  const Expr row = context_.schedule.row_coordinate();
  Value* here = exprs_.exact(builder_, row);
  std::vector<std::pair<Expr, Value*>> data;
  for (const Kernel::WalkVariable& one : kernel().row_variables)
    data.emplace_back(one.variable, exprs_.exact(builder_, one.variable));
  const std::vector<const LoadSource*> sources = sources_by_data(which);
  BasicBlock *before = builder_.GetInsertBlock(), *header = new_block(builder_, "follow");
  BasicBlock *look = new_block(builder_, "look"), *next = new_block(builder_, "follows"),
             *done = new_block(builder_, "run");
  const auto phi = [&](Value* first) {
    llvm::PHINode* made = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    made->addIncoming(first, before);
    return made;
  };
  Values first;
  for (const LoadSource* source : sources) first.push_back(exprs_.address(builder_, source->base));
  builder_.CreateBr(header);
  builder_.SetInsertPoint(header);
  llvm::PHINode* count = phi(builder_.getInt64(1));
  Values starts, steps;
  for (Value* start : first) starts.push_back(phi(start));
  for (std::size_t i = 0; i < sources.size(); ++i) steps.push_back(phi(builder_.getInt64(0)));
  builder_.CreateCondBr(builder_.CreateICmpSLT(count, most), look, done);
  builder_.SetInsertPoint(look);
  exprs_.set_coordinate(row, builder_.CreateAdd(here, count));
  Values there;
  Value* is_next = emit_is_next(count, which, starts, steps, there);
  builder_.CreateCondBr(is_next, next, done);
  builder_.SetInsertPoint(next);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    llvm::cast<llvm::PHINode>(steps[i])->addIncoming(builder_.CreateSub(there[i], starts[i]), next);
    llvm::cast<llvm::PHINode>(starts[i])->addIncoming(there[i], next);
  }
  count->addIncoming(builder_.CreateAdd(count, builder_.getInt64(1)), next);
  builder_.CreateBr(header);
  builder_.SetInsertPoint(done);
  exprs_.set_coordinate(row, here);
  for (const auto& [variable, value] : data) exprs_.set_coordinate(variable, value);
  measured_steps_.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) measured_steps_[sources[i]] = steps[i];
  return count;
}

}  // namespace padlock::compiler
