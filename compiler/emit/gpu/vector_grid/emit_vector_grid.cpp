#include "compiler/emit/gpu/vector_grid/emit_vector_grid.h"

#include <map>
#include <optional>
#include <utility>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/gpu/vector_grid/blended_values.h"
#include "compiler/emit/gpu/vector_grid/edge_list.h"
#include "compiler/emit/gpu/vector_grid/element_values.h"
#include "compiler/emit/gpu/vector_grid/emit_segments.h"
#include "compiler/emit/gpu/vector_grid/vector_stores.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

// Kinds of vectors that no body computes whole. Other kinds are the number of a body or, after all bodies, of a blend.
constexpr int kEdge = -1, kNone = -2;

/// A vector whose loads are in flight.
struct LoadedVector {
  Value* slot = nullptr;
  Value* first = nullptr;  // element, as the launch counts
  llvm::PHINode* state = nullptr;
  std::map<std::size_t, std::vector<llvm::PHINode*>> loaded = {};  // by state, of a body or a blend
  std::vector<Blend> blends = {};
};

class VectorGridEmitter {
 public:
  VectorGridEmitter(const VectorContext& vector, Value* thread)
      : vector_(vector),
        context_(vector.context),
        builder_(vector.builder),
        segments_(vector),
        stores_(vector),
        thread_(thread) {
    if (!makes_vectors_alone()) edges_.emplace(vector, thread);
  }

  void emit(Value* block) {
    segments_.load_buffers();
    stores_.load_buffers();
    vector_.set(vector_.grid().phase, stores_.phase());
    vector_.set(vector_.grid().block, block);
    first_ = launched(vector_.grid().first);
    elements_ = vector_.launched_elements(context_.index_type());
    if (makes_vectors_alone()) return emit_alone();
    RowValues* const rows = segments_.row_values();
    if (rows == nullptr) return emit_elements(/*interval=*/0);
    rows->locate(elements_);
    vector_.in_turn(
        [&] {
          vector_.wait_for_earlier_grids();
          rows->write(thread_);
        },
        [&] { emit_elements(/*interval=*/1); });
  }

 private:
  /// A thread's vectors, and whether each is an edge.
  struct Edges {
    std::vector<Value*> slots, are_edges;
  };

  /// Emits the vectors in this interval, the edges in the next.
  void emit_elements(std::uint32_t interval) {
    if (vector_.interval == nullptr) {
      const Edges edges = emit_own_vectors();
      return vector_.when(edges_->any(edges.are_edges), [&] {
        edges_->add(edges.slots, edges.are_edges);
        emit_edges();
      });
    }
    Value* vectors = builder_.CreateICmpULE(vector_.interval, builder_.getInt32(interval));
    vector_.when(vectors, [&] {
      const Edges edges = emit_own_vectors();
      edges_->add(edges.slots, edges.are_edges);
    });
    vector_.when(builder_.CreateNot(vectors), [&] { emit_edges(); });
  }

  Expr launched(Expr e) {
    const Expr elements = context_.exprs().mul(vector_.schedule().rows, vector_.schedule().columns);
    return at_launch(context_.exprs(), vector_.grid(), e, elements, context_.exprs().constant(context_.vectors));
  }

  /// Returns the first element of a vector, counted from the launch's first.
  Value* first_of(Value* slot) {
    vector_.set(vector_.grid().slot, slot);
    return vector_.exact(first_);
  }

  /// Loads all vectors of a thread, then stores those that are no edges.
  Edges emit_own_vectors() {
    std::vector<LoadedVector> vectors;
    for (int i = 0; i < context_.vectors; ++i) vectors.push_back(load(i));
    Edges edges;
    for (const LoadedVector& vector : vectors) {
      store(vector);
      edges.slots.push_back(vector.slot);
      edges.are_edges.push_back(builder_.CreateICmpEQ(vector.state, state(kEdge)));
    }
    return edges;
  }

  void emit_edges() {
    edges_->for_each_element(
        [&](Value* slot, Value* lane) { emit_element_inside(builder_.CreateAdd(first_of(slot), lane)); });
  }

  void emit_element_inside(Value* element) {
    Value* inside = builder_.CreateAnd(builder_.CreateICmpSGE(element, context_.index(0)),
                                       builder_.CreateICmpSLT(element, elements_));
    vector_.when(inside, [&] { emit_element(element); });
  }

  /// Adds the open block in which the builder stands.
  void add_way(Ways& ways, std::vector<Value*> values) {
    ways.emplace_back(builder_.GetInsertBlock(), std::move(values));
  }
  /// Lets all ways meet in the block where the builder then stands.
  std::vector<Value*> end_ways(const Ways& ways) {
    BasicBlock* here = vector_.block("join");
    for (const auto& way : ways) llvm::IRBuilder<>(way.first).CreateBr(here);
    builder_.SetInsertPoint(here);
    return join(builder_, ways);
  }

  /// Returns whether a thread has one vector, and no edges for others.
  [[nodiscard]] bool makes_vectors_alone() const { return vector_.grid().by_element || context_.is_even; }

