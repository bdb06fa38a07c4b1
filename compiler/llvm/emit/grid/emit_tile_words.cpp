#include "compiler/llvm/emit/grid/emit_tile_words.h"

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

/// Words that a thread has on their way at a time: each takes a register.
constexpr int kWordsOnTheirWay = 16;

/// The width of words that a funnel shift takes.
constexpr unsigned kShiftedBits = 32;

}  // namespace

llvm::Type* TileWords::word_type(ir::DType dtype) const {
  return builder_.getIntNTy(8 * static_cast<unsigned>(tile_.lanes * ir::byte_size(dtype)));
}

/// The expression with the variable so many rounds of all threads later.
Expr TileWords::of_round(Expr e, Expr variable, int round) const {
  ir::ExprContext& exprs = vector_.context.exprs();
  const Expr later = exprs.add(variable, exprs.constant(Int128{round} * tile_.threads));
  return exprs.substitute(e, [&](Expr symbol) { return symbol == variable ? later : symbol; });
}

/// Gives the coordinates those of a position. Returns its column.
Value* TileWords::place(Expr row, Expr column) {
  ExprEmitter& exprs = vector_.exprs;
  const Kernel& kernel = vector_.schedule().kernel;
  Value* at_row = builder_.CreateAdd(exprs.exact(builder_, tile_.cross_first), exprs.exact(builder_, row));
  Value* at_column = builder_.CreateAdd(exprs.exact(builder_, tile_.column_first), exprs.exact(builder_, column));
  exprs.set_coordinate(kernel.coordinate(tile_.axis), at_row);
  exprs.set_coordinate(kernel.coordinate(kernel.rank() - 1), at_column);
  return at_column;
}

Access TileWords::word_access(Value* pointer, ir::DType dtype, Value* element) const {
  Access access{.pointer = pointer, .dtype = dtype, .first = element, .elements = tile_.lanes};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(tile_.lanes * ir::byte_size(dtype));
  return access;
}

/// Bytes that an element is past the beginning of a word, i64.
Value* TileWords::past_word(Value* pointer, ir::DType dtype, Value* element) {
  const auto bytes = static_cast<std::uint64_t>(tile_.lanes * ir::byte_size(dtype));
  Value* address = accesses_.address({.pointer = pointer, .dtype = dtype, .first = element});
  return builder_.CreateAnd(builder_.CreatePtrToInt(address, builder_.getInt64Ty()), builder_.getInt64(bytes - 1));
}

/// Those bytes as elements, an index.
Value* TileWords::elements_of(Value* bytes, ir::DType dtype) {
  Value* elements = builder_.CreateUDiv(bytes, builder_.getInt64(static_cast<std::uint64_t>(ir::byte_size(dtype))));
  return builder_.CreateTrunc(elements, vector_.context.index_type());
}

/// Emits whether an element begins a word, and so do all elements that lie whole steps from it.
Value* TileWords::is_multiple(Value* pointer, ir::DType dtype, Value* element, Value* step) {
  const auto size = static_cast<std::uint64_t>(ir::byte_size(dtype));
  const auto lanes = static_cast<std::uint64_t>(tile_.lanes);
  Value* steps = builder_.CreateMul(builder_.CreateSExt(step, builder_.getInt64Ty()), builder_.getInt64(size));
  Value* rest = builder_.CreateAnd(steps, builder_.getInt64(lanes * size - 1));
  return builder_.CreateICmpEQ(builder_.CreateOr(past_word(pointer, dtype, element), rest), builder_.getInt64(0));
}

/// So many rounds later, each of `steps` steps.
TileWords::Start TileWords::moved_by(const Start& start, Value* rounds, int steps) {
  Value* all = builder_.CreateMul(rounds, vector_.context.index(steps));
  return {.element = builder_.CreateAdd(start.element, builder_.CreateMul(all, start.step)), .step = start.step};
}

Value* TileWords::element_at(const Start& start, std::int64_t columns) {
  if (columns == 0) return start.element;
  return builder_.CreateAdd(start.element, builder_.CreateMul(start.step, vector_.context.index(columns)));
}

/// Emits rounds of the threads, as many together as have these words each: `emit(number of the first, how many)`. The
/// variable is the thread's share in that.
template <class Emit>
void TileWords::in_rounds(Expr variable, int rounds, int words, Emit&& emit) {
  const auto most = static_cast<unsigned>(std::clamp(kWordsOnTheirWay / words, 1, rounds));
  const int together = static_cast<int>(std::bit_floor(most));
  const auto trip = [&](Value* first) {
    Value* later = builder_.CreateMul(first, vector_.context.index(tile_.threads));
    vector_.exprs.set_coordinate(variable, builder_.CreateAdd(thread_, later));
    emit(first, together);
  };
  if (together == rounds) return trip(vector_.context.index(0));
  counted_loop(builder_, vector_.context.index(0), vector_.context.index(rounds), together, trip);
}

