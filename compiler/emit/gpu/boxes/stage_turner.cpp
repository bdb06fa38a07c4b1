#include "compiler/emit/gpu/boxes/stage_turner.h"

#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/vector_shift.h"

namespace padlock::compiler {
namespace {

/// Squares that a thread has on their way at a time.
constexpr int kSquaresOnTheirWay = 2;

}  // namespace

Value* StageTurner::exact(Expr e) {
  return vector_.exprs.exact(builder_, at_launch(vector_.context.exprs(), *vector_.schedule().boxes(), e));
}

Value* StageTurner::stride(const BoxStage& stage, int axis) {
  return vector_.exprs.address(builder_, layout_of(stage).strides()[static_cast<std::size_t>(axis)]);
}

Value* StageTurner::within(Value* at, Value* from, Value* last) {
  Value* least = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, from);
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, last);
}

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
    // Words begin at multiples of their elements across, which leaves the other steps.
    const auto size = static_cast<std::uint64_t>(ir::byte_size(vector_.schedule().kernel.program->value(stage.tensor).dtype));
    const std::size_t buffer = vector_.context.buffer_of_input(stage.tensor);
    Value* address =
        builder_.CreatePtrToInt(vector_.fields.buffer(builder_, buffer), builder_.getInt64Ty());
    Value* parts = builder_.CreateTrunc(builder_.CreateUDiv(address, builder_.getInt64(size)), builder_.getInt32Ty());
    parts = builder_.CreateOr(parts, ranges.fixed);
    for (std::size_t i = 0; i < turn.axes.size(); ++i)
      if (turn.axes[i] >= 0 && i != turn.across) parts = builder_.CreateOr(parts, stride(stage, turn.axes[i]));
    Value* rest = builder_.CreateAnd(parts, builder_.getInt32(static_cast<std::uint32_t>(turn.lanes) - 1));
    ranges.aligned = builder_.CreateICmpEQ(rest, builder_.getInt32(0));
  }
}

Access StageTurner::access_of(const BoxStage& stage, const StagedRun& run, Value* element, int elements) {
  Access access{.pointer = run.tensor, .dtype = run.dtype, .first = element, .elements = elements};
  if (vector_.context.target.aligned_elements)
    access.align = static_cast<unsigned>(elements * ir::byte_size(run.dtype));
  if (!vector_.context.bounds_check) return access;
  const ir::Value& tensor = vector_.schedule().kernel.program->value(stage.tensor);
  access.extent = vector_.exprs.word(tensor.layout.storage_extent());
  access.name = builder_.getInt64(vector_.context.buffer_of_input(stage.tensor));
  return access;
}

/// Past the last coordinate its element is loaded again.
Value* StageTurner::element_of(std::size_t stage, const Square& square, int column, int lane) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const Ranges& ranges = ranges_[stage];
  Value* element = ranges.fixed;
  for (std::size_t i = 0; i < turn.axes.size(); ++i) {
    if (turn.axes[i] < 0) continue;
    Value* at = square.at[i];
    if (i == kBoxColumn) at = builder_.CreateAdd(at, vector_.context.index(column));
    if (i == turn.across && lane >= 0) at = builder_.CreateAdd(at, vector_.context.index(lane));
    if (i != turn.across || lane >= 0) at = within(at, ranges.from[i], ranges.last[i]);
    if (i != turn.across) at = builder_.CreateMul(at, stride(stage_at(stage), turn.axes[i]));
    element = builder_.CreateAdd(element, at);
  }
  return element;
}

std::vector<Value*> StageTurner::load_words(std::size_t stage, const StagedRun& run, const Square& square) {
  const int lanes = stage_at(stage).turn->lanes;
  std::vector<Value*> words;
  for (int column = 0; column < kTurnedElements; ++column) {
    Value* element = element_of(stage, square, column, lanes == 1 ? 0 : -1);
    words.push_back(accesses_.load(access_of(stage_at(stage), run, element, lanes), builder_.getInt32Ty()));
  }
  return words;
}

std::vector<Value*> StageTurner::load_elements(std::size_t stage, const StagedRun& run, const Square& square) {
  const int lanes = stage_at(stage).turn->lanes;
  const auto bits = static_cast<unsigned>(8 * ir::byte_size(run.dtype));
  std::vector<Value*> words;
  for (int column = 0; column < kTurnedElements; ++column) {
    Value* word = builder_.getInt32(0);
    for (int lane = 0; lane < lanes; ++lane) {
      Value* element = element_of(stage, square, column, lane);
      Value* one = accesses_.load(access_of(stage_at(stage), run, element, 1), builder_.getIntNTy(bits));
      Value* wide = builder_.CreateZExt(one, builder_.getInt32Ty());
      word = builder_.CreateOr(word, builder_.CreateShl(wide, static_cast<unsigned>(lane) * bits));
    }
    words.push_back(word);
  }
  return words;
}

/// Words that end past the last coordinate go by elements, and those that begin anywhere.
std::vector<Value*> StageTurner::load(std::size_t stage, const StagedRun& run, const Square& square) {
  const BoxTurn& turn = *stage_at(stage).turn;
  if (turn.lanes == 1) return load_words(stage, run, square);
  const ir::Layout& layout = layout_of(stage_at(stage));
  Value* end = builder_.CreateAdd(square.at[turn.across], vector_.context.index(turn.lanes));
  Value* extent = vector_.exprs.exact(builder_, layout.extents()[static_cast<std::size_t>(turn.axes[turn.across])]);
  BasicBlock* words = vector_.block("words");
  BasicBlock* elements = vector_.block("apart");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(builder_.CreateAnd(ranges_[stage].aligned, builder_.CreateICmpSLE(end, extent)), words,
                        elements);
  Ways ways;
  builder_.SetInsertPoint(words);
  std::vector<Value*> made = load_words(stage, run, square);
  ways.emplace_back(builder_.GetInsertBlock(), made);
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(elements);
  made = load_elements(stage, run, square);
  ways.emplace_back(builder_.GetInsertBlock(), made);
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  return join(builder_, ways);
}