  /// Emits this thread's vector. One that begins before the output, or ends after it, is stored by elements, as are all
  /// that no vector's store could take.
  void emit_alone() {
    if (vector_.interval == nullptr) return emit_vector_alone();
    Value* is_first = builder_.CreateICmpEQ(vector_.interval, builder_.getInt32(0));
    vector_.when(is_first, [&] { emit_vector_alone(); });
  }
  void emit_vector_alone() {
    Value* first = first_of(thread_);
    BasicBlock *whole = vector_.block("whole"), *part = vector_.block("part"), *done = vector_.block("done");
    Value* last = builder_.CreateSub(elements_, context_.index(vector_.lanes()));
    Value* inside =
        builder_.CreateAnd(builder_.CreateICmpSGE(first, context_.index(0)), builder_.CreateICmpSLE(first, last));
    if (context_.is_even)
      inside = builder_.CreateAnd(inside, builder_.CreateICmpEQ(stores_.phase(), context_.index(0)));
    inside = builder_.CreateAnd(inside, stores_.together());
    if (context_.is_even) {
      store_even(first, inside, whole, part);
    } else {
      builder_.CreateCondBr(inside, whole, part);
      builder_.SetInsertPoint(whole);
      stores_.store_vector(first, ElementValues(vector_, segments_).emit(first));
    }
    builder_.CreateBr(done);
    builder_.SetInsertPoint(part);
    vector_.wait_for_earlier_grids();
    counted_loop(builder_, context_.index(0), context_.index(vector_.lanes()), 1,
                 [&](Value* lane) { emit_element_inside(builder_.CreateAdd(first, lane)); });
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  /// Stores a vector that lies in one segment, from `whole`. Goes to `part` if it is not `inside`. Threads that fill
  /// and threads that load store by one instruction: see `store`.
  void store_even(Value* first, Value* inside, BasicBlock* whole, BasicBlock* part) {
    BasicBlock *none = vector_.block("none"), *joined = vector_.block("joined"), *stores = vector_.block("stores");
    builder_.CreateCondBr(inside, whole, none);
    builder_.SetInsertPoint(whole);
    Value* column = segments_.place(first);
    std::vector<Value*> values = values_at(column, [](ThreadValues& code) { return code.compute_vector(); });
    std::vector<Value*> lacking;
    for (Value* value : values) lacking.push_back(llvm::PoisonValue::get(value->getType()));
    values.push_back(builder_.getTrue());
    lacking.push_back(builder_.getFalse());
    const Ways ways = {{builder_.GetInsertBlock(), values}, {none, lacking}};
    builder_.CreateBr(joined);
    builder_.SetInsertPoint(none);
    builder_.CreateBr(joined);
    builder_.SetInsertPoint(joined);
    values = join(builder_, ways);
    if (vector_.interval == nullptr)
      builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~0U)});
    builder_.CreateCondBr(values.back(), stores, part);
    builder_.SetInsertPoint(stores);
    values.pop_back();
    stores_.store_vector(first, values);
  }

  void emit_element(Value* element) {
    const std::vector<Value*> values =
        values_at(segments_.place(element), [](ThreadValues& code) { return code.compute_element(); });
    if (!values.empty()) stores_.store_element(element, values);
  }

  /// Returns what `compute` makes at a column of the placed row; none if the schedule has no segments.
  std::vector<Value*> values_at(Value* column, llvm::function_ref<std::vector<Value*>(ThreadValues&)> compute) {
    std::vector<SegmentSite> sites = segments_.dispatch_element(column);
    builder_.CreateUnreachable();  // one of the segments has the element
    Ways ways;
    for (std::size_t body = 0; body < sites.size(); ++body) {
      if (sites[body].empty()) continue;
      ThreadValues code(vector_, body, segments_.enter(sites[body], body), column);
      std::vector<Value*> values = compute(code);
      add_way(ways, std::move(values));
    }
    if (!ways.empty()) return end_ways(ways);
    builder_.SetInsertPoint(vector_.block("no_body"));
    return {};
  }

  [[nodiscard]] llvm::ConstantInt* state(int kind) const { return builder_.getInt32(static_cast<std::uint32_t>(kind)); }

  /// Emits the loads of this thread's vector number i, if one segment or blend has all of it; then phis of the loaded
  /// values. The first vector's code waits for earlier grids on every path: right before the loads, when their starts
  /// are found, or at the path's end.
  LoadedVector load(int i) {
    LoadedVector vector{.slot = builder_.CreateAdd(thread_, context_.index(std::int64_t{i} * vector_.grid().threads))};
    vector.first = first_of(vector.slot);
    BasicBlock* join = vector_.block("loaded");
    vector.state = llvm::PHINode::Create(builder_.getInt32Ty(), 4, "state", join);
    bool waits = i == 0 && context_.abi.waits && segments_.row_values() == nullptr;
    if (waits && vector_.schedule().row_data >= 0) {  // read before the starts of loads are known
      vector_.wait_for_earlier_grids();
      waits = false;
    }
    llvm::PHINode* unloaded = vector.state;
    if (waits) unloaded = llvm::PHINode::Create(builder_.getInt32Ty(), 2, "unloaded", vector_.block("unloaded"));
    const auto go_to = [&](llvm::PHINode* phi, Value* value) {
      phi->addIncoming(value, builder_.GetInsertBlock());
      builder_.CreateBr(phi->getParent());
    };
    Value* taken = builder_.CreateICmpSLT(vector.first, elements_);
    Value* inside = builder_.CreateAnd(builder_.CreateICmpSGE(vector.first, context_.index(0)), stores_.together());
    BasicBlock* whole = vector_.block("vector");
    unloaded->addIncoming(builder_.CreateSelect(taken, state(kEdge), state(kNone)), builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateAnd(taken, inside), whole, unloaded->getParent());
    builder_.SetInsertPoint(whole);
    Value* column = segments_.place(vector.first);
    WholeSites sites = segments_.dispatch_whole(column);
    go_to(unloaded, state(kEdge));
    const std::size_t bodies = sites.bodies.size();
    std::vector<std::pair<BasicBlock*, std::vector<Value*>>> loaded(bodies + sites.blends.size());
    const auto add = [&](std::size_t which, auto code) {
      if (waits) vector_.wait_for_earlier_grids();
      loaded[which].second = code.load([&] { go_to(vector.state, state(kEdge)); });
      loaded[which].first = builder_.GetInsertBlock();
      go_to(vector.state, state(static_cast<int>(which)));
    };
    for (std::size_t body = 0; body < bodies; ++body)
      if (!sites.bodies[body].empty())
        add(body, ThreadValues(vector_, body, segments_.enter(sites.bodies[body], body), column));
    for (BlendSite& site : sites.blends) {
      vector.blends.push_back(site.blend);
      add(bodies + vector.blends.size() - 1,
          BlendedValues(vector_, vector.blends.back(), segments_.enter(site), column));
    }
    if (waits) {
      builder_.SetInsertPoint(unloaded->getParent());
      vector_.wait_for_earlier_grids();
      go_to(vector.state, unloaded);
    }
    builder_.SetInsertPoint(join);
    for (std::size_t which = 0; which < loaded.size(); ++which)
      if (loaded[which].first != nullptr) vector.loaded[which] = merge(*vector.state, loaded[which]);
    return vector;
  }

  /// Makes a phi for each value that comes from one of `state`'s blocks. From other blocks the value is undefined.
  std::vector<llvm::PHINode*> merge(llvm::PHINode& state, const std::pair<BasicBlock*, std::vector<Value*>>& from) {
    std::vector<llvm::PHINode*> phis;
    for (Value* value : from.second) {
      llvm::PHINode* phi = builder_.CreatePHI(value->getType(), state.getNumIncomingValues());
      for (BasicBlock* block : state.blocks())
        phi->addIncoming(block == from.first ? value : llvm::PoisonValue::get(value->getType()), block);
      phis.push_back(phi);
    }
    return phis;
  }

  /// Stores all vectors that lie next to each other by one instruction, whichever bodies computed them. A sector of
  /// memory that two vectors share is then written once.
  void store(const LoadedVector& vector) {
    BasicBlock* done = vector_.block("stored");
    llvm::SwitchInst* choice = builder_.CreateSwitch(vector.state, done);
    Ways ways;
    const std::size_t bodies = vector_.schedule().bodies.size();
    for (const auto& [which, phis] : vector.loaded) {
      BasicBlock* place = vector_.block("compute");
      choice->addCase(state(static_cast<int>(which)), place);
      builder_.SetInsertPoint(place);
      const std::vector<Value*> loaded(phis.begin(), phis.end());
      if (which < bodies)
        add_way(ways, ThreadValues(vector_, which, BodyArguments(context_, which), nullptr).compute(loaded));
      else
        add_way(ways, blended(vector.blends[which - bodies]).compute(loaded));
    }
    if (!ways.empty()) {
      stores_.store_vector(vector.first, end_ways(ways));
      builder_.CreateBr(done);
    }
    builder_.SetInsertPoint(done);
  }

  /// Returns the values of a blend whose loads are done.
  BlendedValues blended(const Blend& blend) {
    std::vector<BodyArguments> none;
    for (const int body : blend.bodies) none.emplace_back(context_, static_cast<std::size_t>(body));
    return {vector_, blend, std::move(none), nullptr};
  }

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  SegmentEmitter segments_;
  VectorStores stores_;
  std::optional<EdgeList> edges_;  // of vectors that are not made alone
  Value* thread_;
  Expr first_ = {};            // element of a vector
  Value* elements_ = nullptr;  // elements that the launch writes
};

}  // namespace

void emit_vectors(const VectorContext& vector, Value* block, Value* thread) {
  VectorGridEmitter(vector, thread).emit(block);
}

}  // namespace padlock::compiler
