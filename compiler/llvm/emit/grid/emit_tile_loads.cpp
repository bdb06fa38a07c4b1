#include "compiler/llvm/emit/grid/emit_tile_loads.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/grid/turn_words.h"
#include "compiler/llvm/emit/vector_shift.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::Value;

namespace {

/// Words that a thread has on their way at a time, besides those of the halo: each takes a register.
constexpr int kWordsOnTheirWay = 16;
/// Of those that are asked for one by one, each of which takes more code.
constexpr int kPartWordsOnTheirWay = 8;

}  // namespace

void TileLoader::emit(Value* has_halo, BasicBlock* otherwise, BasicBlock* done) {
  has_halo_ = has_halo;
  BasicBlock* parts = vector_.block("parts");
  emit_whole(parts, done);
  builder_.SetInsertPoint(parts);
  for (const TilePart& part : tile_.parts) {
    BasicBlock* here = vector_.block("part");
    BasicBlock* later = vector_.block("later");
    builder_.CreateCondBr(holds(builder_, vector_.exprs, part.tests), here, later);
    builder_.SetInsertPoint(here);
    builder_.CreateCondBr(load_part(vector_.schedule().cases[part.row_case]), otherwise, done);
    builder_.SetInsertPoint(later);
  }
  builder_.CreateBr(otherwise);
}

// --- tiles of one segment ------------------------------------------------------------------------------------------

void TileLoader::emit_whole(BasicBlock* otherwise, BasicBlock* done) {
  const Schedule& schedule = vector_.schedule();
  vector_.exprs.set_coordinate(tile_.block, builder_.CreateAdd(thread_, vector_.context.index(tile_.halo_blocks())));
  BasicBlock* whole = vector_.block("whole");
  builder_.CreateCondBr(holds(builder_, vector_.exprs, tile_.whole), whole, otherwise);
  builder_.SetInsertPoint(whole);
  (void)addresses_.place(tile_.block_row, tile_.block_column);
  std::vector<SegmentSite> sites(schedule.bodies.size());
  for (const TileRun& run : tile_.runs) {
    const SegmentCall& call = schedule.cases[run.row_case].calls[run.call];
    const auto body = static_cast<std::size_t>(call.body);
    BasicBlock* here = vector_.block("run");
    BasicBlock* later = vector_.block("later");
    builder_.CreateCondBr(holds(builder_, vector_.exprs, run.tests), here, later);
    builder_.SetInsertPoint(here);
    BodyArguments arguments(vector_.context, body);
    rows_.set_loads(call, arguments);
    sites[body].emplace_back(builder_.GetInsertBlock(), std::move(arguments));
    builder_.SetInsertPoint(later);
  }
  builder_.CreateBr(otherwise);
  for (std::size_t body = 0; body < sites.size(); ++body)
    if (!sites[body].empty()) load_body(body, segments_.enter(sites[body], body), otherwise, done);
}

/// Words that lie as they are in memory need one load each, others two.
void TileLoader::load_body(std::size_t body, BodyArguments arguments, BasicBlock* otherwise, BasicBlock* done) {
  const Body& code = vector_.schedule().bodies[body];
  vector_.exprs.set_coordinate(tile_.block, builder_.CreateAdd(thread_, vector_.context.index(tile_.halo_blocks())));
  Value* column = builder_.CreateAdd(vector_.exprs.exact(builder_, tile_.column_first),
                                     vector_.exprs.exact(builder_, tile_.block_column));
  std::vector<TileStart> starts;
  Value* aligned = builder_.getTrue();
  for (std::size_t i = 0; i < code.loads.size(); ++i) {
    const BodyArguments::Load& load = arguments.loads[i];
    TileStart start{.element = load.base, .step = vector_.exprs.address(builder_, code.loads[i].step)};
    start.element = start.moved_by(builder_, column);
    if (tile_.lanes > 1)
      aligned =
          builder_.CreateAnd(aligned, addresses_.is_multiple(load.tensor, code.loads[i].dtype, start, tile_.lanes));
    starts.push_back(start);
  }
  if (tile_.lanes > 1) {
    BasicBlock* words = vector_.block("words");
    BasicBlock* misaligned = vector_.block("misaligned");
    BasicBlock* shifts = vector_.block("shifts");
    builder_.CreateCondBr(aligned, words, misaligned);
    builder_.SetInsertPoint(misaligned);
    builder_.CreateCondBr(words_are_inside(starts, arguments), shifts, otherwise);
    builder_.SetInsertPoint(shifts);
    load_rounds(body, arguments, starts, /*shifted=*/true);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(words);
  }
  load_rounds(body, arguments, starts, /*shifted=*/false);
  builder_.CreateBr(done);
}