// --- before the barrier --------------------------------------------------------------------------------------------

void TileWords::emit_loads(BasicBlock* otherwise, BasicBlock* done) {
  const Schedule& schedule = vector_.schedule();
  vector_.exprs.set_coordinate(tile_.block, thread_);
  BasicBlock* whole = vector_.block("whole");
  builder_.CreateCondBr(holds(builder_, vector_.exprs, tile_.whole), whole, otherwise);
  builder_.SetInsertPoint(whole);
  (void)place(tile_.block_row, tile_.block_column);
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
void TileWords::load_body(std::size_t body, BodyArguments arguments, BasicBlock* otherwise, BasicBlock* done) {
  const Body& code = vector_.schedule().bodies[body];
  vector_.exprs.set_coordinate(tile_.block, thread_);
  Value* column = builder_.CreateAdd(vector_.exprs.exact(builder_, tile_.column_first),
                                     vector_.exprs.exact(builder_, tile_.block_column));
  std::vector<Start> starts;
  Value* aligned = builder_.getTrue();
  for (std::size_t i = 0; i < code.loads.size(); ++i) {
    const BodyArguments::Load& load = arguments.loads[i];
    Start start{.step = vector_.exprs.address(builder_, code.loads[i].step)};
    start.element = builder_.CreateAdd(load.base, builder_.CreateMul(column, start.step));
    if (tile_.lanes > 1)
      aligned = builder_.CreateAnd(aligned, is_multiple(load.tensor, code.loads[i].dtype, start.element, start.step));
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
    load_blocks(body, arguments, starts, /*shifted=*/true);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(words);
  }
  load_blocks(body, arguments, starts, /*shifted=*/false);
  builder_.CreateBr(done);
}

Value* TileWords::words_are_inside(const std::vector<Start>& starts, const BodyArguments& arguments) {
  Value* all = builder_.getTrue();
  const int columns = tile_.side() - tile_.lanes * tile_.threads / kTileWords + tile_.lanes - 1;  // to the last
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Value* last = element_at(starts[i], columns);
    const auto end = [&](llvm::Intrinsic::ID id) {
      return builder_.CreateBinaryIntrinsic(id, starts[i].element, last);
    };
    vector_.exprs.set_coordinate(tile_.loads.lowest, end(llvm::Intrinsic::smin));
    vector_.exprs.set_coordinate(tile_.loads.highest, end(llvm::Intrinsic::smax));
    vector_.exprs.set_coordinate(tile_.loads.extent,
                                 builder_.CreateTrunc(arguments.loads[i].extent, vector_.context.index_type()));
    all = builder_.CreateAnd(all, holds(builder_, vector_.exprs, tile_.loads.tests));
  }
  return all;
}

/// Some rounds at a time: all their loads come before the first value is used.
void TileWords::load_blocks(std::size_t body, const BodyArguments& arguments, const std::vector<Start>& starts,
                            bool shifted) {
  const int lanes = tile_.lanes;
  const int rounds = tile_.blocks() / tile_.threads;
  const int columns = lanes * tile_.threads / kTileWords;  // from one round to the next
  const int words = lanes * static_cast<int>(starts.size()) * (shifted ? 2 : 1);
  in_rounds(tile_.block, rounds, words, [&](Value* first, int together) {
    std::vector<Start> moved;
    for (const Start& start : starts) moved.push_back(moved_by(start, first, columns));
    std::vector<Value*> loaded;
    for (int column = 0; column < together * lanes; ++column)
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const std::int64_t at = std::int64_t{column / lanes} * columns + column % lanes;
        loaded.push_back(load_word(body, i, arguments, element_at(moved[i], at), shifted));
      }
    StreamBody code(vector_, body, arguments, nullptr);
    llvm::ArrayRef<Value*> left = loaded;
    for (int round = 0; round < together; ++round) {
      std::vector<std::vector<Value*>> made(vector_.schedule().kernel.results.size());
      for (int column = 0; column < lanes; ++column) {
        const std::vector<Value*> results = code.compute(lanes, left.take_front(starts.size()));
        left = left.drop_front(starts.size());
        for (std::size_t i = 0; i < results.size(); ++i) made[i].push_back(results[i]);
      }
      for (std::size_t i = 0; i < made.size(); ++i) store_block(static_cast<int>(i), round, made[i]);
    }
  });
}

