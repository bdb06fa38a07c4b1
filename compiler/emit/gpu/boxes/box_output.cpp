#include "compiler/emit/gpu/boxes/box_output.h"

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

/// Fewest vectors of the strips that threads enter, if a box has as many: with fewer, most threads wait for a few. (An
/// H200: of layouts with 160 channels and 28 x 28 pixels, 64 vectors take .78 to 1.0 of the time of 32, .8 to 1.0 of
/// that of 256.)
constexpr int kFewestEnteredVectors = 64;

}  // namespace

/// Emits the first element of the box's first row.
Value* BoxOutput::first_element() {
  const Expr first = box_first_element(vector_.schedule().kernel, boxes_);
  return vector_.exprs.address(builder_, at_launch(context_.exprs(), boxes_, first));
}

/// Emits the number of elements in a strip of the box, or in a box without strips. A strip of parts is one row. Else
/// rows follow each other: all but the last are whole.
Value* BoxOutput::elements_of_strip() {
  Value* last = builder_.CreateSub(box_.column_end, box_.first_column);
  if (has_parts()) return last;
  Value* before = builder_.CreateMul(builder_.CreateSub(box_.rows, context_.index(1)), exact(columns()));
  return builder_.CreateAdd(before, last);
}

/// Emits which lanes the strip has of the vector that begins at its element `at`: the first, and the end.
std::pair<Value*, Value*> BoxOutput::lanes_at(Value* at) {
  Value* begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.CreateNeg(at), context_.index(0));
  Value* left = builder_.CreateSub(elements_, at);
  return {begin, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, context_.index(boxes_.lanes))};
}

/// Emits the lane of a strip's first element. Vectors lie at multiples of their size in memory.
Value* BoxOutput::phase_of(Value* first) {
  return builder_.CreateAnd(builder_.CreateAdd(stores_.phase(), first), context_.index(boxes_.lanes - 1));
}

/// Emits the values of the vector at element `at` of a strip of several rows.
std::vector<Value*> BoxOutput::values_at(Value* at) {
  Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, context_.index(0));
  Value* row = vector_.exprs.divide(builder_, inside, columns()).quotient;
  Value* in_row = builder_.CreateSub(at, builder_.CreateMul(row, exact(columns())));
  return vectors_.emit(row, builder_.CreateAdd(box_.first_column, in_row), box_);
}

/// Stores a vector, in parts unless it is whole. Its strip begins at element `first` of the output.
void BoxOutput::store(Value* first, const Vector& vector, llvm::ArrayRef<Value*> results) {
  Value* element = builder_.CreateAdd(first, vector.at);
  const auto store_parts = [&] {
    const auto [begin, end] = lanes_at(vector.at);
    parts_.store(element, begin, end, results);
  };
  Value* is_whole = builder_.CreateAnd(vector.is_whole, stores_.together());
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_whole))
    return known->isOne() ? stores_.store_vector(element, results) : store_parts();
  BasicBlock* whole = vector_.block("vector");
  BasicBlock* part = vector_.block("part");
  BasicBlock* done = vector_.block("stored");
  builder_.CreateCondBr(is_whole, whole, part);
  builder_.SetInsertPoint(whole);
  stores_.store_vector(element, results);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(part);
  store_parts();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void BoxOutput::emit(const BoxVectors::Range& box) {
  box_ = box;
  if (has_strips(boxes_))
    emit_strips();
  else
    emit_rows();
}

/// Emits vectors of elements that follow each other, in whichever rows these lie.
void BoxOutput::emit_rows() {
  elements_ = elements_of_strip();
  Value* first = first_element();
  Value* lanes = context_.index(boxes_.lanes);
  Value* begin = builder_.CreateSub(builder_.CreateMul(thread_, lanes), phase_of(first));
  Value* last_whole = builder_.CreateSub(elements_, lanes);
  counted_loop(builder_, begin, elements_, std::int64_t{boxes_.threads} * boxes_.lanes, [&](Value* at) {
    Value* begins = builder_.CreateICmpSGE(at, context_.index(0));
    Value* is_whole = builder_.CreateAnd(begins, builder_.CreateICmpSLE(at, last_whole));
    store(first, {.at = at, .is_whole = is_whole}, values_at(at));
  });
}

// --- strips --------------------------------------------------------------------------------------------------------

/// Returns the axes along which strips lie, as their coordinates: of parts the rows', and the slices' if there are
/// some.
llvm::SmallVector<Expr, 2> BoxOutput::strip_axes() const {
  const Kernel& kernel = vector_.schedule().kernel;
  llvm::SmallVector<Expr, 2> axes;
  if (has_parts()) axes.push_back(kernel.coordinate(boxes_.row_axis));
  if (boxes_.slices) axes.push_back(kernel.coordinate(boxes_.slice));
  return axes;
}

