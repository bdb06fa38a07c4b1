#include "compiler/emit/gpu/tiles/emit_tile_stores.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

/// Vectors that a thread loads from shared memory before it stores the first.
constexpr int kVectorsTogether = 4;

}  // namespace

/// A small tile may have fewer vectors than threads.
void TileStorer::emit(llvm::ArrayRef<Value*> outputs, Value* has_halo) {
  if (tile_.copiers() == tile_.threads) return emit_tile(outputs, has_halo);
  vector_.when(builder_.CreateICmpSLT(thread_, vector_.index(tile_.copiers())), [&] { emit_tile(outputs, has_halo); });
}

/// A complete tile has only whole vectors, whatever the phases of its rows are.
void TileStorer::emit_tile(llvm::ArrayRef<Value*> outputs, Value* has_halo) {
  BasicBlock* whole = vector_.block("whole");
  BasicBlock* ends = vector_.block("parts");
  BasicBlock* as_they_lie = vector_.block("as_they_lie");
  BasicBlock* shifted = vector_.block("shifted");
  BasicBlock* done = vector_.block("all");
  enter_thread();
  builder_.CreateCondBr(vector_.holds(tile_.whole), whole, ends);
  builder_.SetInsertPoint(whole);
  builder_.CreateCondBr(has_halo, shifted, as_they_lie);
  builder_.SetInsertPoint(as_they_lie);
  store_whole(outputs, /*has_phases=*/false);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(shifted);
  store_whole(outputs, /*has_phases=*/true);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(ends);
  store_at_ends(outputs);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

/// Sets the digits of the thread's number; the last digit is the remainder.
void TileStorer::enter_thread() {
  Value* left = thread_;
  for (const TileDigit& digit : tile_.copied_digits) {
    const auto count = static_cast<std::uint64_t>(digit.count.constant());
    Value* value = &digit == &tile_.copied_digits.back() ? left : builder_.CreateAnd(left, count - 1);
    vector_.set(digit.value, value);
    left = builder_.CreateLShr(left, static_cast<std::uint64_t>(std::countr_zero(count)));
  }
}

/// Emits rounds of the thread, `together` at a time. `trip` gets the start of each result's vector in each round, as if
/// rows had no phases. The coordinate is the first round.
template <class Trip>
void TileStorer::for_rounds(llvm::ArrayRef<Value*> outputs, int together, Trip&& trip) {
  const Expr rows = vector_.context.exprs().sub(with_later(vector_.context.exprs(), tile_.copied_row, tile_.round, 1),
                                                tile_.copied_row);  // of a round
  vector_.set(tile_.round, vector_.index(0));
  vector_.set(tile_.phase, vector_.index(0));
  (void)addresses_.place(tile_.copied_row, tile_.copied_column);
  std::vector<TileStart> starts(outputs.size(), addresses_.output_at());
  for (std::size_t i = 0; i < outputs.size(); ++i) addresses_.point(starts[i], outputs[i], vector_.result_type(i));
  Value* step = vector_.exact(rows);
  counted_loop(builder_, vector_.index(0), vector_.index(tile_.rounds()), together, [&](Value* first) {
    vector_.set(tile_.round, first);
    std::vector<std::vector<TileStart>> all;
    for (int round = 0; round < together; ++round) {
      Value* moved = builder_.CreateMul(builder_.CreateAdd(first, vector_.index(round)), step);
      std::vector<TileStart>& here = all.emplace_back();
      for (std::size_t i = 0; i < outputs.size(); ++i)
        here.push_back(addresses_.moved(starts[i], vector_.result_type(i), moved));
    }
    trip(all);
  });
}

/// Moves the start of a row's vector by the row's phase, which becomes the coordinate. Counts in bytes: shifts would
/// cost as much as the rest.
TileStart TileStorer::with_phase(std::size_t result, const TileStart& start) {
  const ir::DType dtype = vector_.result_type(result);
  const auto size = static_cast<unsigned>(ir::byte_size(dtype));
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Type* i64 = builder_.getInt64Ty();
  vector_.set(tile_.phase, vector_.index(tile_.halo()));
  Value* column = builder_.CreateTrunc(vector_.exact(tile_.copied_column), i32);
  Value* address = builder_.CreateTrunc(builder_.CreatePtrToInt(start.pointer, i64), i32);
  Value* row = builder_.CreateSub(address, builder_.CreateMul(column, builder_.getInt32(size)));
  Value* bytes = builder_.CreateAnd(row, std::uint64_t{size} * static_cast<std::uint64_t>(tile_.halo()) - 1);
  Value* phase = builder_.CreateLShr(bytes, static_cast<std::uint64_t>(std::countr_zero(size)));
  phase = builder_.CreateZExt(phase, vector_.context.index_type());
  vector_.set(tile_.phase, phase);
  TileStart made = start;
  made.element = builder_.CreateSub(start.element, addresses_.offset(phase));
  made.pointer =
      builder_.CreateGEP(builder_.getInt8Ty(), start.pointer, builder_.CreateNeg(builder_.CreateZExt(bytes, i64)));
  return made;
}

/// Emits all loads of a trip before its stores.
void TileStorer::store_whole(llvm::ArrayRef<Value*> outputs, bool has_phases) {
  const auto most =
      static_cast<unsigned>(std::clamp(kVectorsTogether / static_cast<int>(outputs.size()), 1, tile_.rounds()));
  const int together = static_cast<int>(std::bit_floor(most));
  for_rounds(outputs, together, [&](const std::vector<std::vector<TileStart>>& starts) {
    std::vector<Vector> vectors;
    for (int round = 0; round < together; ++round)
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        Vector vector{.result = i, .start = starts[static_cast<std::size_t>(round)][i]};
        if (has_phases) vector.start = with_phase(i, vector.start);
        vector.words = load_words(i, round, has_phases, {});
        vectors.push_back(std::move(vector));
      }
    for (const Vector& vector : vectors) store(vector);
  });
}

