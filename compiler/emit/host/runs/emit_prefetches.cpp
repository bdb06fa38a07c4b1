#include "compiler/emit/host/runs/emit_runs.h"
#include "compiler/emit/host/runs/run_vector.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/emit_sum.h"

// Emits the prefetches of a body whose results go past the caches.
namespace padlock::compiler {
namespace {

// Measured on a Zen 4 with one thread (docs/host-kernels.md); the first also on a Zen 3.
constexpr int kLoadsAheadBytes = 1024;
constexpr int kStoresAheadBytes = 8192;
constexpr int kLoadsAheadRows = 2;
constexpr int kLineBytes = 64;
// Number of boxes to fetch ahead, measured on a Zen 5.
constexpr std::int64_t kBoxesAhead = 2;
constexpr std::int64_t kLongRunBoxes = 8;
constexpr int kBoxesAheadBytes = 1024;

}  // namespace

/// Prefetches the rows that the next row's sums add up, if results are stored past the caches. Each row is too short
/// for a core's hardware prefetcher, and rows often come in descending order.
void RunVector::prefetch_next_sums() {
  if (!body_.uses_rows || body_.lanes == 1 || kernel().rank() == 1 || !has_sums(body_)) return;
  Value* nontemporal = emit_is_nontemporal(context_, builder_, exprs_);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(nontemporal); known != nullptr && known->isZero()) return;
  emit_if(builder_, nontemporal, [&] {
    give_row_values(arguments_.next_row_values);
    for (std::size_t i = 0; i < body_.nodes.size(); ++i)
      if (const BodyNode& node = body_.nodes[i]; node.kind == NodeKind::sum && node.scope < 0)
        emit_walks(builder_, exprs_, node.walks, [&] { prefetch_terms(static_cast<int>(i)); });
  });
  builder_.GetInsertBlock()->setName("fetched");
}

/// Fetches the run's columns of a sum's terms at the current places of its walks.
void RunVector::prefetch_terms(int sum) {
  for (const BodyNode& node : body_.nodes) {
    if (node.scope != sum || node.kind != NodeKind::load) continue;
    const BodyLoad& load = body_.loads[static_cast<std::size_t>(node.load)];
    if (load.kind != LoadKind::contiguous) continue;
    const int line = kLineBytes / ir::byte_size(load.dtype);
    counted_loop(builder_, arguments_.begin, arguments_.end, line,
                 [&](Value* column) { prefetch(accesses_.address(vector_of(node.load, column, 1)), Prefetch::far); });
  }
}

/// May name any address: a prefetch never faults. An operand bundle, even an empty one, makes the quicker selection
/// (codegen.cpp) leave the block up to here to a graph. A graph makes addresses part of the instructions. Else each
/// address would be computed apart, which makes a copy slower.
void RunVector::prefetch(Value* address, Prefetch how) {
  const bool write = how == Prefetch::write;
  const unsigned locality = how == Prefetch::far ? 2 : 3;  // 3: to the first cache; 2: to the second
  llvm::Function* prefetch =
      llvm::Intrinsic::getOrInsertDeclaration(&context_.module, llvm::Intrinsic::prefetch, {address->getType()});
  builder_.CreateCall(prefetch,
                      {address, builder_.getInt32(write ? 1 : 0), builder_.getInt32(locality), builder_.getInt32(1)},
                      {llvm::OperandBundleDef("padlock-graph", llvm::ArrayRef<Value*>())});
}

void RunVector::plan_prefetches() {
  Value* end = arguments_.end;
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    const int size = ir::byte_size(body_.loads[i].dtype);
    ahead_.push_back(context_.index(kLoadsAheadBytes / size));
    gaps_.push_back(nullptr);
    if (!arguments_.takes_rows || body_.loads[i].kind != LoadKind::contiguous) continue;
    if (!has_row_gap(context_.schedule, static_cast<int>(index_), i)) continue;
    // A core's hardware prefetcher follows the order of the lines. Fetching a gap shorter than a row, too, costs less
    // than the misses at the next row.
    Value* run = builder_.CreateSub(end, arguments_.begin);
    Value* gap = builder_.CreateSub(arguments_.loads[i].step, run);
    Value* is_wide = builder_.CreateICmpSGT(gap, run);
    gaps_.back() = builder_.CreateAdd(end, builder_.CreateSelect(is_wide, context_.index(0), gap));
    Value* rows = builder_.CreateMul(arguments_.loads[i].step, context_.index(kLoadsAheadRows));
    ahead_.back() = builder_.CreateSelect(is_wide, rows, ahead_.back());
  }
}

