#include "compiler/emit/host/row_chunks/emit_row_chunks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/emit/host/row_chunks/vector_permute.h"
#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/scalar/emit_access.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

using llvm::PHINode;

constexpr int kLine = 64;

/// Emits the loop over chunks, with a loop over each chunk's vectors in it.
class ChunkLoopEmitter : private FunctionEmitter {
 public:
  ChunkLoopEmitter(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan, const char* name)
      : FunctionEmitter(context, make_function(context, chunks, name)),
        chunks_(chunks),
        plan_(plan),
        at_(context.exprs()),
        nodes_(context, chunks.body, builder_, scope_.fields, exprs_),
        accesses_(builder_, nullptr) {}

  llvm::Function* emit() {
    begin();
    Value* from = index(0);
    if (chunks_.axes == 1) {
      if (chunks_.loop.joined > 1) from = emit_held(from, chunks_.loop.joined);
      from = emit_held(from, 1);
    }
    const Trip trip = begin_trip(from, "chunk");
    BasicBlock* done = block("done");
    Value* count = vectors_taken(trip);
    emit_vectors(trip.chunk, count);
    Value* taken = builder_.CreateAdd(trip.chunk, load_entry(plan_.positions, count));
    end_trip(trip);
    builder_.CreateCondBr(builder_.CreateICmpEQ(count, vectors_), trip.begin, done);
    builder_.SetInsertPoint(done);
    // The rest of a last row is taken in another way, after what the last vector has stored past its part.
    scope_.end(builder_.CreateUDiv(smaller(taken, left_), exprs_.exact(builder_, context_.schedule.columns)));
    return scope_.function;
  }

  /// Emits the function that stores whole chunks past the caches, from a cache line on. `plain` takes the units before
  /// that line, and what is left after the chunks. (A function of its own: beside loops for small results it cost these
  /// a tenth.)
  llvm::Function* emit_streamed(llvm::Function* plain) {
    BasicBlock* rest = block("rest");
    BasicBlock* units_before = block("before_line");
    BasicBlock* at_line = block("at_line");
    BasicBlock* some = block("some_chunks");
    begin();
    Value* before = elements_before_line();
    builder_.CreateCondBr(builder_.CreateICmpSGT(before, index(0)), units_before, at_line);
    builder_.SetInsertPoint(units_before);
    end_by(plain, builder_.CreateUDiv(before, exprs_.exact(builder_, chunks_.loop.unit)));
    builder_.SetInsertPoint(at_line);
    Value* taken = emit_lines();
    builder_.CreateCondBr(builder_.CreateICmpSGT(taken, index(0)), some, rest);
    builder_.SetInsertPoint(rest);
    end_by(plain, scope_.argument(2));
    builder_.SetInsertPoint(some);
    scope_.end(builder_.CreateUDiv(taken, exprs_.exact(builder_, context_.schedule.columns)));
    return scope_.function;
  }

 private:
  static llvm::Function* make_function(KernelContext& context, const RowChunks& chunks, const char* name) {
    llvm::LLVMContext& llvm = context.module.getContext();
    llvm::Type* i64 = llvm::Type::getInt64Ty(llvm);
    std::vector<llvm::Type*> types = {llvm::PointerType::get(llvm, 0)};
    types.resize(4 + chunks.sources.size(), i64);
    return make_internal_function(context, llvm::FunctionType::get(i64, types, false), context.abi.name + name,
                                  /*selects_by_graph=*/true);
  }

  struct Load {
    VectorPermute permute;
    llvm::Type* element = nullptr;
    Value *tensor = nullptr, *stride = nullptr, *storage = nullptr, *spread = nullptr;
    Value* window = nullptr;  ///< the first window of this chunk
    Value* from = nullptr;    ///< where that window begins
  };

