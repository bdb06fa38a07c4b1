#include "compiler/emit/gpu/boxes/stage_turner.h"

#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/vector_shift.h"

namespace padlock::compiler {
namespace {

constexpr std::uint32_t kWordBytes = 4;

}  // namespace

Value* StageTurner::stride(const BoxStage& stage, int axis) {
  return vector_.exprs.address(builder_, layout_of(stage).strides()[static_cast<std::size_t>(axis)]);
}

Value* StageTurner::least(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
Value* StageTurner::most(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }

void StageTurner::locate() {
  const Boxes& boxes = *vector_.schedule().boxes();
  ir::ExprContext& exprs = vector_.context.exprs();
  for (const BoxStage& stage : boxes.stages) {
    Ranges& ranges = ranges_.emplace_back();
    if (!stage.turn) continue;
    const BoxTurn& turn = *stage.turn;
    const ir::Layout& layout = layout_of(stage);
    ranges.some = builder_.getTrue();
    for (std::size_t i = 0; i < stage.from.size(); ++i)
      ranges.some = builder_.CreateAnd(ranges.some, builder_.CreateICmpSLE(exact(stage.from[i]), exact(stage.last[i])));
    std::vector<Expr> fixed(stage.from.begin(), stage.from.end());
    for (std::size_t i = 0; i < turn.axes.size(); ++i) {
      const bool has_axis = turn.axes[i] >= 0;
      const auto axis = static_cast<std::size_t>(std::max(turn.axes[i], 0));
      Value* zero = vector_.context.index(0);
      ranges.origin[i] = has_axis ? exact(turn.origin[i]) : zero;
      ranges.from[i] = has_axis ? exact(stage.from[axis]) : zero;
      ranges.last[i] = has_axis ? exact(stage.last[axis]) : zero;
      if (has_axis) fixed[axis] = exprs.constant(0);
    }
    ranges.fixed = vector_.exprs.address(builder_, at_launch(exprs, boxes, layout.offset_of(exprs, fixed)));
    Value* tensor = vector_.fields.buffer(builder_, vector_.context.buffer_of_input(stage.tensor));
    const auto size =
        static_cast<std::uint32_t>(ir::byte_size(vector_.schedule().kernel.program->value(stage.tensor).dtype));
    Value* address =
        builder_.CreateTrunc(builder_.CreatePtrToInt(tensor, builder_.getInt64Ty()), builder_.getInt32Ty());
    Value* past = builder_.CreateAnd(address, builder_.getInt32(kWordBytes - size));
    ranges.past = builder_.CreateUDiv(past, builder_.getInt32(size));
    ranges.from_first_word = builder_.CreateAdd(ranges.fixed, ranges.past);
    ranges.first_word = builder_.CreateGEP(builder_.getInt8Ty(), tensor,
                                           builder_.CreateNeg(builder_.CreateZExt(past, builder_.getInt64Ty())));
    // Tests whether words are aligned: coordinates across are multiples of a word's elements, so other parts decide.
    Value* parts = builder_.CreateOr(ranges.past, ranges.fixed);
    for (std::size_t i = 0; i < turn.axes.size(); ++i)
      if (turn.axes[i] >= 0 && i != turn.across) parts = builder_.CreateOr(parts, stride(stage, turn.axes[i]));
    // Tests the extent across, too: then each word that begins before the last element ends there or before.
    const auto across = static_cast<std::size_t>(turn.axes[turn.across]);
    parts = builder_.CreateOr(parts, exact(layout.extents()[across]));
    ranges.apart = exact(exprs.floordiv(turn.layout.extents()[turn.across], exprs.constant(turn.words)));
    ranges.columns_apart =
        exact(exprs.mul(exprs.floordiv(turn.layout.extents()[kBoxColumn], exprs.constant(turn.columns)),
                        exprs.constant(turn.adjacent)));
    Value* rest = builder_.CreateAnd(parts, builder_.getInt32(static_cast<std::uint32_t>(turn.lanes) - 1));
    ranges.aligned = builder_.CreateICmpEQ(rest, builder_.getInt32(0));
    ranges.last_word = builder_.CreateSub(exact(layout.extents()[across]), vector_.context.index(turn.lanes));
  }
}

/// Emits how many columns a thread's `column` is after its first.
Value* StageTurner::columns_after(std::size_t stage, int column) {
  const int adjacent = stage_at(stage).turn->adjacent;
  Value* groups = builder_.CreateMul(ranges_[stage].columns_apart, vector_.context.index(column / adjacent));
  return builder_.CreateAdd(groups, vector_.context.index(column % adjacent));
}

/// Emits the offset of an element. With `last_word` it is the first of a word, which begins at that coordinate across
/// or before, maybe before the first that is copied. (Along the other axes no square begins before it.) Past the last
/// coordinate, the last element or word is loaded again.
Value* StageTurner::element_of(std::size_t stage, const Square& square, int column, int word, Value* lane,
                               Value* last_word) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const Ranges& ranges = ranges_[stage];
  Value* element = square.base;
  for (std::size_t i = 0; i < turn.axes.size(); ++i) {
    if (turn.axes[i] < 0) continue;
    Value* at = square.at[i];
    if (i == kBoxColumn) at = builder_.CreateAdd(at, columns_after(stage, column));
    if (i == turn.across) {
      Value* words = builder_.CreateMul(ranges.apart, vector_.context.index(word));
      at = builder_.CreateAdd(builder_.CreateAdd(at, words), lane);
    }
    if (i == turn.across && last_word == nullptr) at = most(at, ranges.from[i]);
    at = least(at, i == turn.across && last_word != nullptr ? last_word : ranges.last[i]);
    if (i != turn.across) at = builder_.CreateMul(at, stride(stage_at(stage), turn.axes[i]));
    element = builder_.CreateAdd(element, at);
  }
  return element;
}

std::vector<Value*> StageTurner::load_words(std::size_t stage, const StagedRun& run, const Square& square) {
  const BoxTurn& turn = *stage_at(stage).turn;
  std::vector<Value*> words;
  for (int word = 0; word < turn.words; ++word)
    for (int column = 0; column < turn.columns; ++column) {
      Value* element = element_of(stage, square, column, word, vector_.context.index(0), ranges_[stage].last_word);
      words.push_back(accesses_.load(global_access(vector_, run, element, turn.lanes), builder_.getInt32Ty()));
    }
  return words;
}

/// Loads the lanes of all words one after another, which is rarely run and so is short.
std::vector<Value*> StageTurner::load_elements(std::size_t stage, const StagedRun& run, const Square& square) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const auto bits = static_cast<unsigned>(8 * ir::byte_size(run.dtype));
  std::vector<Value*> words(static_cast<std::size_t>(turn.words) * static_cast<std::size_t>(turn.columns),
                            builder_.getInt32(0));
  words.push_back(vector_.context.index(0));  // the lane
  carrying_loop(builder_, words, [&] {
    Value* lane = words.back();
    Value* shift = builder_.CreateMul(lane, builder_.getInt32(bits));
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const auto number = static_cast<int>(i) / turn.columns, column = static_cast<int>(i) % turn.columns;
      Value* element = element_of(stage, square, column, number, lane, /*last_word=*/nullptr);
      Value* one = accesses_.load(global_access(vector_, run, element, 1), builder_.getIntNTy(bits));
      Value* wide = builder_.CreateZExt(one, builder_.getInt32Ty());
      words[i] = builder_.CreateOr(words[i], builder_.CreateShl(wide, shift));
    }
    words.back() = builder_.CreateAdd(lane, vector_.context.index(1));
    return builder_.CreateICmpSLT(words.back(), vector_.context.index(turn.lanes));
  });
  words.pop_back();
  return words;
}