/// Returns the strips that threads enter. Each goes on to those that begin at the same lane as the one entered, if
/// enough do and vectors have the same lanes of at most two rows.
Expr BoxOutput::entered_strips() {
  ir::ExprContext& exprs = context_.exprs();
  const Kernel& kernel = vector_.schedule().kernel;
  const Expr all = at_launch(exprs, boxes_, box_strips(kernel, boxes_));
  if (!vectors_.shares_places(strip_axes())) return all;
  const auto is_positive = [&](Expr e) { return exprs.min(exprs.max(e, exprs.constant(0)), exprs.constant(1)); };
  const Expr period = at_launch(exprs, boxes_, boxes_.period);
  const Expr vectors = exprs.mul(period, box_strip_vectors(kernel, boxes_));
  const Expr entered = exprs.mul(period, exprs.ceildiv(exprs.constant(kFewestEnteredVectors), vectors));
  // Fewer than one and a half for each are not worth their places.
  Expr several = is_positive(exprs.sub(exprs.mul(exprs.constant(2), all),
                                       exprs.sub(exprs.mul(exprs.constant(3), entered), exprs.constant(1))));
  if (!has_parts()) several = exprs.mul(several, is_positive(exprs.sub(columns(), exprs.constant(boxes_.lanes - 1))));
  return exprs.sub(all, exprs.mul(several, exprs.sub(all, entered)));
}

void BoxOutput::set_slice(Value* number) {
  vector_.exprs.set_coordinate(vector_.schedule().kernel.coordinate(boxes_.slice),
                               builder_.CreateAdd(box_.first_slice, number));
}

/// Emits a strip's digits along the axes.
llvm::SmallVector<Value*, 2> BoxOutput::digits_of(Value* strip) {
  if (!has_parts() || !boxes_.slices) return {strip};
  const Expr rows = at_launch(context_.exprs(), boxes_, boxes_.rows.step);
  const auto [slice, row] = vector_.exprs.divide(builder_, strip, rows);
  return {row, slice};
}

/// Emits whether the box has a strip. A last box may have fewer rows or slices than others.
Value* BoxOutput::has_strip(llvm::ArrayRef<Value*> digits) {
  Value* has = builder_.getTrue();
  if (has_parts()) has = builder_.CreateAnd(has, builder_.CreateICmpSLT(digits.front(), box_.rows));
  if (boxes_.slices) has = builder_.CreateAnd(has, builder_.CreateICmpSLT(digits.back(), box_.slices));
  return has;
}

/// Emits the first element of a strip.
Value* BoxOutput::first_of_strip(llvm::ArrayRef<Value*> digits) {
  Value* first = first_;
  const auto go_on = [&](Value* by, Expr step) {
    first = builder_.CreateAdd(first, builder_.CreateMul(by, exact(step)));
  };
  if (has_parts()) go_on(digits.front(), columns());
  if (boxes_.slices) go_on(digits.back(), box_slice_step(vector_.schedule().kernel, boxes_));
  return first;
}

void BoxOutput::emit_strips() {
  if (boxes_.slices) set_slice(context_.index(0));
  first_ = first_element();
  elements_ = elements_of_strip();
  emit_whole_vectors();
  emit_ends();
}

/// Emits the element of a strip at which its first whole vector begins.
Value* BoxOutput::head_of(Value* strip) {
  Value* phase = phase_of(first_of_strip(digits_of(strip)));
  return builder_.CreateAnd(builder_.CreateNeg(phase), context_.index(boxes_.lanes - 1));
}

void BoxOutput::emit_whole_vectors() {
  Value* lanes = context_.index(boxes_.lanes);
  const Expr each = box_strip_vectors(vector_.schedule().kernel, boxes_);
  Value* vectors = builder_.CreateMul(exact(entered_strips()), vector_.exprs.exact(builder_, each));
  counted_loop(builder_, thread_, vectors, boxes_.threads, [&](Value* number) {
    const auto [strip, which] = vector_.exprs.divide(builder_, number, each);
    Value* at = builder_.CreateAdd(head_of(strip), builder_.CreateMul(which, lanes));
    vector_.when(builder_.CreateICmpSLE(builder_.CreateAdd(at, lanes), elements_),
                 [&] { emit_from({.strip = strip, .at = at, .is_whole = builder_.getTrue()}); });
  });
}

