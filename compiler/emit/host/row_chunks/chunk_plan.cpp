#include "compiler/emit/host/row_chunks/chunk_plan.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/schedule/model/row_chunks.h"

namespace padlock::compiler {

using llvm::PHINode;

RowChunkPlan::RowChunkPlan(const RowChunks& rows) : vectors_(static_cast<std::size_t>(rows.loop.vectors)) {
  for (const BodyNode& node : rows.body.nodes)
    if (node.kind == NodeKind::when && std::ranges::find(guards_, node.guard) == guards_.end())
      guards_.push_back(node.guard);
  const std::size_t lanes = vectors_ * static_cast<std::size_t>(rows.loop.lanes);
  const auto table = [&](std::size_t bytes) {
    const std::size_t begin = bytes_;
    bytes_ = (begin + lanes * bytes + kAlign - 1) / kAlign * kAlign;
    return begin;
  };
  bytes_ = (word(load_words(rows.body.loads.size())) + kAlign - 1) / kAlign * kAlign;
  for (const BodyLoad& load : rows.body.loads)
    sources_.push_back(table(static_cast<std::size_t>(ir::byte_size(load.dtype))));
  for (std::size_t i = 0; i < guards_.size(); ++i) masks_.push_back(table(1));
}

namespace {

// Beyond any offset, and so that a difference of two fits.
constexpr std::int64_t kNone = std::int64_t{1} << 61;

/// Emits the planner: one loop over the elements of a chunk, row by row, which gives each the next lane of a vector, or
/// the first of the next vector.
class ChunkPlanEmitter : private FunctionEmitter {
  // A chunk has to store, or to advance a load by, this part of the elements that its lanes could hold. Rows whose
  // sources lie far apart fill few lanes of a window, and are faster one by one.
  static constexpr int kLeastPercent = 40;

 public:
  ChunkPlanEmitter(KernelContext& context, const RowChunks& rows, const std::string& name)
      : FunctionEmitter(context, make_function(context, name)), rows_(rows), plan_(rows) {}

  llvm::Function* emit() {
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock* each = block("lane");
    BasicBlock* placed = block("placed");
    BasicBlock* done = block("done");
    clear_starts();
    builder_.CreateBr(each);

    builder_.SetInsertPoint(each);
    Lane lane = make_phis(start);
    const Lane next = place(lane);
    Value* has_place = builder_.CreateICmpSLT(next.vector, index(rows_.loop.vectors));
    builder_.CreateCondBr(builder_.CreateAnd(has_place, next.in_chunk), placed, done);
    builder_.SetInsertPoint(placed);
    write(next);
    advance(lane, next);
    builder_.CreateBr(each);

    builder_.SetInsertPoint(done);
    store_word(RowChunkPlan::rows(), lane.row);
    end_positions(lane);
    for (std::size_t load = 0; load < loads(); ++load) finish_windows(load);
    scope_.end(builder_.CreateICmpSGE(most_moved(lane.row), index(kLeastPercent * capacity() / 100)));
    return scope_.function;
  }

 private:
  static llvm::Function* make_function(KernelContext& context, const std::string& name) {
    llvm::LLVMContext& llvm = context.module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(llvm, 0);
    auto* type = llvm::FunctionType::get(llvm::Type::getInt1Ty(llvm), {pointer, pointer}, false);
    return make_internal_function(context, type, name, /*selects_by_graph=*/true);
  }

  /// An element of the chunk and its lane; for each load, what it needs for the lane, and for the vector so far.
  struct Lane {
    Value *element, *row, *column;
    Value *vector, *filled;
    std::vector<Value*> low, high;
    std::vector<Value*> source = {}, holds = {};
    Value* in_chunk = nullptr;  ///< whether it is in the windows that all vectors share
  };