/// Loads words that begin anywhere, at these elements counted from `first_word`: each from the two whole words around
/// it.
std::vector<Value*> StageTurner::load_pairs(std::size_t stage, const StagedRun& run, llvm::ArrayRef<Value*> elements) {
  const int lanes = stage_at(stage).turn->lanes, size = ir::byte_size(run.dtype);
  const Ranges& ranges = ranges_[stage];
  Value* in_word = builder_.getInt32(static_cast<std::uint32_t>(lanes) - 1);
  std::vector<Value*> words;
  for (Value* element : elements) {
    Access access = global_access(vector_, run, builder_.CreateAnd(element, builder_.CreateNot(in_word)), lanes);
    access.pointer = ranges.first_word;
    access.origin = builder_.CreateNeg(ranges.past);
    Value* low = accesses_.load(access, builder_.getInt32Ty());
    access.displacement = lanes;
    Value* high = accesses_.load(access, builder_.getInt32Ty());
    Value* bytes = builder_.CreateMul(builder_.CreateAnd(element, in_word), vector_.context.index(size));
    words.push_back(VectorShift(builder_, 4, size).shifted(low, high, bytes));
  }
  return words;
}

/// Emits whether the whole words around words that begin from one element to another lie in the tensor's storage.
Value* StageTurner::has_pairs(std::size_t stage, const StagedRun& run, Value* first, Value* last) {
  const int lanes = stage_at(stage).turn->lanes;
  Value* end = builder_.CreateSExt(builder_.CreateAdd(last, vector_.context.index(std::int64_t{2} * lanes)),
                                   run.storage->getType());
  return builder_.CreateAnd(builder_.CreateICmpSGE(first, vector_.context.index(lanes - 1)),
                            builder_.CreateICmpSLE(end, run.storage));
}

