#include "compiler/emit/host/row_chunks/emit_row_chunks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/host/row_chunks/chunk_vectors.h"
#include "compiler/emit/host/row_chunks/vector_permute.h"
#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/schedule/model/row_chunks.h"

namespace padlock::compiler {
namespace {

using llvm::PHINode;

/// Emits the loop over the chunks of a group of rows.
class ChunkLoopEmitter : private FunctionEmitter {
 public:
  ChunkLoopEmitter(KernelContext& context, const RowChunks& rows, const std::string& name)
      : FunctionEmitter(context, make_function(context, rows, name)),
        rows_(rows),
        plan_(rows),
        at_(context.exprs()),
        interleaved_(rows),
        masks_(builder_, context.target, rows) {}

  llvm::Function* emit() {
    BasicBlock* done = block("done");
    Value* chunk_rows = load_word(RowChunkPlan::rows());
    begin_stores(chunk_rows);
    for (std::size_t i = 0; i < rows_.sources.size(); ++i) begin_load(i, chunk_rows);
    for (std::size_t i = 0; i < rows_.body.nodes.size(); ++i)
      if (is_selected(i)) masks_.load(plan_, scope_.argument(1), rows_.body.nodes[i]);
    Value* loadable = builder_.getTrue();
    for (const Load& load : loads_)
      loadable = builder_.CreateAnd(loadable, builder_.CreateICmpSGE(load.room, index(0)));
    BasicBlock* some = block("some");
    builder_.CreateCondBr(builder_.CreateAnd(loadable, is_inside(index(0), first_windows())), some, done);
    Ways taken = {{builder_.GetInsertBlock(), {index(0)}}};
    builder_.SetInsertPoint(some);
    if (joins_pairs()) {
      BasicBlock* pairs = block("pairs");
      BasicBlock* apart = block("apart");
      builder_.CreateCondBr(pairs_follow(), pairs, apart);
      builder_.SetInsertPoint(pairs);
      taken.push_back(emit_loop(chunk_rows, 2, done));
      builder_.SetInsertPoint(apart);
    }
    taken.push_back(emit_loop(chunk_rows, 1, done));
    builder_.SetInsertPoint(done);
    // The last chunk may have more.
    scope_.end(smaller(join(builder_, taken)[0], scope_.argument(3)));
    return scope_.function;
  }

 private:
  static llvm::Function* make_function(KernelContext& context, const RowChunks& rows, const std::string& name) {
    llvm::LLVMContext& llvm = context.module.getContext();
    llvm::Type* i64 = llvm::Type::getInt64Ty(llvm);
    std::vector<llvm::Type*> types(2, llvm::PointerType::get(llvm, 0));
    types.resize(5 + rows.sources.size(), i64);
    return make_internal_function(context, llvm::FunctionType::get(i64, types, false), name, /*selects_by_graph=*/true);
  }

  /// A load's windows, of which the first of a chunk begins at `window`.
  struct Load {
    VectorPermute permute;
    llvm::Type* vector = nullptr;
    std::vector<Value*> pointers = {};  ///< to what is as far after the tensor's first element as a vector's window is
                                        ///< after the first
    std::vector<Value*> indices = {};   ///< prepared, of each vector
    bool has_one_window = false;
    Value *window = nullptr, *least = nullptr, *room = nullptr, *stride = nullptr;
  };

  /// Neighbouring vectors that are taken as one, and what is the same for them in all chunks.
  struct Group {
    std::size_t first = 0;
    std::size_t count = 1;
    std::vector<Value*> indices = {};              ///< of each load
    std::map<const BodyNode*, Value*> masks = {};  ///< of each selection
    BodyValues::Values invariants = {};
  };
  /// A trip of the loop.
  struct Chunk {
    Value* at;
    std::vector<Value*> windows;
    std::vector<Value*> loaded;  ///< of each load, of a window that all vectors have
    std::map<const InterleavedColumns*, std::vector<Value*>> interleaved;  ///< for each vector
  };

