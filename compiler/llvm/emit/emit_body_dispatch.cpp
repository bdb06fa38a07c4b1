#include "compiler/llvm/emit/emit_body_dispatch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/emit_vector_body.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

namespace {

// --- a body for threads that share a run -----------------------------------------------------------------------------

/// Emits one thread's part of a run that the threads of its team share, where the builder stands, and stands after it.
/// Cooperative strategies have their first and last loop in common, which are scalar: up to the first vector and
/// from the last, or all of the run where there is no vector or the output has no alignment. They are one loop in the
/// code, after the vectors.
class CooperativeBody {
 public:
  CooperativeBody(KernelContext& context, std::size_t body, IRBuilder<>& builder, const LaunchFields& fields,
                  ExprEmitter& exprs, BodyArguments arguments, Value* thread)
      : context_(context),
        body_(context.schedule.bodies[body]),
        builder_(builder),
        exprs_(exprs),
        run_(context.exprs()),
        vector_body_(context, body, builder, fields, exprs, std::move(arguments)),
        thread_(thread) {
    exprs_.set_coordinate(run_.begin, begin());
    exprs_.set_coordinate(run_.end, end());
    exprs_.set_coordinate(run_.segment_begin, vector_body_.arguments().segment_begin);
    exprs_.set_coordinate(run_.segment_end, vector_body_.arguments().segment_end);
  }

  void emit() {
    const std::vector<LoopStrategy>& strategies = body_.strategies;
    const VectorLoop& elements = strategies[0].loops.front();
    if (strategies.size() == 1) {
      Value* from = builder_.CreateAdd(begin(), thread_);
      counted_loop(builder_, from, end(), elements.team, [&](Value* column) { vector_body_.emit(column, elements); });
      return;
    }
    merge_ = block("edges");
    Value* peel = builder_.CreateSub(context_.index(body_.lanes), vector_body_.misalignment(begin(), body_.lanes));
    exprs_.set_coordinate(run_.peel, builder_.CreateAnd(peel, context_.index(body_.lanes - 1)));
    Value* first = exprs_.exact(builder_, exprs_of().add(run_.begin, run_.peel));
    choose(vector_body_.stores_are_aligned(first), "vectors", [&] {
      if (strategies.size() > 2)
        choose(vector_body_.loads_are_aligned(first), "aligned", [&] { emit_vectors(strategies[2]); });
      emit_vectors(strategies[1]);
    });
    go_to_edges(elements);
    emit_edges(elements);
  }

 private:
  [[nodiscard]] ir::ExprContext& exprs_of() const { return context_.exprs(); }
  [[nodiscard]] Value* begin() const { return vector_body_.arguments().begin; }
  [[nodiscard]] Value* end() const { return vector_body_.arguments().end; }
  BasicBlock* block(const char* name) {
    return BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }

  /// `emit` ends in the edges. The builder stands where the condition does not hold.
  template <class Emit>
  void choose(Value* condition, const char* name, Emit&& emit) {
    BasicBlock* chosen = block(name);
    BasicBlock* other = block("other");
    builder_.CreateCondBr(condition, chosen, other);
    builder_.SetInsertPoint(chosen);
    emit();
    builder_.SetInsertPoint(other);
  }

  void go_to_edges(const VectorLoop& head, const VectorLoop& tail) {
    incoming_.push_back({builder_.GetInsertBlock(), exprs_.exact(builder_, head.limit),
                         exprs_.exact(builder_, tail.from), exprs_.exact(builder_, tail.limit)});
    builder_.CreateBr(merge_);
  }
  /// The whole run is its own head.
  void go_to_edges(const VectorLoop& all) {
    Value* limit = exprs_.exact(builder_, all.limit);
    incoming_.push_back({builder_.GetInsertBlock(), limit, limit, limit});
    builder_.CreateBr(merge_);
  }

  /// Emits the loops between the first and the last where the entry conditions hold; elsewhere all columns are edge.
  void emit_vectors(const LoopStrategy& strategy) {
    choose(holds(builder_, exprs_, strategy.entry_conditions), "strategy", [&] {
      if (strategy.kind == LoopStrategyKind::cooperative_realigned)
        vector_body_.set_shifts(exprs_.exact(builder_, strategy.loops[1].from));
      for (std::size_t i = 1; i + 1 < strategy.loops.size(); ++i) emit_loop(strategy.loops[i]);
      go_to_edges(strategy.loops.front(), strategy.loops.back());
    });
    go_to_edges(body_.strategies[0].loops.front());
  }