/// Emits whether `has_pairs` holds for all words of a box. Where it does, threads need not ask.
Value* StageTurner::has_all_pairs(std::size_t stage, const StagedRun& run) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const Ranges& ranges = ranges_[stage];
  Value *first = ranges.fixed, *last = ranges.fixed;
  for (std::size_t i = 0; i < turn.axes.size(); ++i) {
    if (turn.axes[i] < 0) continue;
    Value* step = stride(stage_at(stage), turn.axes[i]);
    // The first word across may begin before the first element that is copied.
    first = builder_.CreateAdd(first, builder_.CreateMul(ranges.origin[i], step));
    last = builder_.CreateAdd(last, builder_.CreateMul(ranges.last[i], step));
  }
  return has_pairs(stage, run, first, last);
}

/// Loads a square. Words that begin anywhere are made from pairs, or element by element at the ends of the tensor.
std::vector<Value*> StageTurner::load(std::size_t stage, const StagedRun& run, const Square& square) {
  const BoxTurn& turn = *stage_at(stage).turn;
  if (turn.lanes == 1) return load_words(stage, run, square);
  BasicBlock *words = vector_.block("words"), *apart = vector_.block("apart"), *ends = vector_.block("ends"),
             *pairs = vector_.block("pairs"), *elements = vector_.block("elements"), *loaded = vector_.block("loaded");
  Ways ways;
  const auto take = [&](const std::vector<Value*>& made) {
    ways.emplace_back(builder_.GetInsertBlock(), made);
    builder_.CreateBr(loaded);
  };
  builder_.CreateCondBr(ranges_[stage].aligned, words, apart);
  builder_.SetInsertPoint(words);
  take(load_words(stage, run, square));
  builder_.SetInsertPoint(apart);
  Square placed = square;
  placed.base = ranges_[stage].from_first_word;
  std::vector<Value*> first;
  for (int word = 0; word < turn.words; ++word)
    for (int column = 0; column < turn.columns; ++column)
      first.push_back(
          element_of(stage, placed, column, word, vector_.context.index(0), ranges_[stage].last[turn.across]));
  builder_.CreateCondBr(ranges_[stage].all_pairs, pairs, ends);
  builder_.SetInsertPoint(ends);
  Value *least_of = first.front(), *most_of = first.front();
  for (Value* element : first) {
    least_of = least(least_of, element);
    most_of = most(most_of, element);
  }
  Value* past = ranges_[stage].past;
  Value* has = has_pairs(stage, run, builder_.CreateSub(least_of, past), builder_.CreateSub(most_of, past));
  builder_.CreateCondBr(has, pairs, elements);
  builder_.SetInsertPoint(pairs);
  take(load_pairs(stage, run, first));
  builder_.SetInsertPoint(elements);
  take(load_elements(stage, run, square));
  builder_.SetInsertPoint(loaded);
  return join(builder_, ways);
}