  /// Emits the loop that takes so many vectors as one; returns from which block it leaves, and the rows that it took.
  Ways::value_type emit_loop(Value* chunk_rows, int joined, BasicBlock* done) {
    std::vector<Group> groups;
    BodyValues nodes(context_, rows_.body, builder_, scope_.fields, exprs_);
    std::map<int, BodyValues::Values> same;  // of so many vectors
    for (int vector = 0; vector < rows_.loop.vectors; vector += joined) {
      const int count = std::min(joined, rows_.loop.vectors - vector);
      if (!same.contains(count)) same[count] = nodes.invariants(count * rows_.loop.lanes, {}).vectors;
      groups.push_back(make_group(vector, count, same[count]));
    }
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* trip = block("chunk");
    builder_.CreateBr(trip);
    builder_.SetInsertPoint(trip);
    PHINode* at = phi(index(0), before);
    PHINode* taken = phi(index(0), before);
    Chunk chunk{.at = at, .windows = {}, .loaded = std::vector<Value*>(loads_.size()), .interleaved = {}};
    for (const Load& load : loads_) chunk.windows.push_back(phi(load.window, before));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      prefetch_stores(builder_, element(result_type(i)), outputs_[i], rows_.loop.lanes * ir::byte_size(result_type(i)),
                      at);
    for (const Group& group : groups) emit_group(nodes, chunk, group);
    exprs_.set_coordinate(at_.chunk, at);
    Value* next = exprs_.exact(builder_, rows_.loop.next);
    Value* next_taken = builder_.CreateAdd(taken, chunk_rows);
    std::vector<Value*> next_windows;
    for (std::size_t i = 0; i < loads_.size(); ++i)
      next_windows.push_back(builder_.CreateAdd(chunk.windows[i], loads_[i].stride));
    Value* left = builder_.CreateICmpSLT(next_taken, scope_.argument(3));
    builder_.CreateCondBr(builder_.CreateAnd(left, is_inside(next, next_windows)), trip, done);
    BasicBlock* after = builder_.GetInsertBlock();
    at->addIncoming(next, after);
    taken->addIncoming(next_taken, after);
    for (std::size_t i = 0; i < loads_.size(); ++i)
      llvm::cast<PHINode>(chunk.windows[i])->addIncoming(next_windows[i], after);
    return {after, {next_taken}};
  }

  /// Returns whether two vectors are the halves of one that an instruction permutes half by half.
  [[nodiscard]] bool joins_pairs() const {
    constexpr int kHalf = 16;
    const auto bytes = [&](const auto& value) { return rows_.loop.lanes * ir::byte_size(value.dtype); };
    return context_.target.permutes_halves && rows_.loop.vectors > 1 && rows_.interleaved.empty() &&
           std::ranges::all_of(rows_.body.loads, [&](const BodyLoad& load) { return bytes(load) == kHalf; }) &&
           std::ranges::all_of(rows_.body.nodes, [&](const BodyNode& node) { return bytes(node) <= kHalf; });
  }

  /// Tests that the second vector of each pair begins right after the first: then one store of both writes what two
  /// would.
  Value* pairs_follow() {
    Value* follow = builder_.getTrue();
    for (int vector = 1; vector < rows_.loop.vectors; vector += 2) {
      Value* apart = builder_.CreateSub(load_word(plan_.position(vector)), load_word(plan_.position(vector - 1)));
      follow = builder_.CreateAnd(follow, builder_.CreateICmpEQ(apart, index(rows_.loop.lanes)));
    }
    return follow;
  }

  /// Returns whether the node is a selection by a mask.
  [[nodiscard]] bool is_selected(std::size_t node) const {
    return rows_.body.nodes[node].kind == NodeKind::when && !interleaved_.is_within(node) &&
           interleaved_.find(node) == nullptr;
  }

  Group make_group(int first, int count, const std::vector<Value*>& same) {
    Group group{.first = static_cast<std::size_t>(first), .count = static_cast<std::size_t>(count), .invariants = same};
    for (const Load& load : loads_) group.indices.push_back(joined(load.indices, group));
    for (std::size_t i = 0; i < rows_.body.nodes.size(); ++i)
      if (is_selected(i)) group.masks[&rows_.body.nodes[i]] = joined(masks_.of(rows_.body.nodes[i]), group);
    return group;
  }