  /// Emits this thread's vectors of a loop. Where a trip has several, all are loaded before the first is stored, so
  /// that much of it is on its way at once.
  void emit_loop(const VectorLoop& loop) {
    Value* from = exprs_.exact(builder_, loop.from);
    Value* limit = exprs_.exact(builder_, loop.limit);
    Value* offset = builder_.CreateMul(thread_, context_.index(loop.lanes));
    const int stride = loop.lanes * loop.team;
    const int vectors = loop.cyclic ? 1 : loop.unroll;
    // Trips that a team makes together are counted by where they begin, cyclic ones by where the vector does.
    Value* start = loop.cyclic ? builder_.CreateAdd(from, offset) : from;
    Value* reached = counted_loop(builder_, start, limit, stride * vectors, [&](Value* column) {
      if (!loop.cyclic) column = builder_.CreateAdd(column, offset);
      std::vector<std::vector<Value*>> values;
      for (int i = 0; i < vectors; ++i) values.push_back(vector_body_.compute(column, loop, i * stride));
      for (int i = 0; i < vectors; ++i)
        vector_body_.store(column, loop, i * stride, values[static_cast<std::size_t>(i)]);
    });
    // In a cyclic loop each thread ends elsewhere.
    if (loop.cyclic) reached = exprs_.exact(builder_, end_of(exprs_of(), loop));
    exprs_.set_coordinate(loop.end_value, reached);
  }

  /// Emits columns [begin, head end) and [tail begin, end), distributed cyclically as one list.
  void emit_edges(const VectorLoop& elements) {
    builder_.SetInsertPoint(merge_);
    Value* head_end = merged(&Incoming::head_end);
    Value* tail_begin = merged(&Incoming::tail_begin);
    Value* tail_end = merged(&Incoming::tail_end);
    Value* gap = builder_.CreateSub(tail_begin, head_end);
    Value* from = builder_.CreateAdd(begin(), thread_);
    counted_loop(builder_, from, builder_.CreateSub(tail_end, gap), elements.team, [&](Value* at) {
      Value* in_head = builder_.CreateICmpSLT(at, head_end);
      vector_body_.emit(builder_.CreateSelect(in_head, at, builder_.CreateAdd(at, gap)), elements);
    });
  }

  struct Incoming {
    BasicBlock* from;
    Value* head_end;
    Value* tail_begin;
    Value* tail_end;
  };

  Value* merged(Value* Incoming::* which) {
    const bool same =
        std::ranges::all_of(incoming_, [&](const Incoming& edge) { return edge.*which == incoming_[0].*which; });
    if (same) return incoming_[0].*which;
    llvm::PHINode* phi = builder_.CreatePHI(context_.index_type(), static_cast<unsigned>(incoming_.size()));
    for (const Incoming& edge : incoming_) phi->addIncoming(edge.*which, edge.from);
    return phi;
  }

  KernelContext& context_;
  const Body& body_;
  IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  RunVariables run_;
  VectorBodyEmitter vector_body_;
  Value* thread_;
  BasicBlock* merge_ = nullptr;
  std::vector<Incoming> incoming_;  // of merge_
};

// --- which body, and for which run -----------------------------------------------------------------------------------

/// The runs that one body serves.
struct Site {
  /// An edge from a case, to which the calls [first, last) belong.
  struct Incoming {
    BasicBlock* from;
    std::size_t first, last;
  };
  std::vector<const SegmentCall*> calls;  // of all cases
  std::vector<Incoming> incoming;
};

class DispatchEmitter {
 public:
  DispatchEmitter(KernelContext& context, IRBuilder<>& builder, const LaunchFields& fields, ExprEmitter& exprs,
                  RowEmitter& rows, Value* thread)
      : context_(context), builder_(builder), fields_(fields), exprs_(exprs), rows_(rows), thread_(thread) {}