  [[nodiscard]] std::size_t loads() const { return rows_.body.loads.size(); }
  [[nodiscard]] int capacity() const { return rows_.loop.vectors * rows_.loop.lanes; }
  Value* most_moved(Value* rows) {
    Value* most = exprs_.exact(builder_, context_.schedule.columns);
    for (const LoadSource& source : rows_.sources) most = larger(most, exprs_.address(builder_, source.step));
    return builder_.CreateMul(rows, most);
  }
  Value* at_byte(std::size_t offset, Value* more = nullptr) {
    Value* address = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scope_.argument(1), offset);
    return more == nullptr ? address : builder_.CreateGEP(builder_.getInt8Ty(), address, more);
  }
  void store_word(std::size_t offset, Value* value) { builder_.CreateStore(value, at_byte(offset)); }
  Value* load_word(std::size_t offset) { return builder_.CreateLoad(i64_, at_byte(offset)); }

  /// (A lane that no element is given takes whichever of its window: it is stored again.)
  void clear_starts() {
    for (std::size_t load = 0; load < loads(); ++load)
      for (int vector = 0; vector < rows_.loop.vectors; ++vector) store_word(plan_.start(load, vector), index(kNone));
  }

  /// Vectors that no element is given store past the chunk.
  void end_positions(const Lane& end) {
    bool may_lack = false;  // elements for all vectors
    for (std::size_t load = 0; load < loads(); ++load) may_lack |= has_one_window(kernel(), rows_, load);
    if (!may_lack) return;
    for (int vector = 1; vector < rows_.loop.vectors; ++vector) {
      Value* used = builder_.CreateICmpSLE(index(vector), end.vector);
      Value* position = load_word(plan_.position(vector));
      store_word(plan_.position(vector), builder_.CreateSelect(used, position, end.element));
    }
  }

  Lane make_phis(BasicBlock* before) {
    const auto phi = [&](std::int64_t first) {
      PHINode* made = builder_.CreatePHI(i64_, 2);
      made->addIncoming(index(first), before);
      return made;
    };
    Lane lane{
        .element = phi(0), .row = phi(0), .column = phi(0), .vector = phi(0), .filled = phi(0), .low = {}, .high = {}};
    for (std::size_t i = 0; i < loads(); ++i) {
      lane.low.push_back(phi(kNone));
      lane.high.push_back(phi(-kNone));
    }
    return lane;
  }

  /// Gives the element its lane: the next of the vector if all that is loaded for it is in the windows, else the first
  /// of the next vector.
  Lane place(const Lane& lane) {
    exprs_.set_coordinate(kernel().column(), lane.column);
    std::map<PredicateId, Value*> held;
    const auto holds = [&](PredicateId predicate) {
      Value*& value = held[predicate];
      if (value == nullptr) value = emit_predicate(builder_, exprs_, kernel().graph, predicate);
      return value;
    };
    Lane next = lane;
    next.in_chunk = builder_.getTrue();
    Value* fits = builder_.CreateICmpSLE(lane.filled, exprs_.exact(builder_, rows_.loop.filled_limit));
    std::vector<Value*> alone_low, alone_high;
    for (std::size_t i = 0; i < loads(); ++i) {
      const BodyLoad& load = rows_.body.loads[i];
      Value* moved = builder_.CreateMul(exprs_.address(builder_, rows_.sources[i].step), lane.row);
      next.source.push_back(builder_.CreateAdd(moved, exprs_.address(builder_, load.offset)));
      Value* needed = holds(load.guard);
      alone_low.push_back(builder_.CreateSelect(needed, next.source[i], index(kNone)));
      alone_high.push_back(builder_.CreateSelect(needed, next.source[i], index(-kNone)));
      next.low[i] = smaller(lane.low[i], alone_low[i]);
      next.high[i] = larger(lane.high[i], alone_high[i]);
      Value* span = builder_.CreateSub(next.high[i], next.low[i]);
      Value* in_window = builder_.CreateICmpSLE(span, exprs_.exact(builder_, rows_.loop.span_limit));
      Value*& all = has_one_window(kernel(), rows_, i) ? next.in_chunk : fits;
      all = builder_.CreateAnd(all, in_window);
    }
    for (const PredicateId guard : plan_.guards()) next.holds.push_back(holds(guard));
    const auto either = [&](Value* same, Value* fresh) { return builder_.CreateSelect(fits, same, fresh); };
    next.vector = either(lane.vector, builder_.CreateAdd(lane.vector, index(1)));
    next.filled = either(lane.filled, index(0));
    for (std::size_t i = 0; i < loads(); ++i) {
      if (has_one_window(kernel(), rows_, i)) continue;
      next.low[i] = either(next.low[i], alone_low[i]);
      next.high[i] = either(next.high[i], alone_high[i]);
    }
    return next;
  }