/// Stores a block of a result: turns its vectors, one for each column, into one for each row.
void TileWords::store_block(int result, int round, llvm::ArrayRef<Value*> columns) {
  const ir::DType dtype = vector_.result_type(static_cast<std::size_t>(result));
  ir::ExprContext& exprs = vector_.context.exprs();
  const std::vector<Value*> rows = turned(builder_, columns, vector_.context.target.takes_words);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Expr part = exprs.constant(static_cast<std::int64_t>(row));
    const Expr word = exprs.substitute(of_round(tile_.block_word, tile_.block, round),
                                       [&](Expr symbol) { return symbol == tile_.part ? part : symbol; });
    memory_.store_word(result, vector_.exprs.exact(builder_, word), dtype,
                       builder_.CreateBitCast(rows[row], word_type(dtype)));
  }
}

/// One word, or the two around it: the second is the first where an element begins a word.
Value* TileWords::load_word(std::size_t body, std::size_t load, const BodyArguments& arguments, Value* element,
                            bool shifted) {
  const ir::DType dtype = vector_.schedule().bodies[body].loads[load].dtype;
  const BodyArguments::Load& from = arguments.loads[load];
  const auto loaded = [&](Value* first) {
    Access access = word_access(from.tensor, dtype, first);
    if (vector_.context.checks_load(body, load)) {
      access.name = from.name;
      access.extent = from.extent;
      access.proves_align = tile_.lanes > 1;
    }
    return accesses_.load(access, word_type(dtype));
  };
  Value* word = nullptr;
  if (shifted) {
    const int size = ir::byte_size(dtype);
    Value* past = past_word(from.tensor, dtype, element);
    Value* elements = elements_of(past, dtype);
    Value* first = builder_.CreateSub(element, elements);
    Value* rounded = builder_.CreateAnd(builder_.CreateAdd(elements, vector_.context.index(tile_.lanes - 1)),
                                        vector_.context.index(tile_.lanes));
    const VectorShift words(builder_, static_cast<unsigned>(tile_.lanes * size), size);
    Value* low = loaded(first);
    Value* high = loaded(builder_.CreateAdd(first, rounded));
    word = words.shifted(low, high, builder_.CreateTrunc(past, builder_.getInt32Ty()));
  } else {
    word = loaded(element);
  }
  if (tile_.lanes == 1) return word;
  llvm::Type* each = builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(dtype)));
  return builder_.CreateBitCast(word, llvm::FixedVectorType::get(each, static_cast<unsigned>(tile_.lanes)));
}

// --- after the barrier ---------------------------------------------------------------------------------------------

void TileWords::emit_stores(llvm::ArrayRef<Value*> outputs, BasicBlock* otherwise, BasicBlock* done) {
  const Kernel& kernel = vector_.schedule().kernel;
  ir::ExprContext& exprs = vector_.context.exprs();
  const ir::Layout output = ir::Layout::dense(exprs, kernel.extents);
  vector_.exprs.set_coordinate(tile_.slot, thread_);
  BasicBlock* whole = vector_.block("whole");
  BasicBlock* words = vector_.block("words");
  builder_.CreateCondBr(holds(builder_, vector_.exprs, tile_.whole), whole, otherwise);
  builder_.SetInsertPoint(whole);
  (void)place(tile_.copied_row, tile_.copied_column);
  std::vector<Expr> coordinates;
  for (int axis = 0; axis < kernel.rank(); ++axis) coordinates.push_back(kernel.coordinate(axis));
  const Start start{.element = vector_.exprs.address(builder_, output.offset_of(exprs, coordinates)),
                    .step = vector_.exprs.address(builder_, output.step_of(exprs, tile_.axis, 1))};
  Value* aligned = builder_.getTrue();
  bool shifts = tile_.lanes > 1;
  for (std::size_t i = 0; i < outputs.size() && tile_.lanes > 1; ++i) {
    aligned = builder_.CreateAnd(aligned, is_multiple(outputs[i], vector_.result_type(i), start.element, start.step));
    shifts &= word_type(vector_.result_type(i))->getIntegerBitWidth() == kShiftedBits;
  }
  BasicBlock* misaligned = shifts ? vector_.block("misaligned") : otherwise;
  builder_.CreateCondBr(aligned, words, misaligned);
  builder_.SetInsertPoint(words);
  store_words(outputs, start, /*shifted=*/false);
  builder_.CreateBr(done);
  if (!shifts) return;
  builder_.SetInsertPoint(misaligned);
  store_words(outputs, start, /*shifted=*/true);
  builder_.CreateBr(done);
}

void TileWords::store_words(llvm::ArrayRef<Value*> outputs, const Start& start, bool shifted) {
  const int rounds = tile_.words() / tile_.threads;
  const int rows = tile_.threads / kTileWords;  // from one round to the next
  in_rounds(tile_.slot, rounds, static_cast<int>(outputs.size()) * (shifted ? 4 : 1), [&](Value* first, int together) {
    const Start moved = moved_by(start, first, rows);
    std::vector<Value*> loaded;
    for (int round = 0; round < together; ++round)
      for (std::size_t i = 0; i < outputs.size(); ++i)
        loaded.push_back(memory_.load_word(static_cast<int>(i), copied_word(round), vector_.result_type(i)));
    for (int round = 0; round < together; ++round)
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        Value* value = loaded[static_cast<std::size_t>(round) * outputs.size() + i];
        Value* element = element_at(moved, std::int64_t{round} * rows);
        if (shifted)
          store_shifted(outputs, i, element, value, copied_word(round));
        else
          accesses_.store(output_access(outputs, i, element, tile_.lanes), value, hint());
      }
  });
}

