#include "compiler/llvm/emit/grid/emit_tile_stores.h"

#include <algorithm>
#include <bit>

#include "compiler/llvm/emit/emit_loop.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::Value;

namespace {

/// Words that a thread takes from shared memory before it stores the first.
constexpr int kWordsTogether = 8;

}  // namespace

/// A tile that has all it needs has only whole words, whatever the phases of its rows are.
void TileStorer::emit(llvm::ArrayRef<Value*> outputs, Value* has_halo) {
  BasicBlock* whole = vector_.block("whole");
  BasicBlock* parts = vector_.block("parts");
  BasicBlock* as_they_lie = vector_.block("as_they_lie");
  BasicBlock* shifted = vector_.block("shifted");
  BasicBlock* done = vector_.block("all");
  builder_.CreateCondBr(holds(builder_, vector_.exprs, tile_.whole), whole, parts);
  builder_.SetInsertPoint(whole);
  builder_.CreateCondBr(has_halo, shifted, as_they_lie);
  builder_.SetInsertPoint(as_they_lie);
  store_words(outputs, /*has_phases=*/false);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(shifted);
  store_words(outputs, /*has_phases=*/true);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(parts);
  counted_loop(builder_, thread_, vector_.context.index(tile_.words()), tile_.threads, [&](Value* slot) {
    vector_.exprs.set_coordinate(tile_.slot, slot);
    for (std::size_t i = 0; i < outputs.size(); ++i) store_parts(i, outputs[i]);
  });
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

/// Returns where the word would begin that this thread stores if its row had phase 0.
TileStart TileStorer::start_of_thread() {
  vector_.exprs.set_coordinate(tile_.phase, vector_.context.index(0));
  (void)addresses_.place(tile_.copied_row, tile_.copied_column);
  return addresses_.output_at();
}

/// Emits the phase of a row of which a word would begin at this element, and makes it the coordinate.
Value* TileStorer::phase_of(std::size_t result, Value* output, Value* element) {
  vector_.exprs.set_coordinate(tile_.phase, vector_.context.index(tile_.halo()));
  Value* column = addresses_.offset(vector_.exprs.exact(builder_, tile_.copied_column));
  Value* first = builder_.CreateSub(element, column);
  Value* phase = addresses_.past(output, vector_.result_type(result), first, tile_.halo());
  vector_.exprs.set_coordinate(tile_.phase, phase);
  return phase;
}

void TileStorer::store_words(llvm::ArrayRef<Value*> outputs, bool has_phases) {
  const int rounds = tile_.words() / tile_.threads;
  const int rows = tile_.threads / tile_.column_words;  // from one round to the next
  const auto most = static_cast<unsigned>(std::clamp(kWordsTogether / static_cast<int>(outputs.size()), 1, rounds));
  const int together = static_cast<int>(std::bit_floor(most));
  vector_.exprs.set_coordinate(tile_.slot, thread_);
  const TileStart start = start_of_thread();
  counted_loop(builder_, vector_.context.index(0), vector_.context.index(rounds), together, [&](Value* first) {
    Value* slots = builder_.CreateMul(first, vector_.context.index(tile_.threads));
    vector_.exprs.set_coordinate(tile_.slot, builder_.CreateAdd(thread_, slots));
    vector_.exprs.set_coordinate(tile_.phase, vector_.context.index(0));
    std::vector<Word> words;
    for (int round = 0; round < together; ++round)
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        Value* moved = builder_.CreateAdd(first, vector_.context.index(round));
        Value* element = start.moved_on(builder_, builder_.CreateMul(moved, vector_.context.index(rows)));
        if (has_phases) element = builder_.CreateSub(element, addresses_.offset(phase_of(i, outputs[i], element)));
        words.push_back(
            {.result = i, .output = outputs[i], .element = element, .value = load_word(i, round, has_phases)});
      }
    for (const Word& word : words) store(word);
  });
}