/// Stores a thread's columns of each element that lies across. Stores words where rows have whole words, which all have
/// unless the columns have two axes.
void StageTurner::store(std::size_t stage, const StagedRun& run, const Square& square, llvm::ArrayRef<Value*> words) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const int size = ir::byte_size(run.dtype);
  std::array<Value*, 3> pitch = {};
  Value* element = builder_.getInt32(0);
  for (std::size_t i = 0; i < turn.axes.size(); ++i) {
    pitch[i] = exact(turn.layout.strides()[i]);
    Value* index = builder_.CreateSub(square.at[i], ranges_[stage].origin[i]);
    element = builder_.CreateAdd(element, builder_.CreateMul(index, pitch[i]));
  }
  Value* at = builder_.CreateAdd(run.place, builder_.CreateMul(element, vector_.context.index(size)));
  Value* bytes = builder_.CreateMul(pitch[turn.across], vector_.context.index(size));
  const Boxes& boxes = *vector_.schedule().boxes();
  if (boxes.column_axis + 1 == vector_.schedule().kernel.rank()) return store_words(stage, run, at, bytes, words);
  Value* rest = builder_.CreateAnd(pitch[kBoxRow], vector_.context.index(turn.columns - 1));
  BasicBlock* whole = vector_.block("whole");
  BasicBlock* single = vector_.block("single");
  BasicBlock* stored = vector_.block("turned");
  builder_.CreateCondBr(builder_.CreateICmpEQ(rest, vector_.context.index(0)), whole, single);
  builder_.SetInsertPoint(whole);
  store_words(stage, run, at, bytes, words);
  builder_.CreateBr(stored);
  builder_.SetInsertPoint(single);
  store_elements(stage, run, square, at, bytes, words);
  builder_.CreateBr(stored);
  builder_.SetInsertPoint(stored);
}

/// Emits the place of element `lane` of a word whose first column is at `at`.
Value* StageTurner::place_of(std::size_t stage, Value* at, Value* bytes, int word, int lane) {
  Value* across = builder_.CreateMul(ranges_[stage].apart, vector_.context.index(word));
  across = builder_.CreateAdd(across, vector_.context.index(lane));
  return builder_.CreateAdd(at, builder_.CreateMul(bytes, across));
}

void StageTurner::store_words(std::size_t stage, const StagedRun& run, Value* at, Value* bytes,
                              llvm::ArrayRef<Value*> words) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const int lanes = turn.lanes, size = ir::byte_size(run.dtype);
  llvm::Type* type = builder_.getInt32Ty();
  if (lanes > 1)
    type =
        llvm::FixedVectorType::get(builder_.getIntNTy(static_cast<unsigned>(8 * size)), static_cast<unsigned>(lanes));
  // So many words are a square: as many columns as elements across.
  for (int first = 0; first < static_cast<int>(words.size()); first += lanes) {
    std::vector<Value*> vectors;
    for (int i = 0; i < lanes; ++i)
      vectors.push_back(
          builder_.CreateBitCast(words[static_cast<std::size_t>(first) + static_cast<std::size_t>(i)], type));
    const std::vector<Value*> rows = turned(builder_, vectors, vector_.context.target.permutes_bytes);
    for (int lane = 0; lane < lanes; ++lane) {
      Value* place = place_of(stage, at, bytes, first / turn.columns, lane);
      place = builder_.CreateAdd(
          place, builder_.CreateMul(columns_after(stage, first % turn.columns), vector_.context.index(size)));
      memory_.store(place, builder_.CreateBitCast(rows[static_cast<std::size_t>(lane)], builder_.getInt32Ty()));
    }
  }
}

