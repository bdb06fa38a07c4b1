#include "compiler/llvm/emit/grid/emit_stream.h"

#include <optional>
#include <utility>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/grid/emit_edge_vector.h"
#include "compiler/llvm/emit/grid/emit_segments.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::Value;

namespace {

// Kinds of vectors that no body makes whole; else the number of that body stands in their place.
constexpr int kEdge = -1, kNone = -2;

/// A vector whose loads are on their way.
struct LoadedVector {
  Value* slot = nullptr;
  Value* local = nullptr;  // first element, from the tile's
  llvm::PHINode* state = nullptr;
  std::vector<std::vector<llvm::PHINode*>> loaded = {};  // by body
};

class StreamEmitter {
 public:
  explicit StreamEmitter(const VectorContext& vector)
      : vector_(vector), context_(vector.context), builder_(vector.builder), segments_(vector), stores_(vector) {}

  void emit(Value* block, Value* thread, Value* blocks) {
    segments_.load_buffers();
    stores_.load_buffers();
    thread_ = thread;
    const Schedule& schedule = vector_.schedule();
    vector_.wide.set_coordinate(vector_.grid().phase, stores_.phase());
    Value* tiles = vector_.wide.exact(builder_, schedule.tiles());
    Value* step = vector_.element(blocks);
    counted_loop(builder_, vector_.element(block), tiles, step, [&](Value* tile) {
      emit_tile(tile);
      // All are done with the list before it is cleared for another tile.
      when(builder_.CreateICmpSLT(builder_.CreateAdd(tile, step), tiles), [&] { barrier(); });
    });
  }

 private:
  [[nodiscard]] Value* index(Value* word) const { return builder_.CreateTrunc(word, context_.index_type()); }