std::vector<Value*> TileStorer::load_words(std::size_t result, int round, bool has_phases,
                                           llvm::ArrayRef<Value*> needed) {
  ExprEmitter& exprs = vector_.exprs;
  const Expr here = with_later(exprs.exprs(), tile_.copied_word, tile_.round, round);
  const Expr base = exprs.exprs().sub(tile_.copied_word, exprs.exprs().constant(kHaloWords));
  const auto [word, later] = addresses_.displaced(here, base);
  Value* lane = has_phases && tile_.lanes > 1 ? vector_.exact(tile_.copied_lane) : nullptr;
  return memory_.load_vector(static_cast<int>(result), word, later, lane, vector_.result_type(result), needed);
}

// --- tiles at an end of the output ---------------------------------------------------------------------------------

void TileStorer::store_at_ends(llvm::ArrayRef<Value*> outputs) {
  for_rounds(outputs, 1, [&](const std::vector<std::vector<TileStart>>& starts) {
    for (std::size_t i = 0; i < outputs.size(); ++i) store_at_end({.result = i, .start = with_phase(i, starts[0][i])});
  });
}

void TileStorer::store_at_end(const Vector& vector) {
  ir::ExprContext& exprs = vector_.context.exprs();
  std::vector<Value*> inside;
  Value* any = builder_.getFalse();
  vector_.set(tile_.row, vector_.exact(tile_.copied_row));
  for (int i = 0; i < tile_.vector_elements(); ++i) {
    Value* column = vector_.exact(exprs.add(tile_.copied_column, exprs.constant(i)));
    vector_.set(tile_.column, column);
    inside.push_back(vector_.holds(tile_.tests));
    any = builder_.CreateOr(any, inside.back());
  }
  BasicBlock* some = vector_.block("some_of_vector");
  BasicBlock* all = vector_.block("all_of_vector");
  BasicBlock* elements = vector_.block("elements_of_vector");
  BasicBlock* done = vector_.block("stored");
  builder_.CreateCondBr(any, some, done);
  builder_.SetInsertPoint(some);
  Vector loaded = vector;
  loaded.words = load_words(vector.result, 0, /*has_phases=*/true, inside);
  builder_.CreateCondBr(vector_.holds(tile_.copied_tests), all, elements);
  builder_.SetInsertPoint(all);
  store(loaded);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(elements);
  store_elements(loaded, inside);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void TileStorer::store_elements(const Vector& vector, llvm::ArrayRef<Value*> inside) {
  const ir::DType dtype = vector_.result_type(vector.result);
  const auto bits = static_cast<unsigned>(8 * ir::byte_size(dtype));
  const auto lanes = static_cast<std::size_t>(tile_.lanes);
  for (std::size_t i = 0; i < inside.size(); ++i)
    vector_.when(inside[i], [&] {
      Value* word = vector.words[i / lanes];
      Value* value =
          builder_.CreateTrunc(builder_.CreateLShr(word, std::uint64_t{bits} * (i % lanes)), builder_.getIntNTy(bits));
      Access access = addresses_.access_at(vector.start, dtype, 1);
      access.displacement = static_cast<std::int64_t>(i);
      store(access, vector.result, value);
    });
}

// --- stores --------------------------------------------------------------------------------------------------------

void TileStorer::store(const Vector& vector) {
  llvm::Type* type = llvm::FixedVectorType::get(vector.words[0]->getType(), static_cast<unsigned>(vector.words.size()));
  Value* made = llvm::PoisonValue::get(type);
  for (std::size_t i = 0; i < vector.words.size(); ++i)
    made = builder_.CreateInsertElement(made, vector.words[i], std::uint64_t{i});
  store(addresses_.access_at(vector.start, vector_.result_type(vector.result), tile_.vector_elements()), vector.result,
        made);
}

void TileStorer::store_element(std::size_t result, Value* output, Value* element, Value* value) {
  store(vector_.access_of(output, vector_.result_type(result), element), result, value);
}

void TileStorer::store(const Access& access, std::size_t result, Value* value) {
  accesses_.store(vector_.checked(access, result), value, vector_.store_hint());
}

}  // namespace padlock::compiler