Value* TileLoader::words_are_inside(const std::vector<TileStart>& starts, const BodyArguments& arguments) {
  Value* all = builder_.getTrue();
  const int columns =
      tile_.stored_columns() - tile_.lanes * tile_.threads / kTileWords + tile_.lanes - 1;  // to the last
  Value* halo = builder_.CreateSelect(has_halo_, vector_.context.index(-tile_.halo()), vector_.context.index(0));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Value* first = starts[i].moved_by(builder_, halo);
    Value* last = column_of(starts[i], columns);
    const auto end = [&](llvm::Intrinsic::ID id) { return builder_.CreateBinaryIntrinsic(id, first, last); };
    vector_.exprs.set_coordinate(tile_.loads.lowest, end(llvm::Intrinsic::smin));
    vector_.exprs.set_coordinate(tile_.loads.highest, end(llvm::Intrinsic::smax));
    vector_.exprs.set_coordinate(tile_.loads.extent,
                                 builder_.CreateTrunc(arguments.loads[i].extent, vector_.context.index_type()));
    all = builder_.CreateAnd(all, holds(builder_, vector_.exprs, tile_.loads.tests));
  }
  return all;
}

/// Threads that are more than the halo's blocks have none of it.
std::vector<TileLoader::Round> TileLoader::halo_rounds() {
  Value* guard = has_halo_;
  if (tile_.threads > tile_.halo_blocks())
    guard = builder_.CreateAnd(guard, builder_.CreateICmpSLT(thread_, vector_.context.index(tile_.halo_blocks())));
  std::vector<Round> rounds;
  for (std::int64_t blocks = 0; blocks < tile_.halo_blocks(); blocks += tile_.threads)
    rounds.push_back({.blocks = blocks - tile_.halo_blocks(), .guard = guard});
  return rounds;
}

/// Some rounds of all threads at a time, the first with those of the halo.
void TileLoader::load_rounds(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                             bool shifted) {
  const int rounds = (tile_.blocks() - tile_.halo_blocks()) / tile_.threads;
  const int words = tile_.lanes * static_cast<int>(starts.size()) * (shifted ? 2 : 1);
  const auto most = static_cast<unsigned>(std::clamp(kWordsOnTheirWay / words, 1, rounds));
  const int together = static_cast<int>(std::bit_floor(most));
  std::vector<Round> all;
  for (int round = 0; round < together; ++round) all.push_back({.blocks = std::int64_t{round} * tile_.threads});
  const auto trip = [&](Value* first, const std::vector<Round>& which) {
    Value* blocks = builder_.CreateMul(first, vector_.context.index(tile_.threads));
    Value* own = builder_.CreateAdd(thread_, vector_.context.index(tile_.halo_blocks()));
    vector_.exprs.set_coordinate(tile_.block, builder_.CreateAdd(own, blocks));
    const int columns = tile_.lanes * tile_.threads / kTileWords;  // from one round to the next
    std::vector<TileStart> moved = starts;
    for (TileStart& start : moved)
      start.element = start.moved_by(builder_, builder_.CreateMul(first, vector_.context.index(columns)));
    load_blocks(body, arguments, moved, which, shifted);
  };
  std::vector<Round> first = halo_rounds();
  first.insert(first.end(), all.begin(), all.end());
  trip(vector_.context.index(0), first);
  if (together < rounds)
    counted_loop(builder_, vector_.context.index(together), vector_.context.index(rounds), together,
                 [&](Value* at) { trip(at, all); });
}

Value* TileLoader::column_of(const TileStart& start, std::int64_t columns) {
  return columns == 0 ? start.element : start.moved_by(builder_, vector_.context.index(columns));
}

/// All loads come before the first value is used.
void TileLoader::load_blocks(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                             const std::vector<Round>& rounds, bool shifted) {
  const int lanes = tile_.lanes;
  std::vector<Value*> loaded;
  for (const Round& round : rounds)
    for (int column = 0; column < lanes; ++column)
      for (std::size_t i = 0; i < starts.size(); ++i) {
        Value* element = column_of(starts[i], round.blocks / kTileWords * lanes + column);
        loaded.push_back(load_word(body, i, arguments, element, round.guard, shifted));
      }
  StreamBody code(vector_, body, arguments, nullptr);
  llvm::ArrayRef<Value*> left = loaded;
  for (const Round& round : rounds) {
    std::vector<std::vector<Value*>> made(vector_.schedule().kernel.results.size());
    for (int column = 0; column < lanes; ++column) {
      const std::vector<Value*> results = code.compute(lanes, left.take_front(starts.size()));
      left = left.drop_front(starts.size());
      for (std::size_t i = 0; i < results.size(); ++i) made[i].push_back(results[i]);
    }
    const auto store = [&] {
      for (std::size_t i = 0; i < made.size(); ++i) store_block(static_cast<int>(i), round.blocks, made[i]);
    };
    round.guard == nullptr ? store() : vector_.when(round.guard, store);
  }
}