  void emit_tile(Value* tile) {
    const Schedule& schedule = vector_.schedule();
    const VectorGrid& grid = vector_.grid();
    ir::ExprContext& exprs = context_.exprs();
    const Expr elements = exprs.mul(schedule.rows, schedule.columns);
    const Expr used = schedule.used_vectors();
    vector_.wide.set_coordinate(grid.tile, tile);
    Value* first = vector_.wide.exact(builder_, at_launch(exprs, grid, grid.tile_first, elements, used));
    Value* origin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, builder_.getInt64(0));
    before_ = index(builder_.CreateSub(origin, first));
    Value* left = builder_.CreateSub(vector_.wide.word(elements), origin);
    // More than any tile has.
    left = index(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, builder_.getInt64(1 << 30)));
    used_ = index(vector_.wide.word(used));
    segments_.enter_tile(origin);
    stores_.enter_tile(origin, left);
    emit_thread_vectors(left);
  }

  /// This thread's vector number i.
  Value* slot_of(int i) {
    return builder_.CreateAdd(thread_, context_.index(std::int64_t{i} * vector_.grid().threads));
  }
  /// The first element of a vector, from the tile's first.
  Value* local_of(Value* slot) {
    return builder_.CreateSub(builder_.CreateMul(slot, context_.index(vector_.lanes())), before_);
  }

  // The block's list of edges: a count, then slots.

  [[nodiscard]] Value* edge_word(Value* index) const {
    return builder_.CreateGEP(builder_.getInt32Ty(), vector_.edges, index);
  }
  void add_edge(Value* slot) {
    Value* at = builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, vector_.edges, builder_.getInt32(1), llvm::Align(4),
                                         llvm::AtomicOrdering::Monotonic);
    builder_.CreateStore(builder_.CreateZExtOrTrunc(slot, builder_.getInt32Ty()),
                         edge_word(builder_.CreateAdd(at, builder_.getInt32(1))));
  }
  void barrier() {
    if (vector_.part == nullptr)
      builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {builder_.getInt32(0)});
  }
  /// The list is empty for all threads after the next barrier.
  void clear_edges() {
    if (vector_.part != nullptr) return;  // who calls the threads does it
    when(builder_.CreateICmpEQ(thread_, context_.index(0)),
         [&] { builder_.CreateStore(builder_.getInt32(0), vector_.edges); });
  }
  template <class Emit>
  void when(Value* condition, Emit&& emit) {
    BasicBlock* then = vector_.block("then");
    BasicBlock* after = vector_.block("after");
    builder_.CreateCondBr(condition, then, after);
    builder_.SetInsertPoint(then);
    emit();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  void emit_thread_vectors(Value* left) {
    clear_edges();
    if (vector_.part != nullptr) {
      when(builder_.CreateICmpEQ(vector_.part, builder_.getInt32(0)), [&] { emit_own_vectors(left); });
      when(builder_.CreateICmpEQ(vector_.part, builder_.getInt32(1)), [&] { emit_edges(left); });
      return;
    }
    emit_own_vectors(left);
    barrier();
    emit_edges(left);
  }

  void emit_edges(Value* left) {
    Value* count = builder_.CreateLoad(builder_.getInt32Ty(), vector_.edges);
    Value* first = builder_.CreateZExtOrTrunc(thread_, builder_.getInt32Ty());
    counted_loop(builder_, first, count, vector_.grid().threads, [&](Value* i) {
      Value* slot = builder_.CreateLoad(builder_.getInt32Ty(), edge_word(builder_.CreateAdd(i, builder_.getInt32(1))));
      emit_edge_vector(vector_, segments_, stores_, local_of(builder_.CreateZExtOrTrunc(slot, context_.index_type())),
                       left);
    });
  }

  void emit_own_vectors(Value* left) {
    std::vector<LoadedVector> vectors;
    for (int i = 0; i < vector_.grid().vectors; ++i) vectors.push_back(load(i, left));
    barrier();  // the loads are on their way
    for (const LoadedVector& vector : vectors) store(vector);
  }

  /// Emits the loads of a vector that is all of one segment's, behind the phis of what is loaded.
  LoadedVector load(int i, Value* left) {
    LoadedVector made{.slot = slot_of(i)};
    made.local = local_of(made.slot);
    BasicBlock* join = vector_.block("loaded");
    made.state = llvm::PHINode::Create(builder_.getInt32Ty(), 4, "state", join);
    const auto to_join = [&](Value* state) {
      made.state->addIncoming(state, builder_.GetInsertBlock());
      builder_.CreateBr(join);
    };
    Value* edge = builder_.getInt32(static_cast<std::uint32_t>(kEdge));
    Value* none = builder_.getInt32(static_cast<std::uint32_t>(kNone));
    Value* taken = builder_.CreateICmpSLT(made.local, left);
    if (i > 0) taken = builder_.CreateAnd(taken, builder_.CreateICmpSGT(used_, context_.index(i)));
    Value* inside = builder_.CreateICmpSGE(made.local, context_.index(0));
    inside = builder_.CreateAnd(inside, stores_.together());
    BasicBlock* whole = vector_.block("vector");
    Value* otherwise = builder_.CreateSelect(taken, edge, none);
    made.state->addIncoming(otherwise, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateAnd(taken, inside), whole, join);
    builder_.SetInsertPoint(whole);
    Value* column = segments_.place(made.local);
    Value* last = builder_.CreateAdd(column, context_.index(vector_.lanes()));
    std::vector<SegmentSite> sites = segments_.dispatch_whole(column, last);
    to_join(edge);
    std::vector<std::vector<std::pair<BasicBlock*, std::vector<Value*>>>> loaded(sites.size());
    for (std::size_t body = 0; body < sites.size(); ++body) {
      if (sites[body].runs.empty()) continue;
      StreamBody code(vector_, body, segments_.enter(sites[body], body).arguments);
      code.set_lanes(column, context_.index(0), context_.index(vector_.lanes()));
      Value* safe = code.granules_are_inside();
      BasicBlock* loads = vector_.block("loads");
      made.state->addIncoming(edge, builder_.GetInsertBlock());
      builder_.CreateCondBr(safe, loads, join);
      builder_.SetInsertPoint(loads);
      std::vector<Value*> values = code.load();
      loaded[body].emplace_back(builder_.GetInsertBlock(), std::move(values));
      to_join(builder_.getInt32(static_cast<std::uint32_t>(body)));
    }
    builder_.SetInsertPoint(join);
    made.loaded.resize(sites.size());
    for (std::size_t body = 0; body < sites.size(); ++body)
      if (!loaded[body].empty()) made.loaded[body] = merge(*made.state, loaded[body].front());
    return made;
  }

  /// A phi for each value that comes from one of the blocks that `state` comes from; from others it is any.
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

  void store(const LoadedVector& vector) {
    BasicBlock* done = vector_.block("stored");
    llvm::SwitchInst* choice = builder_.CreateSwitch(vector.state, done);
    for (std::size_t body = 0; body < vector.loaded.size(); ++body) {
      if (vector_.schedule().bodies[body].strategies.size() < 2) continue;
      BasicBlock* place = vector_.block("store");
      choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(body)), place);
      builder_.SetInsertPoint(place);
      const std::vector<Value*> loaded(vector.loaded[body].begin(), vector.loaded[body].end());
      StreamBody code(vector_, body, BodyArguments(context_, body));
      stores_.store_vector(vector.local, code.compute(loaded));
      builder_.CreateBr(done);
    }
    BasicBlock* edge = vector_.block("edge");
    choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(kEdge)), edge);
    builder_.SetInsertPoint(edge);
    add_edge(vector.slot);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  SegmentEmitter segments_;
  VectorStores stores_;
  Value* thread_ = nullptr;
  Value *before_ = nullptr, *used_ = nullptr;  // of the tile: elements of its first vector before the output
};

}  // namespace

void emit_vectors(const VectorContext& vector, Value* block, Value* thread, Value* blocks) {
  StreamEmitter(vector).emit(block, thread, blocks);
}

}  // namespace padlock::compiler