  /// A trip of a loop over chunks.
  struct Trip {
    BasicBlock* begin;
    PHINode* chunk;
    Value* next;  ///< the next trip's chunk
  };
  Trip begin_trip(Value* from, const char* name) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* begin = block(name);
    builder_.CreateBr(begin);
    builder_.SetInsertPoint(begin);
    PHINode* chunk = phi(from, before);
    for (Load& load : loads_) load.window = phi(load.window, before);
    exprs_.set_coordinate(at_.chunk, chunk);
    return {.begin = begin, .chunk = chunk, .next = exprs_.exact(builder_, chunks_.loop.next)};
  }
  /// Moves to the next chunk. A branch to the trip's begin follows.
  void end_trip(const Trip& trip) {
    std::vector<Value*> windows;
    for (const Load& load : loads_) windows.push_back(builder_.CreateAdd(load.window, load.stride));
    BasicBlock* last = builder_.GetInsertBlock();
    trip.chunk->addIncoming(trip.next, last);
    for (std::size_t i = 0; i < loads_.size(); ++i)
      llvm::cast<PHINode>(loads_[i].window)->addIncoming(windows[i], last);
  }
  Value* is_whole(const Trip& trip) {
    return builder_.CreateAnd(are_inside(trip.chunk, last_, nullptr), builder_.CreateICmpSLE(trip.next, left_));
  }
  /// Emits how many vectors of the trip's chunk are taken: all if it is whole.
  Value* vectors_taken(const Trip& trip) {
    BasicBlock* part = block("part");
    BasicBlock* take = block("take");
    builder_.CreateCondBr(is_whole(trip), take, part);
    builder_.SetInsertPoint(part);
    Value* some = vectors_inside(trip.chunk);
    BasicBlock* counted = builder_.GetInsertBlock();
    builder_.CreateBr(take);
    builder_.SetInsertPoint(take);
    PHINode* count = phi(vectors_, trip.begin);
    count->addIncoming(some, counted);
    return count;
  }

  /// Emits the loop over whole chunks that are stored past the caches: those that begin at a cache line. Returns the
  /// first chunk after them.
  Value* emit_lines() {
    const Trip trip = begin_trip(index(0), "streamed");
    BasicBlock* take = block("take_streamed");
    BasicBlock* done = block("not_streamed");
    builder_.CreateCondBr(builder_.CreateAnd(is_whole(trip), begins_at_line(trip.chunk)), take, done);
    builder_.SetInsertPoint(take);
    begin_chunk(trip.chunk);
    counted_loop(builder_, index(0), vectors_, chunks_.loop.joined,
                 [&](Value* vector) { emit_full(vector, 0, StoreHint::nontemporal); });
    end_trip(trip);
    builder_.CreateBr(trip.begin);
    builder_.SetInsertPoint(done);
    return trip.chunk;
  }
  /// Emits whether the chunk begins at a cache line in each result.
  Value* begins_at_line(Value* chunk) {
    Value* bits = index(0);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      Value* begin = builder_.CreateGEP(element(kernel().result(i).dtype), results_[i], chunk);
      bits = builder_.CreateOr(bits, builder_.CreatePtrToInt(begin, i64_));
    }
    return builder_.CreateICmpEQ(builder_.CreateAnd(bits, index(kLine - 1)), index(0));
  }
  /// Emits how many elements come before the first unit that begins at a line; 0 if none does.
  Value* elements_before_line() {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* test = block("find_line");
    BasicBlock* next = block("next_unit");
    BasicBlock* found = block("line");
    Value* unit = exprs_.exact(builder_, chunks_.loop.unit);
    Value* limit = smaller(left_, builder_.CreateMul(unit, index(kLine)));
    builder_.CreateBr(test);
    builder_.SetInsertPoint(test);
    PHINode* place = phi(index(0), before);
    builder_.CreateCondBr(begins_at_line(place), found, next);
    builder_.SetInsertPoint(next);
    Value* following = builder_.CreateAdd(place, unit);
    place->addIncoming(following, next);
    builder_.CreateCondBr(builder_.CreateICmpSLT(following, limit), test, found);
    builder_.SetInsertPoint(found);
    PHINode* elements = phi(place, test);
    elements->addIncoming(index(0), next);
    return elements;
  }
  /// Ends with the rows that `other` takes of these units.
  void end_by(llvm::Function* other, Value* units) {
    std::vector<Value*> arguments;
    for (unsigned i = 0; i < other->arg_size(); ++i) arguments.push_back(scope_.argument(i));
    arguments[2] = units;
    llvm::CallInst* taken = builder_.CreateCall(other, arguments);
    taken->setCallingConv(other->getCallingConv());
    scope_.end(taken);
  }

  /// Emits the loop over whole chunks with so few vectors that registers hold their lanes; joined vectors must be full.
  /// Returns the first chunk after them.
  Value* emit_held(Value* from, int joined) {
    Value* is_held = builder_.CreateICmpEQ(vectors_, index(RowChunkPlan::kHeld));
    if (joined > 1) is_held = builder_.CreateAnd(is_held, builder_.CreateICmpNE(full_, index(0)));
    std::vector<Lanes> lanes;
    Value* last = builder_.CreateSub(vectors_, index(1));
    for (int k = 0; k < RowChunkPlan::kHeld; k += joined) {
      Value* vector = smaller(index(k), last);
      lanes.push_back(lanes_of(vector, joined, load_entry(plan_.positions, vector), /*held=*/true));
    }
    const Trip trip = begin_trip(from, "held");
    BasicBlock* take = block("take_held");
    BasicBlock* done = block("not_held");
    builder_.CreateCondBr(builder_.CreateAnd(is_held, is_whole(trip)), take, done);
    builder_.SetInsertPoint(take);
    begin_chunk(trip.chunk);
    for (std::size_t k = 0; k < lanes.size(); ++k) emit_vector(lanes[k], joined, static_cast<int>(k) * joined);
    end_trip(trip);
    builder_.CreateBr(trip.begin);
    builder_.SetInsertPoint(done);
    return trip.chunk;
  }

  Value* at_word(std::size_t offset) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scope_.fields.plan, offset);
  }
  Value* load_word(std::size_t offset) { return builder_.CreateLoad(i64_, at_word(offset)); }
  Value* entry(const RowChunkPlan::Table& table, Value* number) {
    Value*& begin = tables_[table.offset.id()];
    if (begin == nullptr) {
      IRBuilder<> builder = scope_.in_entry();
      begin = builder.CreateGEP(builder.getInt8Ty(), scope_.fields.plan, exprs_.exact(builder, table.offset));
    }
    return builder_.CreateGEP(builder_.getInt8Ty(), begin, builder_.CreateMul(number, index(table.bytes)));
  }
  Value* load_entry(const RowChunkPlan::Table& table, Value* number, llvm::Type* type = nullptr) {
    return builder_.CreateAlignedLoad(type == nullptr ? i64_ : type, entry(table, number), llvm::Align(1));
  }
  PHINode* phi(Value* first, BasicBlock* before) {
    PHINode* value = builder_.CreatePHI(i64_, 2);
    value->addIncoming(first, before);
    return value;
  }
  [[nodiscard]] int lanes() const { return chunks_.loop.lanes; }
  [[nodiscard]] llvm::Type* element(ir::DType dtype) {
    return builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(dtype)));
  }
  [[nodiscard]] static llvm::FixedVectorType* vector_of(llvm::Type* element, int lanes) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  }

  void begin() {
    for (const int joined : {1, chunks_.loop.joined})
      if (!invariants_.contains(joined)) invariants_[joined] = nodes_.invariants(joined * lanes(), {}).vectors;
    vectors_ = load_word(RowChunkPlan::vectors());
    full_ = load_word(RowChunkPlan::full());
    Value* units = load_word(RowChunkPlan::units());
    Value* unit = exprs_.exact(builder_, chunks_.loop.unit);
    left_ = builder_.CreateMul(scope_.argument(2), unit);
    exprs_.set_coordinate(at_.elements, scope_.argument(3));
    exprs_.set_coordinate(at_.size, builder_.CreateMul(units, unit));
    last_ = load_entry(plan_.positions, builder_.CreateSub(vectors_, index(1)));
    for (std::size_t i = 0; i < kernel().results.size(); ++i)
      results_.push_back(builder_.CreateGEP(element(kernel().result(i).dtype),
                                            scope_.fields.buffer(builder_, context_.buffer_of_result(i)),
                                            scope_.argument(1)));
    stored_.resize(results_.size());
    for (std::size_t i = 0; i < chunks_.sources.size(); ++i) {
      const LoadSource& source = chunks_.sources[i];
      const ir::DType dtype = chunks_.body.loads[i].dtype;
      Load load{.permute = VectorPermute(builder_, context_.target.architecture, lanes(), ir::byte_size(dtype)),
                .element = element(dtype)};
      load.tensor = scope_.fields.buffer(builder_, context_.buffer_of_input(source.tensor));
      load.window =
          builder_.CreateAdd(scope_.argument(4 + static_cast<unsigned>(i)), load_word(RowChunkPlan::lowest(i)));
      load.stride = builder_.CreateMul(units, exprs_.address(builder_, source.step));
      load.spread = load_word(RowChunkPlan::spread(i));
      load.storage = exprs_.word(kernel().program->value(source.tensor).layout.storage_extent());
      loads_.push_back(load);
    }
  }

  /// Tests that the vector at `last` in the chunk stays in the task's rows, and its windows in their tensors. If
  /// `vector` is null, tests the windows of all vectors.
  Value* are_inside(Value* chunk, Value* last, Value* vector) {
    exprs_.set_coordinate(at_.last, last);
    Value* inside = builder_.CreateICmpSLE(chunk, exprs_.exact(builder_, chunks_.loop.limit));
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const Load& load = loads_[i];
      exprs_.set_coordinate(at_.storage, load.storage);
      exprs_.set_coordinate(at_.spread, vector == nullptr ? load.spread : load_entry(plan_.starts[i], vector));
      Value* least = exprs_.exact(builder_, chunks_.loop.window_least);
      Value* most = exprs_.exact(builder_, chunks_.loop.window_limit);
      inside = builder_.CreateAnd(inside, builder_.CreateICmpSGE(load.window, least));
      inside = builder_.CreateAnd(inside, builder_.CreateICmpSLE(load.window, most));
    }
    return inside;
  }

  /// Emits how many of the chunk's first vectors are inside and begin before the units end.
  Value* vectors_inside(Value* chunk) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* test = block("test");
    BasicBlock* next = block("next");
    BasicBlock* end = block("end");
    builder_.CreateBr(test);
    builder_.SetInsertPoint(test);
    PHINode* vector = phi(index(0), before);
    Value* position = load_entry(plan_.positions, vector);
    Value* inside = are_inside(chunk, position, vector);
    inside = builder_.CreateAnd(inside, builder_.CreateICmpSLT(builder_.CreateAdd(chunk, position), left_));
    builder_.CreateCondBr(inside, next, end);
    builder_.SetInsertPoint(next);
    // (All vectors may be inside though no whole chunk is left: the units left may end after the last vector begins, as
    // a chunk's own units do.)
    Value* following = builder_.CreateAdd(vector, index(1));
    vector->addIncoming(following, next);
    builder_.CreateCondBr(builder_.CreateICmpSLT(following, vectors_), test, end);
    builder_.SetInsertPoint(end);
    return vector_end(vector, following, test, next);
  }
  Value* vector_end(Value* vector, Value* following, BasicBlock* test, BasicBlock* next) {
    PHINode* end = builder_.CreatePHI(i64_, 2);
    end->addIncoming(vector, test);
    end->addIncoming(following, next);
    return end;
  }

  /// Emits a chunk's addresses.
  void begin_chunk(Value* chunk) {
    for (std::size_t i = 0; i < results_.size(); ++i)
      stored_[i] = builder_.CreateGEP(element(kernel().result(i).dtype), results_[i], chunk);
    for (Load& load : loads_) load.from = builder_.CreateGEP(load.element, load.tensor, load.window);
  }

  /// Emits the chunk's first `count` vectors; vectors that follow each other go several a trip.
  void emit_vectors(Value* chunk, Value* count) {
    begin_chunk(chunk);
    const int joined = chunks_.loop.joined;
    const int trip = RowChunkPlan::vectors_of_trip(chunks_);
    Value* full = smaller(full_, builder_.CreateAnd(count, index(-trip)));
    Value* first = counted_loop(builder_, index(0), full, trip, [&](Value* vector) {
      for (int k = 0; k < trip; k += joined) emit_full(builder_.CreateAdd(vector, index(k)), k, StoreHint::none);
    });
    counted_loop(builder_, first, count, 1,
                 [&](Value* vector) { emit_vector(lanes_of(vector, 1, load_entry(plan_.positions, vector)), 1, 0); });
  }

  /// Emits a vector of those that are full and follow each other, joined with the next ones.
  void emit_full(Value* vector, int number, StoreHint hint) {
    const int joined = chunks_.loop.joined;
    emit_vector(lanes_of(vector, joined, builder_.CreateMul(vector, index(lanes()))), joined, number, hint);
  }

  /// A plan's entries for some vectors that are taken as one.
  struct Lanes {
    Value* position = nullptr;                ///< where they are stored, in elements after the chunk's first
    std::vector<std::vector<Value*>> starts;  ///< for each load: where their windows begin
    std::vector<Value*> numbers;              ///< for each load
    std::map<PredicateId, Value*> masks;
    bool has_masks = false;  ///< of all selections: registers hold them, so that they cost less than marks
  };
  Lanes lanes_of(Value* vector, int joined, Value* position, bool held = false) {
    Lanes all{.position = position,
              .starts = {},
              .numbers = {},
              .masks = {},
              .has_masks = held && context_.target.mask_registers};
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      std::vector<Value*>& starts = all.starts.emplace_back();
      for (int k = 0; k < joined; ++k)
        starts.push_back(load_entry(plan_.starts[i], k == 0 ? vector : builder_.CreateAdd(vector, index(k))));
      all.numbers.push_back(load_entry(plan_.indices[i], vector, vector_of(loads_[i].element, joined * lanes())));
    }
    for (std::size_t i = 0; i < plan_.selections; ++i) {
      const auto load = all.has_masks ? std::nullopt : plan_.marked_load(i);
      all.masks[plan_.guards[i]] =
          load ? loads_[*load].permute.holds(all.numbers[*load]) : load_mask(plan_.masks[i], vector, joined);
    }
    return all;
  }

  /// `number`: of the first vector in its trip.
  void emit_vector(const Lanes& taken, int joined, int number, StoreHint hint = StoreHint::none) {
    BodyValues::Values values = invariants_.at(joined);
    const auto load = [&](const BodyNode& node) {
      return emit_load(static_cast<std::size_t>(node.load), taken, joined);
    };
    const auto choose = [&](const BodyNode& node, Value* value, Value* other) {
      const BodyNode& chosen = chunks_.body.nodes[static_cast<std::size_t>(node.operands[0])];
      if (chosen.kind == NodeKind::load && is_marked(chosen.load, node.guard)) {
        const auto i = static_cast<std::size_t>(chosen.load);
        if (loads_[i].permute.chooses(other) && !taken.has_masks)
          return loads_[i].permute.permuted_or(windows_of(i, taken), taken.numbers[i], other);
      }
      return choose_lanes(taken.masks.at(node.guard), value, other);
    };
    nodes_.emit(joined * lanes(), {.load = load, .choose = choose}, values);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const ir::DType dtype = kernel().result(i).dtype;
      Value* to = builder_.CreateGEP(element(dtype), stored_[i], taken.position);
      Value* value = values[static_cast<std::size_t>(chunks_.body.roots[i])];
      if (hint == StoreHint::none && number * lanes() * ir::byte_size(dtype) % kLine == 0) prefetch(to);
      accesses_.store({.pointer = to, .dtype = dtype, .first = index(0)}, value, hint);
    }
  }

  /// Returns whether a load's indices are marked by a selection.
  [[nodiscard]] bool is_marked(int load, PredicateId guard) const {
    return plan_.marks[static_cast<std::size_t>(load)] == plan_.guard_index(guard);
  }

  Value* emit_load(std::size_t i, const Lanes& taken, int joined) {
    VectorPermute& permute = loads_[i].permute;
    Value* windows = windows_of(i, taken);
    return joined == 1 ? permute.permuted(windows, taken.numbers[i])
                       : permute.permuted_blocks(windows, taken.numbers[i]);
  }
  /// Loads the windows of a load, one after the other.
  Value* windows_of(std::size_t i, const Lanes& taken) {
    const Load& load = loads_[i];
    std::vector<Value*> windows;
    for (Value* start : taken.starts[i])
      windows.push_back(builder_.CreateAlignedLoad(vector_of(load.element, lanes()),
                                                   builder_.CreateGEP(load.element, load.from, start), llvm::Align(1)));
    return concatenated(std::move(windows));
  }
  Value* concatenated(std::vector<Value*> parts) {
    while (parts.size() > 1) {
      std::vector<Value*> pairs;
      for (std::size_t i = 0; i < parts.size(); i += 2) {
        std::vector<int> taken(std::size_t{2} *
                               llvm::cast<llvm::FixedVectorType>(parts[i]->getType())->getNumElements());
        std::iota(taken.begin(), taken.end(), 0);
        pairs.push_back(builder_.CreateShuffleVector(parts[i], parts[i + 1], taken));
      }
      parts = std::move(pairs);
    }
    return parts.front();
  }

  /// Loads the lanes' mask, as a vector of i1: from bits if the target has mask registers, else from bytes.
  Value* load_mask(const RowChunkPlan::Table& table, Value* vector, int joined) {
    if (!context_.target.mask_registers) {
      Value* bytes = load_entry(table, vector, vector_of(builder_.getInt8Ty(), joined * lanes()));
      return builder_.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType()));
    }
    std::vector<Value*> parts;
    for (int k = 0; k < joined; ++k) {
      const int bits = std::max(lanes(), 8);
      Value* word = load_entry(table, k == 0 ? vector : builder_.CreateAdd(vector, index(k)),
                               builder_.getIntNTy(static_cast<unsigned>(bits)));
      Value* mask = builder_.CreateBitCast(word, vector_of(builder_.getInt1Ty(), bits));
      std::vector<int> taken(static_cast<std::size_t>(lanes()));
      std::iota(taken.begin(), taken.end(), 0);
      parts.push_back(bits == lanes() ? mask : builder_.CreateShuffleVector(mask, taken));
    }
    return concatenated(std::move(parts));
  }

  /// (With zero as the other value, the mask's bits make the choice: no instruction has to look at signs.)
  Value* choose_lanes(Value* mask, Value* value, Value* other) {
    if (context_.target.mask_registers) return builder_.CreateSelect(mask, value, other);
    const auto* constant = llvm::dyn_cast<llvm::Constant>(other);
    if (constant != nullptr && constant->isNullValue() && value->getType()->isIntOrIntVectorTy())
      return builder_.CreateAnd(value, builder_.CreateSExt(mask, value->getType()));
    return builder_.CreateSelect(mask, value, other);
  }

  /// Prefetches a line that a later vector stores. Vectors that cross lines and are partly stored again stay in a
  /// core's store queue until all their lines have come. On a Xeon, rows of 66 bytes of 64 took 1.25 to 1.9 times as
  /// long as a copy: 1.9 with the core's other thread busy, which halves the queue. With this prefetch they take as
  /// long as a copy; 512 and 2048 bytes do as well as 1024.
  void prefetch(Value* to) {
    constexpr int kAhead = 1024;
    Value* ahead = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), to, kAhead);
    builder_.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {ahead->getType()},
        {ahead, builder_.getInt32(/*write*/ 1), builder_.getInt32(/*locality*/ 3), builder_.getInt32(/*data*/ 1)});
  }

  const RowChunks& chunks_;
  const RowChunkPlan& plan_;
  RowChunkVariables at_;
  BodyValues nodes_;
  AccessEmitter accesses_;
  std::map<int, BodyValues::Values> invariants_;  // by the number of joined vectors
  std::map<std::uint32_t, Value*> tables_;        // where tables begin, by Expr::id
  std::vector<Value*> results_;                   // for each result: where the first unit begins
  std::vector<Value*> stored_;                    // for each result: where a chunk begins
  std::vector<Load> loads_;
  Value *vectors_ = nullptr, *full_ = nullptr, *last_ = nullptr, *left_ = nullptr;
};

}  // namespace

RowChunkFunctions emit_row_chunks(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan) {
  RowChunkFunctions made{.plain = ChunkLoopEmitter(context, chunks, plan, ".chunks").emit()};
  if (chunks.loop.streams)
    made.streamed = ChunkLoopEmitter(context, chunks, plan, ".streamed_chunks").emit_streamed(made.plain);
  return made;
}

}  // namespace padlock::compiler