/// Stores a block of a result: turns its vectors, one for each column, into one for each row.
void TileLoader::store_block(int result, std::int64_t blocks, llvm::ArrayRef<Value*> columns) {
  const ir::DType dtype = vector_.result_type(static_cast<std::size_t>(result));
  ir::ExprContext& exprs = vector_.context.exprs();
  const std::vector<Value*> rows = turned(builder_, columns, vector_.context.target.takes_words);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Expr part = exprs.constant(static_cast<std::int64_t>(row));
    const Expr word = exprs.substitute(with_later(exprs, tile_.block_word, tile_.block, blocks),
                                       [&](Expr symbol) { return symbol == tile_.part ? part : symbol; });
    memory_.store_word(result, vector_.exprs.exact(builder_, word), dtype,
                       builder_.CreateBitCast(rows[row], addresses_.word_type(dtype)));
  }
}

/// One word, or the two around it: the second is the first where an element begins a word.
Value* TileLoader::load_word(std::size_t body, std::size_t load, const BodyArguments& arguments, Value* element,
                             Value* guard, bool shifted) {
  const ir::DType dtype = vector_.schedule().bodies[body].loads[load].dtype;
  const BodyArguments::Load& from = arguments.loads[load];
  const auto loaded = [&](Value* first) {
    Access access = addresses_.word(from.tensor, dtype, first);
    access.guard = guard;
    if (vector_.context.checks_load(body, load)) {
      access.name = from.name;
      access.extent = from.extent;
      access.proves_align = tile_.lanes > 1;
    }
    return accesses_.load(access, addresses_.word_type(dtype));
  };
  Value* word = nullptr;
  const int size = ir::byte_size(dtype);
  if (shifted) {
    Value* past = addresses_.past(from.tensor, dtype, element, tile_.lanes);
    Value* first = builder_.CreateSub(element, past);
    const VectorShift words(builder_, static_cast<unsigned>(tile_.lanes * size), size);
    Value* low = loaded(first);
    Value* high = loaded(builder_.CreateAdd(first, rounded_up(past)));
    Value* bytes = builder_.CreateMul(past, vector_.context.index(size));
    word = words.shifted(low, high, builder_.CreateZExtOrTrunc(bytes, builder_.getInt32Ty()));
  } else {
    word = loaded(element);
  }
  if (tile_.lanes == 1) return word;
  llvm::Type* each = builder_.getIntNTy(8 * static_cast<unsigned>(size));
  return builder_.CreateBitCast(word, llvm::FixedVectorType::get(each, static_cast<unsigned>(tile_.lanes)));
}

// --- tiles of several ----------------------------------------------------------------------------------------------

/// Some rounds of all threads at a time, fewer where several segments have loads. Returns whether this thread has an
/// element that no segment had.
Value* TileLoader::load_part(const ScheduledCase& row) {
  const auto loads = static_cast<int>(std::ranges::count_if(row.calls, [&](const SegmentCall& call) {
    return !vector_.schedule().bodies[static_cast<std::size_t>(call.body)].loads.empty();
  }));
  const int together =
      std::clamp(kPartWordsOnTheirWay / (tile_.lanes * std::max(loads, 1)), 1, tile_.blocks() / tile_.threads);
  Value* skipped =
      builder_.CreateSelect(has_halo_, vector_.context.index(0), vector_.context.index(tile_.halo_blocks()));
  llvm::Type* bit = builder_.getInt1Ty();
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* last = nullptr;
  Value* missing = nullptr;
  counted_loop(builder_, builder_.CreateAdd(thread_, skipped), vector_.context.index(tile_.blocks()),
               std::int64_t{together} * tile_.threads, [&](Value* first) {
                 llvm::PHINode* so_far = builder_.CreatePHI(bit, 2);
                 so_far->addIncoming(builder_.getFalse(), before);
                 missing = builder_.CreateOr(so_far, load_part_blocks(row, first, together));
                 last = builder_.GetInsertBlock();
                 so_far->addIncoming(missing, last);
               });
  llvm::PHINode* any = builder_.CreatePHI(bit, 2);
  any->addIncoming(builder_.getFalse(), before);
  any->addIncoming(missing, last);
  return any;
}