  /// Writes the lane, and what is known of its vector so far. (A window that all share begins where its first element
  /// is, since elements follow each other: the same for all vectors but those before it.)
  void write(const Lane& lane) {
    Value* word = builder_.CreateShl(lane.vector, index(3));
    builder_.CreateStore(builder_.CreateSub(lane.element, lane.filled), at_byte(plan_.position(0), word));
    Value* place = builder_.CreateAdd(builder_.CreateMul(lane.vector, index(rows_.loop.lanes)), lane.filled);
    for (std::size_t i = 0; i < loads(); ++i) {
      builder_.CreateStore(lane.low[i], at_byte(plan_.start(i, 0), word));
      const int size = ir::byte_size(rows_.body.loads[i].dtype);
      Value* source = builder_.CreateTrunc(lane.source[i], builder_.getIntNTy(8 * static_cast<unsigned>(size)));
      builder_.CreateAlignedStore(source, at_byte(plan_.sources(i), builder_.CreateMul(place, index(size))),
                                  llvm::Align(1));
    }
    for (std::size_t i = 0; i < plan_.guards().size(); ++i)
      builder_.CreateStore(builder_.CreateSExt(lane.holds[i], builder_.getInt8Ty()), at_byte(plan_.mask(i), place));
  }

  void advance(const Lane& lane, const Lane& next) {
    const auto set = [&](Value* phi, Value* value) {
      llvm::cast<PHINode>(phi)->addIncoming(value, builder_.GetInsertBlock());
    };
    Value* column = builder_.CreateAdd(lane.column, index(1));
    Value* ends = builder_.CreateICmpSGE(column, exprs_.exact(builder_, context_.schedule.columns));
    set(lane.element, builder_.CreateAdd(lane.element, index(1)));
    set(lane.column, builder_.CreateSelect(ends, index(0), column));
    set(lane.row, builder_.CreateAdd(lane.row, builder_.CreateZExt(ends, i64_)));
    set(lane.vector, next.vector);
    set(lane.filled, builder_.CreateAdd(next.filled, index(1)));
    for (std::size_t i = 0; i < loads(); ++i) {
      set(lane.low[i], next.low[i]);
      set(lane.high[i], next.high[i]);
    }
  }

  /// Counts the windows of a load from the first. A vector that loads nothing takes the first, too.
  void finish_windows(std::size_t load) {
    Value* lowest = index(kNone);
    Value* highest = index(-kNone);
    std::vector<Value*> starts;
    for (int vector = 0; vector < rows_.loop.vectors; ++vector) {
      starts.push_back(load_word(plan_.start(load, vector)));
      lowest = smaller(lowest, starts.back());
      Value* none = builder_.CreateICmpEQ(starts.back(), index(kNone));
      highest = larger(highest, builder_.CreateSelect(none, index(-kNone), starts.back()));
    }
    for (int vector = 0; vector < rows_.loop.vectors; ++vector) {
      Value* start = starts[static_cast<std::size_t>(vector)];
      Value* none = builder_.CreateICmpEQ(start, index(kNone));
      store_word(plan_.start(load, vector), builder_.CreateSelect(none, index(0), builder_.CreateSub(start, lowest)));
    }
    Value* any = builder_.CreateICmpNE(lowest, index(kNone));
    store_word(plan_.lowest(load), builder_.CreateSelect(any, lowest, index(0)));
    store_word(plan_.spread(load), builder_.CreateSelect(any, builder_.CreateSub(highest, lowest), index(0)));
  }

  const RowChunks& rows_;
  RowChunkPlan plan_;
};

}  // namespace

llvm::Function* emit_chunk_plan(KernelContext& context, const RowChunks& rows, const std::string& name) {
  return ChunkPlanEmitter(context, rows, name).emit();
}

}  // namespace padlock::compiler