  void emit() {
    std::vector<Site> sites(context_.schedule.bodies.size());
    rows_.emit_row([&](const ScheduledCase& row) {
      for (std::size_t body = 0; body < sites.size(); ++body) {
        Site& site = sites[body];
        const std::size_t first = site.calls.size();
        for (const SegmentCall& call : row.calls)
          if (std::cmp_equal(call.body, body)) site.calls.push_back(&call);
        site.incoming.push_back({builder_.GetInsertBlock(), first, site.calls.size()});
      }
    });
    // Here the edges from all cases meet.
    std::vector<std::pair<Value*, Value*>> ranges;
    for (const Site& site : sites)
      ranges.emplace_back(number(site, &Site::Incoming::first), number(site, &Site::Incoming::last));
    for (std::size_t body = 0; body < sites.size(); ++body) emit_site(body, sites[body], ranges[body]);
  }

 private:
  Value* number(const Site& site, std::size_t Site::Incoming::* which) {
    if (site.incoming.size() == 1) return builder_.getInt32(static_cast<std::uint32_t>(site.incoming[0].*which));
    llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt32Ty(), static_cast<unsigned>(site.incoming.size()));
    for (const Site::Incoming& edge : site.incoming)
      phi->addIncoming(builder_.getInt32(static_cast<std::uint32_t>(edge.*which)), edge.from);
    return phi;
  }

  void emit_site(std::size_t body, const Site& site, std::pair<Value*, Value*> range) {
    if (site.calls.empty()) return;
    if (site.calls.size() == 1) return emit_only_run(body, site, range);
    counted_loop(builder_, range.first, range.second, 1,
                 [&](Value* number) { emit_run(body, look_up(body, site, number)); });
  }

  void emit_only_run(std::size_t body, const Site& site, std::pair<Value*, Value*> range) {
    if (site.incoming.size() == 1) return emit_run(body, rows_.arguments_of(*site.calls[0]));
    BasicBlock* once = rows_.block("once");
    BasicBlock* never = rows_.block("never");
    builder_.CreateCondBr(builder_.CreateICmpSLT(range.first, range.second), once, never);
    builder_.SetInsertPoint(once);
    emit_run(body, rows_.arguments_of(*site.calls[0]));
    builder_.CreateBr(never);
    builder_.SetInsertPoint(never);
  }

  /// The body's arguments for run `number`: a switch over the runs, and a phi for what differs between them.
  BodyArguments look_up(std::size_t body, const Site& site, Value* number) {
    BasicBlock* found = rows_.block("found");
    BasicBlock* none = rows_.block("none");
    llvm::SwitchInst* choice = builder_.CreateSwitch(number, none, static_cast<unsigned>(site.calls.size()));
    builder_.SetInsertPoint(none);
    builder_.CreateUnreachable();
    std::vector<std::pair<BasicBlock*, std::vector<Value*>>> runs;
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      BasicBlock* place = rows_.block("run");
      choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(i)), place);
      builder_.SetInsertPoint(place);
      runs.emplace_back(place, rows_.arguments_of(*site.calls[i]).values());
      builder_.CreateBr(found);
    }
    builder_.SetInsertPoint(found);
    BodyArguments chosen(context_, body);
    std::size_t position = 0;
    chosen.for_each([&](Value*& value, bool) { value = merge(runs, position++); });
    return chosen;
  }

  Value* merge(const std::vector<std::pair<BasicBlock*, std::vector<Value*>>>& runs, std::size_t position) {
    Value* first = runs[0].second[position];
    bool same = true;
    for (const auto& [from, values] : runs) same &= values[position] == first;
    if (same) return first;
    llvm::PHINode* phi = builder_.CreatePHI(first->getType(), static_cast<unsigned>(runs.size()));
    for (const auto& [from, values] : runs) phi->addIncoming(values[position], from);
    return phi;
  }

  void emit_run(std::size_t body, BodyArguments arguments) {
    BasicBlock* work = rows_.block("segment");
    BasicBlock* after = rows_.block("after");
    builder_.CreateCondBr(builder_.CreateICmpSLT(arguments.begin, arguments.end), work, after);
    builder_.SetInsertPoint(work);
    CooperativeBody(context_, body, builder_, fields_, exprs_, std::move(arguments), thread_).emit();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  KernelContext& context_;
  IRBuilder<>& builder_;
  const LaunchFields& fields_;
  ExprEmitter& exprs_;
  RowEmitter& rows_;
  Value* thread_;
};

}  // namespace

void emit_body_dispatch(KernelContext& context, IRBuilder<>& builder, const LaunchFields& fields, ExprEmitter& exprs,
                        RowEmitter& rows, Value* thread) {
  DispatchEmitter(context, builder, fields, exprs, rows, thread).emit();
}

}  // namespace padlock::compiler