  /// The group's vectors of these, one after the other.
  Value* joined(const std::vector<Value*>& each, const Group& group) {
    if (group.count == 1) return each[group.first];
    return join_halves(each[group.first], each[group.first + 1]);
  }
  Value* join_halves(Value* low, Value* high) {
    const unsigned count = llvm::cast<llvm::FixedVectorType>(low->getType())->getNumElements();
    std::vector<int> lanes(2 * count);
    std::iota(lanes.begin(), lanes.end(), 0);
    return builder_.CreateShuffleVector(low, high, lanes);
  }

  PHINode* phi(Value* first, BasicBlock* before) {
    PHINode* value = builder_.CreatePHI(i64_, 2);
    value->addIncoming(first, before);
    return value;
  }
  Value* at_byte(std::size_t offset) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scope_.argument(1), offset);
  }
  Value* load_word(std::size_t offset) { return builder_.CreateLoad(i64_, at_byte(offset)); }
  [[nodiscard]] unsigned lanes() const { return static_cast<unsigned>(rows_.loop.lanes); }
  [[nodiscard]] llvm::Type* element(ir::DType dtype) {
    return builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(dtype)));
  }
  [[nodiscard]] ir::DType result_type(std::size_t i) const { return kernel().result(i).dtype; }
  [[nodiscard]] std::vector<Value*> first_windows() const {
    std::vector<Value*> windows;
    for (const Load& load : loads_) windows.push_back(load.window);
    return windows;
  }

  /// Computes the addresses of the first chunk's vectors in the outputs, and the last position that a chunk may
  /// begin at.
  void begin_stores(Value* chunk_rows) {
    Value* columns = exprs_.exact(builder_, context_.schedule.columns);
    exprs_.set_coordinate(at_.elements, builder_.CreateMul(scope_.argument(4), columns));
    exprs_.set_coordinate(at_.size, builder_.CreateMul(chunk_rows, columns));
    exprs_.set_coordinate(at_.last, load_word(plan_.position(rows_.loop.vectors - 1)));
    limit_ = exprs_.exact(builder_, rows_.loop.limit);
    outputs_.resize(kernel().results.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      Value* row = builder_.CreateGEP(element(result_type(i)),
                                      scope_.fields.buffer(builder_, context_.buffer_of_result(i)), scope_.argument(2));
      for (int vector = 0; vector < rows_.loop.vectors; ++vector)
        outputs_[i].push_back(builder_.CreateGEP(element(result_type(i)), row, load_word(plan_.position(vector))));
    }
  }

  void begin_load(std::size_t i, Value* chunk_rows) {
    const LoadSource& source = rows_.sources[i];
    const ir::DType dtype = rows_.body.loads[i].dtype;
    Load load{.permute = VectorPermute(builder_, rows_.loop.lanes, ir::byte_size(dtype)),
              .vector = llvm::FixedVectorType::get(element(dtype), lanes()),
              .has_one_window = has_one_window(kernel(), rows_, i)};
    Value* lowest = load_word(plan_.lowest(i));
    load.window = builder_.CreateAdd(scope_.argument(5 + static_cast<unsigned>(i)), lowest);
    load.stride = builder_.CreateMul(chunk_rows, exprs_.address(builder_, source.step));
    exprs_.set_coordinate(at_.spread, load_word(plan_.spread(i)));
    exprs_.set_coordinate(at_.storage, exprs_.word(kernel().program->value(source.tensor).layout.storage_extent()));
    load.least = exprs_.exact(builder_, rows_.loop.window_least);
    load.room = builder_.CreateSub(exprs_.exact(builder_, rows_.loop.window_limit), load.least);
    Value* tensor = scope_.fields.buffer(builder_, context_.buffer_of_input(source.tensor));
    for (int vector = 0; vector < rows_.loop.vectors; ++vector) {
      Value* start = load.has_one_window ? index(0) : load_word(plan_.start(i, vector));
      load.pointers.push_back(builder_.CreateGEP(element(dtype), tensor, start));
      // Sources are counted from the row's base, indices from the window's first.
      Value* sources = load_table(plan_.sources(i), vector, load.vector, ir::byte_size(dtype));
      Value* first = builder_.CreateTrunc(builder_.CreateAdd(start, lowest), element(dtype));
      Value* indices = builder_.CreateSub(sources, builder_.CreateVectorSplat(lanes(), first));
      load.indices.push_back(load.permute.prepared(indices));
    }
    loads_.push_back(std::move(load));
  }

  /// The lanes of a vector in a table with so many bytes a lane.
  Value* load_table(std::size_t offset, int vector, llvm::Type* type, int bytes) {
    const std::size_t begin = offset + static_cast<std::size_t>(std::int64_t{vector} * rows_.loop.lanes * bytes);
    return builder_.CreateAlignedLoad(type, at_byte(begin), llvm::Align(static_cast<unsigned>(bytes)));
  }

  void emit_group(BodyValues& nodes, Chunk& chunk, const Group& group) {
    BodyValues::Values values = group.invariants;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == nullptr && interleaved_.is_within(i)) values[i] = llvm::PoisonValue::get(i64_);  // never read
      if (const InterleavedColumns* columns = interleaved_.find(i))
        values[i] = interleaved(chunk, *columns)[group.first];
    }
    const auto load = [&](const BodyNode& node) {
      return emit_load(chunk, static_cast<std::size_t>(node.load), group);
    };
    const auto choose = [&](const BodyNode& node, Value* value, Value* other) {
      return masks_.choose(group.masks.at(&node), value, other);
    };
    nodes.emit(static_cast<int>(group.count) * rows_.loop.lanes, {.load = load, .choose = choose}, values);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      Value* to = builder_.CreateGEP(element(result_type(i)), outputs_[i][group.first], chunk.at);
      builder_.CreateAlignedStore(values[static_cast<std::size_t>(rows_.body.roots[i])], to, llvm::Align(1));
    }
  }

  /// The vectors of a node whose columns are interleaved.
  const std::vector<Value*>& interleaved(Chunk& chunk, const InterleavedColumns& columns) {
    std::vector<Value*>& vectors = chunk.interleaved[&columns];
    if (!vectors.empty()) return vectors;
    std::vector<Value*> loaded;
    for (const int load : columns.loads) loaded.push_back(window_of(chunk, static_cast<std::size_t>(load), 0));
    vectors = interleave(builder_, columns, std::move(loaded), rows_.loop.vectors);
    return vectors;
  }

  Value* emit_load(Chunk& chunk, std::size_t load, const Group& group) {
    VectorPermute& permute = loads_[load].permute;
    if (group.count == 1) return permute.permuted(window_of(chunk, load, group.first), group.indices[load]);
    Value* low = window_of(chunk, load, group.first);
    return permute.permuted_pair(join_halves(low, window_of(chunk, load, group.first + 1)), group.indices[load]);
  }

  Value* window_of(Chunk& chunk, std::size_t i, std::size_t vector) {
    const Load& load = loads_[i];
    if (chunk.loaded[i] == nullptr || !load.has_one_window) {
      Value* from = builder_.CreateGEP(load.vector->getScalarType(), load.pointers[vector], chunk.windows[i]);
      chunk.loaded[i] = builder_.CreateAlignedLoad(load.vector, from, llvm::Align(1));
    }
    return chunk.loaded[i];
  }

  /// Tests that a chunk's stores stay in the task's rows, and its windows in their tensors.
  Value* is_inside(Value* chunk, const std::vector<Value*>& windows) {
    Value* inside = builder_.CreateICmpSLE(chunk, limit_);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      Value* past = builder_.CreateSub(windows[i], loads_[i].least);
      inside = builder_.CreateAnd(inside, builder_.CreateICmpULE(past, loads_[i].room));
    }
    return inside;
  }

  const RowChunks& rows_;
  RowChunkPlan plan_;
  RowChunkVariables at_;
  InterleavedNodes interleaved_;
  SelectionMasks masks_;
  Value* limit_ = nullptr;
  std::vector<std::vector<Value*>> outputs_;  // of each result, for each vector
  std::vector<Load> loads_;
};

}  // namespace

RowChunksCode emit_row_chunks(KernelContext& context, std::size_t row_case) {
  const RowChunks& rows = *context.schedule.row_chunks(row_case);
  const std::string name = context.abi.name + ".rows" + std::to_string(row_case);
  return {.planner = emit_chunk_plan(context, rows, name + ".plan"),
          .taker = ChunkLoopEmitter(context, rows, name).emit(),
          .plan_bytes = RowChunkPlan(rows).bytes()};
}

}  // namespace padlock::compiler