/// Emits what strips have before and after their whole vectors. Threads of a warp take different strips: going on from
/// one to the next, two of them would work. (An H200, halves of 160 channels to planes: 269 instructions for 32 vectors
/// so, 215 apart.)
void BoxOutput::emit_ends() {
  Value *zero = context_.index(0), *lanes = context_.index(boxes_.lanes);
  Value* strips = exact(box_strips(vector_.schedule().kernel, boxes_));
  Value* ends = builder_.CreateMul(strips, context_.index(2));
  counted_loop(builder_, thread_, ends, boxes_.threads, [&](Value* number) {
    Value* is_last = builder_.CreateICmpSGE(number, strips);
    Value* strip = builder_.CreateSelect(is_last, builder_.CreateSub(number, strips), number);
    Value* head = head_of(strip);
    Value* after_head = builder_.CreateSub(elements_, head);  // less than 0 if all elements are before
    Value* last = builder_.CreateAnd(after_head, context_.index(-boxes_.lanes));
    Value* has_last =
        builder_.CreateICmpSGT(after_head, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, zero));
    Value* at = builder_.CreateAdd(head, builder_.CreateSelect(is_last, last, builder_.CreateNeg(lanes)));
    vector_.when(builder_.CreateSelect(is_last, has_last, builder_.CreateICmpSGT(head, zero)),
                 [&] { emit_by_itself({.strip = strip, .at = at, .is_whole = builder_.getFalse()}); });
  });
}

/// Emits the places of the vector at element `at` of the strips: of parts in one row, else in at most two.
std::vector<BoxVectors::Place> BoxOutput::places_of(Value* at, BoxVectors::Enter enter) {
  const llvm::SmallVector<Expr, 2> axes = strip_axes();
  Value* row = context_.index(0);
  Value* column = builder_.CreateAdd(box_.first_column, at);
  if (has_parts()) return {vectors_.place_of(row, column, box_, axes, enter)};
  Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, context_.index(0));
  row = vector_.exprs.divide(builder_, inside, columns()).quotient;
  column = builder_.CreateSub(column, builder_.CreateMul(row, exact(columns())));
  std::vector<BoxVectors::Place> places = {vectors_.place_of(row, column, box_, axes, enter)};
  row = builder_.CreateAdd(row, context_.index(1));
  column = builder_.CreateSub(column, exact(columns()));
  places.push_back(vectors_.place_of(row, column, box_, axes, enter));
  vectors_.join_rows(places[0], places[1], axes);
  return places;
}

/// Emits a vector of the strip that is entered alone.
void BoxOutput::emit_by_itself(const Vector& vector) {
  const llvm::SmallVector<Value*, 2> digits = digits_of(vector.strip);
  vector_.when(has_strip(digits), [&] {
    if (boxes_.slices) set_slice(digits.back());
    store(first_of_strip(digits), vector,
          has_parts() ? vectors_.emit(digits.front(), builder_.CreateAdd(box_.first_column, vector.at), box_)
                      : values_at(vector.at));
  });
}

/// Emits a vector of the strip that is entered, and of those to which a thread goes on from it.
void BoxOutput::emit_several(const Vector& vector) {
  const llvm::SmallVector<Expr, 2> axes = strip_axes();
  const auto enter = [&](Value* row, BoxVectors::Digits digits) {
    if (boxes_.slices) set_slice(digits.back());
    vectors_.set_row(has_parts() ? digits.front() : row);
  };
  const std::vector<BoxVectors::Place> places = places_of(vector.at, enter);
  Value* count = boxes_.slices ? box_.slices : box_.rows;
  if (has_parts() && boxes_.slices) count = builder_.CreateMul(count, exact(boxes_.rows.step));
  counted_loop(builder_, vector.strip, count, exact(entered_strips()), [&](Value* strip) {
    const llvm::SmallVector<Value*, 2> digits = digits_of(strip);
    const auto emit = [&] {
      const std::vector<Value*> values = vectors_.emit(places, digits, axes, enter);
      store(first_of_strip(digits), vector, values);
    };
    // One digit is below the count.
    if (digits.size() == 1) return emit();
    vector_.when(has_strip(digits), emit);
  });
}

/// Both ways in one loop would keep the places in registers for a way without them, which then spills.
void BoxOutput::emit_from(const Vector& vector) {
  if (!vectors_.shares_places(strip_axes())) return emit_by_itself(vector);
  if (has_parts()) return emit_several(vector);
  // A vector of shorter rows may lie in more than two.
  Value* in_two_rows = builder_.CreateICmpSGE(exact(columns()), context_.index(boxes_.lanes));
  vector_.when(builder_.CreateNot(in_two_rows), [&] { emit_by_itself(vector); });
  vector_.when(in_two_rows, [&] { emit_several(vector); });
}

}  // namespace padlock::compiler