/// Threads that have no block in a round store none.
Value* TileLoader::load_part_blocks(const ScheduledCase& row, Value* first, int together) {
  ir::ExprContext& exprs = vector_.context.exprs();
  vector_.exprs.set_coordinate(tile_.block, first);
  Value* start = addresses_.place(tile_.block_row, tile_.block_column);
  const int lanes = tile_.lanes;
  const int step = lanes * tile_.threads / kTileWords;  // columns from one round to the next
  std::vector<PartColumn> columns;
  for (int i = 0; i < together * lanes; ++i)
    columns.push_back({.column = builder_.CreateAdd(start, vector_.context.index(i / lanes * step + i % lanes)),
                       .made = builder_.getFalse()});
  for (const SegmentCall& call : row.calls) add_segment(call, columns);
  vector_.exprs.set_coordinate(tile_.block, first);
  Value* missing = builder_.getFalse();
  Value* extent = vector_.exprs.exact(builder_, vector_.schedule().columns);
  for (int round = 0; round < together; ++round) {
    const std::int64_t blocks = std::int64_t{round} * tile_.threads;
    Value* block = vector_.exprs.exact(builder_, with_later(exprs, tile_.block, tile_.block, blocks));
    Value* is_block = builder_.CreateICmpSLT(block, vector_.context.index(tile_.blocks()));
    const llvm::ArrayRef<PartColumn> own =
        llvm::ArrayRef(columns).slice(static_cast<std::size_t>(round * lanes), static_cast<std::size_t>(lanes));
    for (const PartColumn& one : own) {
      Value* is_element = builder_.CreateAnd(builder_.CreateICmpSGE(one.column, vector_.context.index(0)),
                                             builder_.CreateICmpSLT(one.column, extent));
      Value* wanted = builder_.CreateAnd(is_block, is_element);
      missing = builder_.CreateOr(missing, builder_.CreateAnd(wanted, builder_.CreateNot(one.made)));
    }
    vector_.when(is_block, [&] {
      for (std::size_t i = 0; i < own[0].results.size(); ++i) {
        std::vector<Value*> made;
        for (const PartColumn& one : own) made.push_back(one.results[i]);
        store_block(static_cast<int>(i), blocks, made);
      }
    });
  }
  return missing;
}

/// All loads of a segment come before its first value is used.
void TileLoader::add_segment(const SegmentCall& call, std::vector<PartColumn>& columns) {
  const auto body = static_cast<std::size_t>(call.body);
  BodyArguments arguments(vector_.context, body);
  rows_.set_loads(call, arguments);
  Value* begin = vector_.exprs.exact(builder_, call.begin);
  Value* end = vector_.exprs.exact(builder_, call.end);
  const std::size_t loads = vector_.schedule().bodies[body].loads.size();
  std::vector<Value*> inside;
  std::vector<Value*> loaded;
  for (const PartColumn& one : columns) {
    Value* here =
        builder_.CreateAnd(builder_.CreateICmpSGE(one.column, begin), builder_.CreateICmpSLT(one.column, end));
    for (std::size_t i = 0; i < loads; ++i) loaded.push_back(load_part_word(i, call, arguments, one.column, here));
    inside.push_back(here);
  }
  StreamBody code(vector_, body, arguments, nullptr);
  llvm::ArrayRef<Value*> left = loaded;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::vector<Value*> results = code.compute(tile_.lanes, left.take_front(loads));
    left = left.drop_front(loads);
    PartColumn& one = columns[c];
    one.made = builder_.CreateOr(one.made, inside[c]);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (one.results.size() == i) one.results.push_back(llvm::Constant::getNullValue(results[i]->getType()));
      one.results[i] = builder_.CreateSelect(inside[c], results[i], one.results[i]);
    }
  }
}

/// Nothing is loaded of what is not `inside`, nor of words that are not all in the tensor's storage: those are not.
Value* TileLoader::load_part_word(std::size_t load, const SegmentCall& call, const BodyArguments& arguments,
                                  Value* column, Value*& inside) {
  const auto body = static_cast<std::size_t>(call.body);
  const BodyLoad& which = vector_.schedule().bodies[body].loads[load];
  const BodyArguments::Load& from = arguments.loads[load];
  const TileStart start{.element = from.base, .step = vector_.exprs.address(builder_, which.step)};
  Value* element = start.moved_by(builder_, column);
  Value* past = addresses_.past(from.tensor, which.dtype, element, tile_.lanes);
  Value* first = builder_.CreateSub(element, past);
  vector_.exprs.set_coordinate(tile_.loads.lowest, element);
  vector_.exprs.set_coordinate(tile_.loads.shift, past);
  vector_.exprs.set_coordinate(tile_.loads.highest, builder_.CreateAdd(first, rounded_up(past)));
  vector_.exprs.set_coordinate(tile_.loads.extent, builder_.CreateTrunc(from.extent, vector_.context.index_type()));
  inside = builder_.CreateAnd(inside, holds(builder_, vector_.exprs, tile_.loads.word_tests));
  return load_word(body, load, arguments, element, inside, tile_.lanes > 1);
}

/// Rounds elements past the beginning of a word up to whole words.
Value* TileLoader::rounded_up(Value* past) {
  return builder_.CreateAnd(builder_.CreateAdd(past, vector_.context.index(tile_.lanes - 1)),
                            vector_.context.index(tile_.lanes));
}

}  // namespace padlock::compiler