void RunVector::prefetch_loads(Value* column, const VectorLoop& loop) {
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (body_.loads[i].kind != LoadKind::contiguous) continue;
    Access access = vector_of(static_cast<int>(i), builder_.CreateAdd(column, ahead_[i]), 1);
    const int size = ir::byte_size(access.dtype);
    for (int byte = 0; byte < loop.step() * size; byte += kLineBytes) {
      access.displacement = byte / size;
      prefetch(accesses_.address(access), Prefetch::far);
    }
  }
}

/// A core by itself fetches the lines of blocks that lie closer than a line. (Few channels: their results' rows are few
/// streams, and took 1.1 to 1.6 times as long with prefetches. From 16 channels on: 0.6 to 0.8.)
Value* RunVector::pays_to_fetch(const Turn& turn) {
  const TurnedLoad& load = turn.loads.front();
  const int bytes = ir::byte_size(body_.loads[static_cast<std::size_t>(load.load)].dtype);
  Value* by_line =
      builder_.CreateICmpSGE(steps_[static_cast<std::size_t>(load.load)], context_.index(kLineBytes / bytes));
  return builder_.CreateAnd(by_line, emit_is_nontemporal(context_, builder_, exprs_));
}

/// (In a result with short consecutive rows, the lines after this box's lines are needed before those of the columns
/// after it.)
void RunVector::prefetch_blocks(const Turn& turn, Value* column) {
  for (const TurnedLoad& load : turn.loads) {
    const int bytes = ir::byte_size(body_.loads[static_cast<std::size_t>(load.load)].dtype);
    Value* step = steps_[static_cast<std::size_t>(load.load)];
    Value* ahead = builder_.CreateMul(step, context_.index(kBoxesAhead * turn.lanes));
    if (context_.schedule.row_axis + 2 == kernel().rank()) {
      Value* run = builder_.CreateSub(arguments_.end, arguments_.begin);
      Value* is_long = builder_.CreateICmpSGT(run, context_.index(kLongRunBoxes * turn.lanes));
      ahead = builder_.CreateSelect(is_long, ahead, context_.index(kBoxesAhead * kLineBytes / bytes));
    }
    Value* first = builder_.CreateAdd(base_of(load.load), ahead);
    counted_loop(builder_, column, builder_.CreateAdd(column, context_.index(turn.lanes)), 1, [&](Value* at) {
      at = builder_.CreateAdd(first, builder_.CreateMul(at, step));
      prefetch(accesses_.address(access_of(load.load, at)), Prefetch::far);
    });
  }
}

/// Fetches the part of each result that is written next. It is the elements after these or, where the next row lies
/// elsewhere, the same columns of the next row.
void RunVector::prefetch_box(Value* column) {
  const bool rows_follow = context_.schedule.row_axis + 2 == kernel().rank();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Value* ahead = rows_follow ? context_.index(kBoxesAheadBytes / result_bytes(i))
                               : exprs_.address(builder_, context_.schedule.columns);
    prefetch(address_of(i, builder_.CreateAdd(column, ahead)), Prefetch::write);
  }
}

void RunVector::prefetch_gaps() {
  for (std::size_t i = 0; i < body_.loads.size(); ++i) {
    if (gaps_[i] == nullptr) continue;
    const int line = kLineBytes / ir::byte_size(body_.loads[i].dtype);
    counted_loop(builder_, arguments_.end, gaps_[i], line, [&](Value* column) {
      prefetch(accesses_.address(vector_of(static_cast<int>(i), column, 1)), Prefetch::near);
    });
  }
}

void RunVector::prefetch_stores() {
  ir::ExprContext& exprs = context_.exprs();
  const Expr row_bytes = exprs.max(context_.abi.row_bytes, exprs.constant(1));
  const Expr rows = exprs.floordiv(exprs.constant(kStoresAheadBytes), row_bytes);
  Value* ahead = exprs_.address(builder_, exprs.mul(rows, context_.schedule.row_step()));
  Value* length = builder_.CreateSub(arguments_.end, arguments_.begin);
  std::vector<std::pair<Value*, int>> edges;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto moved = [&](Value* from, Value* by) {
      return accesses_.address({.pointer = from, .dtype = result_type(i), .first = by});
    };
    Value* begin = moved(address_of(i, arguments_.begin), ahead);
    // A fill's first line is left out: the run that ends there fetches it.
    if (!body_.loads.empty()) edges.emplace_back(begin, kLineBytes);
    edges.emplace_back(moved(begin, length), kLineBytes);
  }
  // Only lines that two runs share are written through the caches. Without shared lines a prefetch would cost and not
  // help.
  llvm::BasicBlock* shared = new_block(builder_, "shared");
  llvm::BasicBlock* after = new_block(builder_, "after");
  builder_.CreateCondBr(are_aligned(edges), after, shared);
  builder_.SetInsertPoint(shared);
  for (const auto& edge : edges) prefetch(edge.first, Prefetch::write);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

}  // namespace padlock::compiler