void StageTurner::store_elements(std::size_t stage, const StagedRun& run, const Square& square, Value* at, Value* bytes,
                                 llvm::ArrayRef<Value*> words) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const int size = ir::byte_size(run.dtype);
  const auto bits = static_cast<unsigned>(8 * size);
  for (int column = 0; column < turn.columns; ++column) {
    Value* number = builder_.CreateAdd(square.at[kBoxColumn], vector_.context.index(column));
    vector_.when(builder_.CreateICmpSLE(number, ranges_[stage].last[kBoxColumn]), [&] {
      for (int word = 0; word < turn.words; ++word)
        for (int lane = 0; lane < turn.lanes; ++lane) {
          Value* loaded = words[(static_cast<std::size_t>(word) * static_cast<std::size_t>(turn.columns)) +
                                static_cast<std::size_t>(column)];
          Value* one = builder_.CreateTrunc(
              builder_.CreateLShr(loaded, std::uint64_t{bits} * static_cast<unsigned>(lane)), builder_.getIntNTy(bits));
          Value* place = place_of(stage, at, bytes, word, lane);
          memory_.store(builder_.CreateAdd(place, vector_.context.index(std::int64_t{size} * column)), one);
        }
    });
  }
}

/// Threads with consecutive numbers take words that lie together across. Next they take what follows in the tensor: the
/// slices of rows that lie across, else the columns.
void StageTurner::copy(std::size_t stage, const StagedRun& run) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const Boxes& boxes = *vector_.schedule().boxes();
  ir::ExprContext& exprs = vector_.context.exprs();
  const Ranges& ranges = ranges_[stage];
  if (turn.lanes > 1) ranges_[stage].all_pairs = has_all_pairs(stage, run);
  const BoxAxis third = turn.across == kBoxSlice ? kBoxRow : kBoxSlice;
  const auto groups = [&](BoxAxis axis, int unit) {
    const Expr count = exprs.ceildiv(turn.layout.extents()[axis], exprs.constant(unit));
    return exprs.max(at_launch(exprs, boxes, count), exprs.constant(1));
  };
  const int across_unit = turn.words * turn.lanes;
  const Expr across = groups(turn.across, across_unit), along = groups(kBoxColumn, turn.columns);
  const Expr lines = groups(third, 1);
  const bool takes_lines = third == kBoxSlice;
  Value* all = builder_.CreateMul(exact(lines), builder_.CreateMul(exact(across), exact(along)));
  all = builder_.CreateSelect(ranges.some, all, vector_.context.index(0));
  counted_loop(builder_, thread_, all, boxes.threads, [&](Value* number) {
    const auto [rest, group] = vector_.exprs.divide(builder_, number, across);
    const auto [outer, inner] = vector_.exprs.divide(builder_, rest, takes_lines ? lines : along);
    Value* line = takes_lines ? inner : outer;
    Value* column = takes_lines ? outer : inner;
    Square square{.at = {}, .base = ranges.fixed};
    const auto place = [&](BoxAxis axis, Value* which, int unit) {
      square.at[axis] = builder_.CreateAdd(ranges.origin[axis], builder_.CreateMul(which, vector_.context.index(unit)));
    };
    place(third, line, 1);
    place(turn.across, group, turn.lanes);
    place(kBoxColumn, column, turn.adjacent);
    Value* inside = builder_.getTrue();
    for (std::size_t i = 0; i < ranges.last.size(); ++i)
      inside = builder_.CreateAnd(inside, builder_.CreateICmpSLE(square.at[i], ranges.last[i]));
    vector_.when(inside, [&] { store(stage, run, square, load(stage, run, square)); });
  });
}

}  // namespace padlock::compiler