/// Elements that begin no word of shared memory are the last of one and the first of the next.
Value* TileStorer::load_word(std::size_t result, int round, bool has_phases) {
  ir::ExprContext& exprs = vector_.context.exprs();
  const ir::DType dtype = vector_.result_type(result);
  const auto array = static_cast<int>(result);
  const std::int64_t slots = std::int64_t{round} * tile_.threads;
  Value* word = vector_.exprs.exact(builder_, with_later(exprs, tile_.copied_word, tile_.slot, slots));
  Value* low = memory_.load_word(array, word, dtype);
  if (!has_phases || tile_.lanes == 1) return low;
  Value* lane = vector_.exprs.exact(builder_, with_later(exprs, tile_.copied_lane, tile_.slot, slots));
  Value* begins = builder_.CreateICmpEQ(lane, vector_.context.index(0));
  Value* next = builder_.CreateSelect(begins, vector_.context.index(0), vector_.context.index(1));
  Value* high = memory_.load_word(array, builder_.CreateAdd(word, next), dtype);
  Value* bits = builder_.CreateMul(lane, vector_.context.index(8 * std::int64_t{ir::byte_size(dtype)}));
  llvm::Type* type = low->getType();
  return builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {type}, {high, low, builder_.CreateZExtOrTrunc(bits, type)});
}

// --- tiles at an end of the output ---------------------------------------------------------------------------------

void TileStorer::store_parts(std::size_t result, Value* output) {
  Value* element = start_of_thread().element;
  Value* first = builder_.CreateSub(element, addresses_.offset(phase_of(result, output, element)));
  BasicBlock* all = vector_.block("all_of_word");
  BasicBlock* done = vector_.block("stored");
  BasicBlock* some = tile_.lanes > 1 ? vector_.block("some_of_word") : done;
  builder_.CreateCondBr(holds(builder_, vector_.exprs, tile_.copied_tests), all, some);
  builder_.SetInsertPoint(all);
  store({.result = result, .output = output, .element = first, .value = lanes_of(result)});
  builder_.CreateBr(done);
  builder_.SetInsertPoint(some);
  if (some == done) return;
  store_lanes(result, output, first);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void TileStorer::place_lane(int lane) {
  ir::ExprContext& exprs = vector_.context.exprs();
  Value* row = vector_.exprs.exact(builder_, tile_.copied_row);
  Value* column = vector_.exprs.exact(builder_, exprs.add(tile_.copied_column, exprs.constant(lane)));
  vector_.exprs.set_coordinate(tile_.row, row);
  vector_.exprs.set_coordinate(tile_.column, column);
}

Value* TileStorer::load_lane(std::size_t result, int lane) {
  place_lane(lane);
  Value* at = tile_.lanes == 1 ? vector_.context.index(0) : vector_.exprs.exact(builder_, tile_.lane);
  return memory_.load(static_cast<int>(result), vector_.exprs.exact(builder_, tile_.word), at,
                      vector_.result_type(result));
}

/// Returns the word of its elements one by one: its neighbours may not have been made.
Value* TileStorer::lanes_of(std::size_t result) {
  const auto bits = static_cast<std::uint64_t>(8 * ir::byte_size(vector_.result_type(result)));
  llvm::Type* type = addresses_.word_type(vector_.result_type(result));
  Value* word = builder_.CreateZExt(load_lane(result, 0), type);
  for (int lane = 1; lane < tile_.lanes; ++lane) {
    Value* one = builder_.CreateZExt(load_lane(result, lane), type);
    word = builder_.CreateOr(word, builder_.CreateShl(one, bits * static_cast<std::uint64_t>(lane)));
  }
  return word;
}

void TileStorer::store_lanes(std::size_t result, Value* output, Value* first) {
  for (int lane = 0; lane < tile_.lanes; ++lane) {
    place_lane(lane);
    vector_.when(holds(builder_, vector_.exprs, tile_.tests), [&] {
      Value* element = builder_.CreateAdd(first, vector_.context.offset(lane));
      store_element(result, output, element, load_lane(result, lane));
    });
  }
}

// --- stores --------------------------------------------------------------------------------------------------------

void TileStorer::store(const Word& word) {
  const Access access = addresses_.word(word.output, vector_.result_type(word.result), word.element);
  accesses_.store(vector_.checked(access, word.result), word.value, hint());
}

void TileStorer::store_element(std::size_t result, Value* output, Value* element, Value* value) {
  const ir::DType dtype = vector_.result_type(result);
  Access access{.pointer = output, .dtype = dtype, .first = element};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(ir::byte_size(dtype));
  accesses_.store(vector_.checked(access, result), value, hint());
}

StoreHint TileStorer::hint() const {
  const bool streams = vector_.schedule().store == StoreKind::nontemporal && vector_.context.target.takes_words;
  return streams ? StoreHint::streaming : StoreHint::none;
}

}  // namespace padlock::compiler