void StageTurner::store(std::size_t stage, const StagedRun& run, const Square& square, llvm::ArrayRef<Value*> words) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const auto lanes = static_cast<std::size_t>(turn.lanes);
  const int size = ir::byte_size(run.dtype);
  std::array<Value*, 3> pitch = {};
  Value* element = builder_.getInt32(0);
  for (std::size_t i = 0; i < turn.axes.size(); ++i) {
    pitch[i] = exact(turn.layout.strides()[i]);
    Value* index = builder_.CreateSub(square.at[i], ranges_[stage].origin[i]);
    element = builder_.CreateAdd(element, builder_.CreateMul(index, pitch[i]));
  }
  Value* at = builder_.CreateAdd(run.place, builder_.CreateMul(element, vector_.context.index(size)));
  llvm::Type* type = size == 4 ? builder_.getInt32Ty()
                               : static_cast<llvm::Type*>(llvm::FixedVectorType::get(
                                     builder_.getIntNTy(static_cast<unsigned>(8 * size)), static_cast<unsigned>(lanes)));
  // Squares of as many columns as elements lie across.
  for (std::size_t first = 0; first < words.size(); first += lanes) {
    std::vector<Value*> vectors;
    for (std::size_t i = 0; i < lanes; ++i) vectors.push_back(builder_.CreateBitCast(words[first + i], type));
    const std::vector<Value*> rows = turned(builder_, vectors, vector_.context.target.permutes_bytes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto index = [&](std::size_t i) { return vector_.context.index(static_cast<std::int64_t>(i)); };
      Value* across = builder_.CreateMul(pitch[turn.across], builder_.CreateMul(index(lane), index(static_cast<std::size_t>(size))));
      Value* along = index(first * static_cast<std::size_t>(size));
      Value* place = builder_.CreateAdd(at, builder_.CreateAdd(across, along));
      memory_.store(place, builder_.CreateBitCast(rows[lane], builder_.getInt32Ty()));
    }
  }
}

/// Threads whose numbers follow each other take words that lie together across.
void StageTurner::copy(std::size_t stage, const StagedRun& run) {
  const BoxTurn& turn = *stage_at(stage).turn;
  const Boxes& boxes = *vector_.schedule().boxes();
  ir::ExprContext& exprs = vector_.context.exprs();
  const Ranges& ranges = ranges_[stage];
  const BoxAxis third = turn.across == kBoxSlice ? kBoxRow : kBoxSlice;
  const auto groups = [&](BoxAxis axis, int unit) {
    const Expr count = exprs.floordiv(turn.layout.extents()[axis], exprs.constant(unit));
    return exprs.max(at_launch(exprs, boxes, count), exprs.constant(1));
  };
  const Expr across = groups(turn.across, turn.lanes), along = groups(kBoxColumn, kTurnedElements);
  Value* lines = builder_.CreateAdd(builder_.CreateSub(ranges.last[third], ranges.from[third]), vector_.context.index(1));
  Value* all = builder_.CreateMul(lines, builder_.CreateMul(exact(across), exact(along)));
  all = builder_.CreateSelect(ranges.some, all, vector_.context.index(0));
  counted_loop(builder_, thread_, all, std::int64_t{kSquaresOnTheirWay} * boxes.threads, [&](Value* first) {
    std::vector<Square> squares;
    std::vector<Value*> taken;
    std::vector<std::vector<Value*>> loaded;
    for (int i = 0; i < kSquaresOnTheirWay; ++i) {
      Value* number = builder_.CreateAdd(first, vector_.context.index(std::int64_t{i} * boxes.threads));
      const auto [line_and_column, word] = vector_.exprs.divide(builder_, number, across);
      const auto [line, column] = vector_.exprs.divide(builder_, line_and_column, along);
      Square& square = squares.emplace_back();
      square.at[third] = builder_.CreateAdd(ranges.origin[third], line);
      square.at[turn.across] = builder_.CreateAdd(ranges.origin[turn.across],
                                                  builder_.CreateMul(word, vector_.context.index(turn.lanes)));
      square.at[kBoxColumn] = builder_.CreateAdd(ranges.origin[kBoxColumn],
                                                 builder_.CreateMul(column, vector_.context.index(kTurnedElements)));
      Value* inside =
          builder_.CreateAnd(builder_.CreateICmpSLE(square.at[turn.across], ranges.last[turn.across]),
                             builder_.CreateICmpSLE(square.at[kBoxColumn], ranges.last[kBoxColumn]));
      taken.push_back(builder_.CreateAnd(inside, builder_.CreateICmpSLT(number, all)));
      Ways ways;
      ways.emplace_back(builder_.GetInsertBlock(), std::vector<Value*>(kTurnedElements, builder_.getInt32(0)));
      BasicBlock* some = vector_.block("square");
      BasicBlock* after = vector_.block("after");
      builder_.CreateCondBr(taken.back(), some, after);
      builder_.SetInsertPoint(some);
      std::vector<Value*> words = load(stage, run, square);
      ways.emplace_back(builder_.GetInsertBlock(), std::move(words));
      builder_.CreateBr(after);
      builder_.SetInsertPoint(after);
      loaded.push_back(join(builder_, ways));
    }
    for (std::size_t i = 0; i < squares.size(); ++i)
      vector_.when(taken[i], [&] { store(stage, run, squares[i], loaded[i]); });
  });
}

}  // namespace padlock::compiler