StoreHint TileWords::hint() const {
  const bool streams = vector_.schedule().store == StoreKind::nontemporal && vector_.context.target.takes_words;
  return streams ? StoreHint::streaming : StoreHint::none;
}

Access TileWords::output_access(llvm::ArrayRef<Value*> outputs, std::size_t result, Value* element, int elements) {
  const ir::DType dtype = vector_.result_type(result);
  Access access{.pointer = outputs[result], .dtype = dtype, .first = element, .elements = elements};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(elements * ir::byte_size(dtype));
  if (!vector_.context.bounds_check) return access;
  const ir::Layout output = ir::Layout::dense(vector_.context.exprs(), vector_.schedule().kernel.extents);
  access.name = builder_.getInt64(vector_.context.buffer_of_result(result));
  access.extent = vector_.exprs.word(output.storage_extent());
  access.proves_align = elements > 1;
  return access;
}

/// The word of memory around an element that begins none has the last elements of the word before this one, then the
/// first of this. The first word of a row has none before it: its elements, and those of the last word that no other
/// stores, go one by one.
void TileWords::store_shifted(llvm::ArrayRef<Value*> outputs, std::size_t result, Value* element, Value* value,
                              Value* word) {
  const ir::DType dtype = vector_.result_type(result);
  const auto size = static_cast<std::uint64_t>(ir::byte_size(dtype));
  llvm::Type* i32 = builder_.getInt32Ty();
  Value* past = past_word(outputs[result], dtype, element);
  Value* elements = elements_of(past, dtype);
  Value* column = vector_.exprs.exact(builder_, tile_.copied_column);
  Value* is_first = builder_.CreateICmpEQ(column, vector_.context.index(0));
  Value* goes_apart = builder_.CreateAnd(is_first, builder_.CreateICmpNE(past, builder_.getInt64(0)));
  BasicBlock* whole = vector_.block("whole_word");
  BasicBlock* apart = vector_.block("apart");
  BasicBlock* stored = vector_.block("stored");
  builder_.CreateCondBr(goes_apart, apart, whole);
  builder_.SetInsertPoint(whole);
  Value* step = builder_.CreateSelect(is_first, vector_.context.index(0), vector_.context.index(1));
  Value* before = memory_.load_word(static_cast<int>(result), builder_.CreateSub(word, step), dtype);
  Value* bits = builder_.CreateTrunc(builder_.CreateShl(past, 3), i32);
  Value* shifted = builder_.CreateIntrinsic(llvm::Intrinsic::fshl, {i32}, {value, before, bits});
  accesses_.store(output_access(outputs, result, builder_.CreateSub(element, elements), tile_.lanes), shifted, hint());
  builder_.CreateBr(stored);
  builder_.SetInsertPoint(apart);
  Value* last = memory_.load_word(static_cast<int>(result),
                                  builder_.CreateAdd(word, vector_.context.index(kTileWords - 1)), dtype);
  Value* own = builder_.CreateSub(vector_.context.index(tile_.lanes), elements);
  for (int lane = 0; lane < tile_.lanes; ++lane) {
    Value* near = vector_.context.index(lane);
    Value* is_own = builder_.CreateICmpULT(near, own);
    Value* at = builder_.CreateSelect(is_own, near, vector_.context.index(lane + tile_.side() - tile_.lanes));
    Value* from =
        builder_.CreateLShr(builder_.CreateSelect(is_own, value, last), 8 * size * static_cast<unsigned>(lane));
    Value* one = builder_.CreateTrunc(from, builder_.getIntNTy(8 * static_cast<unsigned>(size)));
    accesses_.store(output_access(outputs, result, builder_.CreateAdd(element, at), 1), one, hint());
  }
  builder_.CreateBr(stored);
  builder_.SetInsertPoint(stored);
}

/// Returns the place in the array of the word that this thread stores in a round.
Value* TileWords::copied_word(int round) {
  ir::ExprContext& exprs = vector_.context.exprs();
  const Expr row = of_round(tile_.copied_row, tile_.slot, round);
  const Expr column = of_round(tile_.copied_column, tile_.slot, round);
  const Expr word = exprs.substitute(tile_.word, [&](Expr symbol) {
    return symbol == tile_.row ? row : symbol == tile_.column ? column : symbol;
  });
  return vector_.exprs.exact(builder_, word);
}

}  // namespace padlock::compiler
