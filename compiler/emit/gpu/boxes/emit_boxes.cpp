#include "compiler/emit/gpu/boxes/emit_boxes.h"

#include "compiler/emit/gpu/boxes/box_vectors.h"
#include "compiler/emit/gpu/boxes/stage_turner.h"
#include "compiler/emit/gpu/boxes/vector_parts.h"

namespace padlock::compiler {
namespace {

/// Fewest vectors of the strips that threads enter, if a box has as many: with fewer, most threads wait for a few. (An
/// H200: of layouts with 160 channels and 28 x 28 pixels, 64 vectors take .78 to 1.0 of the time of 32, .8 to 1.0 of
/// that of 256.)
constexpr int kFewestEnteredVectors = 64;

class BoxEmitter {
 public:
  BoxEmitter(const VectorContext& vector, Value* thread)
      : vector_(vector),
        context_(vector.context),
        builder_(vector.builder),
        boxes_(*vector.schedule().boxes()),
        memory_(vector, vector.shared, at_launch(vector.exprs.exprs(), boxes_, boxes_.shared_bytes)),
        stages_(vector, memory_, thread),
        turner_(vector, memory_, thread),
        vectors_(vector, memory_, stages_),
        stores_(vector),
        parts_(vector, stores_),
        thread_(thread) {}

  void emit(Value* block) {
    vectors_.load_buffers();
    stores_.load_buffers();
    enter_box(block);
    stages_.locate();
    turner_.locate();
    vector_.in_turn([&] { copy(); },
                    [&] {
                      stages_.wait();
                      if (has_strips(boxes_))
                        emit_strips();
                      else
                        emit_rows();
                    });
  }

 private:
  void copy() {
    vector_.wait_for_earlier_grids();
    stages_.copy();
    for (std::size_t i = 0; i < boxes_.stages.size(); ++i)
      if (boxes_.stages[i].turn) turner_.copy(i, stages_.at(i));
  }

  [[nodiscard]] Value* exact(Expr e) { return vector_.exprs.exact(builder_, at_launch(context_.exprs(), boxes_, e)); }
  [[nodiscard]] Expr columns() const { return box_columns(vector_.schedule().kernel, boxes_); }
  [[nodiscard]] Value* smaller(Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }

  /// Emits the digits of the block's number.
  void set_digits(Value* number) {
    for (std::size_t i = 0; i < boxes_.digits.size(); ++i) {
      const BoxDigit& digit = boxes_.digits[i];
      Value* value = number;
      if (i + 1 < boxes_.digits.size()) {
        const auto [quotient, remainder] =
            vector_.exprs.divide(builder_, number, at_launch(context_.exprs(), boxes_, digit.count));
        value = remainder;
        number = quotient;
      }
      vector_.exprs.set_coordinate(digit.value, value);
    }
  }

  /// The first coordinate of a part, and the number of coordinates.
  struct Part {
    Value *first, *count;
  };
  [[nodiscard]] Part enter(const BoxPart& part) {
    Value* first = vector_.exprs.address(builder_, at_launch(context_.exprs(), boxes_, part.first));
    Value* count = smaller(exact(part.step), builder_.CreateSub(exact(part.total), first));
    Value* last = builder_.CreateSub(builder_.CreateAdd(first, count), context_.index(1));
    vector_.exprs.set_coordinate(part.from, first);
    vector_.exprs.set_coordinate(part.last, last);
    return {first, count};
  }

  /// Emits the box's numbers of rows, columns and slices, and the coordinates of its first and last row.
  void enter_box(Value* block) {
    set_digits(block);
    const Part rows = enter(boxes_.rows);
    box_ = {
        .first_row = rows.first, .rows = rows.count, .first_column = context_.index(0), .column_end = exact(columns())};
    if (boxes_.columns) {
      const Part part = enter(*boxes_.columns);
      Value* unit = exact(column_unit(vector_.schedule().kernel, boxes_.column_axis));
      box_.first_column = builder_.CreateMul(part.first, unit);
      box_.column_end = builder_.CreateMul(builder_.CreateAdd(part.first, part.count), unit);
    }
    if (boxes_.slices) slices_ = enter(*boxes_.slices);
    const auto set = [&](const std::vector<Expr>& coordinates, Value* row) {
      const std::vector<Value*> values = vectors_.unflatten(row);
      for (std::size_t i = 0; i < values.size(); ++i) vector_.exprs.set_coordinate(coordinates[i], values[i]);
    };
    set(boxes_.first, rows.first);
    set(boxes_.last, builder_.CreateSub(builder_.CreateAdd(rows.first, rows.count), context_.index(1)));
  }

  /// Emits the number of elements in a strip of the box, or in a box without strips. A strip of parts is one row. Else
  /// rows follow each other: all but the last are whole.
  [[nodiscard]] Value* elements_of_strip() {
    Value* last = builder_.CreateSub(box_.column_end, box_.first_column);
    if (boxes_.kind == BoxKind::parts) return last;
    Value* before = builder_.CreateMul(builder_.CreateSub(box_.rows, context_.index(1)), exact(columns()));
    return builder_.CreateAdd(before, last);
  }

  /// Emits which lanes the strip has of the vector that begins at its element `at`: the first, and the end.
  [[nodiscard]] std::pair<Value*, Value*> lanes_at(Value* at, Value* elements) {
    Value* begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.CreateNeg(at), context_.index(0));
    return {begin, smaller(builder_.CreateSub(elements, at), context_.index(boxes_.lanes))};
  }

  /// Emits the lane of a strip's first element. Vectors lie at multiples of their size in memory.
  [[nodiscard]] Value* phase_of(Value* first) {
    return builder_.CreateAnd(builder_.CreateAdd(stores_.phase(), first), context_.index(boxes_.lanes - 1));
  }

  /// Emits this thread's vectors of the box's elements, in whichever rows these lie.
  void emit_rows() {
    Value* elements = elements_of_strip();
    Value* first = vector_.exprs.address(builder_, first_element());
    Value* lanes = context_.index(boxes_.lanes);
    Value* begin = builder_.CreateSub(builder_.CreateMul(thread_, lanes), phase_of(first));
    counted_loop(builder_, begin, elements, std::int64_t{boxes_.threads} * boxes_.lanes, [&](Value* at) {
      const auto [from, end] = lanes_at(at, elements);
      Value* whole = builder_.CreateICmpEQ(builder_.CreateSub(end, from), lanes);
      const std::vector<Value*> results = values_at(at);
      store(builder_.CreateAdd(first, at), whole, from, end, results);
    });
  }

  /// A strip of the box: its first element in the output, and where its first whole vector begins.
  struct Strip {
    Value* number;
    llvm::SmallVector<Value*, 2> digits;
    Value *first, *head;
    Value* is_inside;
  };
  [[nodiscard]] bool has_parts() const { return boxes_.kind == BoxKind::parts; }
  /// Returns the axes along which strips lie: of parts the rows', and the slices' if there are some.
  [[nodiscard]] llvm::SmallVector<Expr, 2> strip_axes() const {
    const Kernel& kernel = vector_.schedule().kernel;
    llvm::SmallVector<Expr, 2> axes;
    if (has_parts()) axes.push_back(kernel.coordinate(boxes_.row_axis));
    if (boxes_.slices) axes.push_back(kernel.coordinate(boxes_.slice));
    return axes;
  }
  /// Returns the strips that threads enter. Each goes on to the strips that begin at the same lane as the one entered,
  /// if enough do and they have the same lanes of at most two rows.
  [[nodiscard]] Expr entered_strips() {
    ir::ExprContext& exprs = context_.exprs();
    const Kernel& kernel = vector_.schedule().kernel;
    const Expr all = at_launch(exprs, boxes_, box_strips(kernel, boxes_));
    if (!vectors_.shares_places(strip_axes())) return all;
    const auto is_positive = [&](Expr e) { return exprs.min(exprs.max(e, exprs.constant(0)), exprs.constant(1)); };
    const Expr period = at_launch(exprs, boxes_, box_strip_period(kernel, boxes_));
    const Expr vectors = exprs.mul(period, box_strip_vectors(kernel, boxes_));
    const Expr entered = exprs.mul(period, exprs.ceildiv(exprs.constant(kFewestEnteredVectors), vectors));
    // Fewer than one and a half for each are not worth their places.
    Expr several = is_positive(exprs.sub(exprs.mul(exprs.constant(2), all),
                                         exprs.sub(exprs.mul(exprs.constant(3), entered), exprs.constant(1))));
    if (!has_parts()) several = exprs.mul(several, is_positive(exprs.sub(columns(), exprs.constant(boxes_.lanes - 1))));
    return exprs.sub(all, exprs.mul(several, exprs.sub(all, entered)));
  }
  void set_slice(Value* number) {
    vector_.exprs.set_coordinate(vector_.schedule().kernel.coordinate(boxes_.slice),
                                 builder_.CreateAdd(slices_.first, number));
  }
  /// Emits the digits of a strip's number.
  [[nodiscard]] llvm::SmallVector<Value*, 2> digits_of(Value* number) {
    if (!has_parts() || !boxes_.slices) return {number};
    const auto [slice, row] = vector_.exprs.divide(builder_, number, at_launch(context_.exprs(), boxes_, boxes_.rows.step));
    return {row, slice};
  }
  /// Emits whether a box has the strip. A last box may have fewer rows or slices than others.
  [[nodiscard]] Value* has_strip(llvm::ArrayRef<Value*> digits) {
    Value* has = builder_.getTrue();
    if (has_parts()) has = builder_.CreateAnd(has, builder_.CreateICmpSLT(digits.front(), box_.rows));
    if (boxes_.slices) has = builder_.CreateAnd(has, builder_.CreateICmpSLT(digits.back(), slices_.count));
    return has;
  }
  /// Emits the first element of a strip, and sets its slice.
  [[nodiscard]] Value* first_of_strip(llvm::ArrayRef<Value*> digits) {
    if (boxes_.slices) set_slice(digits.back());
    Value* first = vector_.exprs.address(builder_, first_element());
    return has_parts() ? builder_.CreateAdd(first, builder_.CreateMul(digits.front(), exact(columns()))) : first;
  }
  [[nodiscard]] Strip enter_strip(Value* number) {
    Strip strip = {.number = number, .digits = digits_of(number), .first = nullptr, .head = nullptr, .is_inside = nullptr};
    strip.is_inside = has_strip(strip.digits);
    strip.first = first_of_strip(strip.digits);
    strip.head = builder_.CreateAnd(builder_.CreateNeg(phase_of(strip.first)), context_.index(boxes_.lanes - 1));
    return strip;
  }
  /// Emits vectors of strips, which do not follow each other: first the whole vectors of all strips, then what is
  /// before these in each, and at last what is after them. So most warps store whole vectors alone.
  void emit_strips() {
    Value *zero = context_.index(0), *lanes = context_.index(boxes_.lanes);
    Value* elements = elements_of_strip();
    Value* strips = exact(entered_strips());
    const Expr each = box_strip_vectors(vector_.schedule().kernel, boxes_);
    Value* vectors = builder_.CreateMul(strips, vector_.exprs.exact(builder_, each));
    Value* all = builder_.CreateAdd(vectors, builder_.CreateMul(strips, context_.index(2)));
    counted_loop(builder_, thread_, all, boxes_.threads, [&](Value* number) {
      const auto [of_vector, vector] = vector_.exprs.divide(builder_, number, each);
      Value* is_whole = builder_.CreateICmpSLT(number, vectors);
      Value* rest = builder_.CreateSub(number, vectors);
      Value* is_end = builder_.CreateICmpSGE(rest, strips);
      Value* of_rest = builder_.CreateSelect(is_end, builder_.CreateSub(rest, strips), rest);
      const Strip strip = enter_strip(builder_.CreateSelect(is_whole, of_vector, of_rest));
      Value* after_head = builder_.CreateSub(elements, strip.head);  // less than 0 if all elements are before
      Value* end = builder_.CreateAnd(after_head, context_.index(-boxes_.lanes));
      Value* at = builder_.CreateSelect(is_end, end, builder_.CreateNeg(lanes));
      at = builder_.CreateSelect(is_whole, builder_.CreateMul(vector, lanes), at);
      Value* has_end =
          builder_.CreateICmpSGT(after_head, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, zero));
      Value* has_head = builder_.CreateICmpSGT(strip.head, zero);
      Value* has_rest = builder_.CreateSelect(is_end, has_end, has_head);
      Value* has_whole = builder_.CreateICmpSLE(builder_.CreateAdd(at, lanes), after_head);
      Value* has = builder_.CreateSelect(is_whole, has_whole, has_rest);
      vector_.when(has, [&] {
        Value* first = builder_.CreateAdd(strip.head, at);
        const auto [from, to] = lanes_at(first, elements);
        const auto store_of = [&, from = from, to = to](Value* in_strip, llvm::ArrayRef<Value*> results) {
          store(builder_.CreateAdd(in_strip, first), is_whole, from, to, results);
        };
        const auto by_itself = [&] {
          vector_.when(strip.is_inside, [&] {
            (void)first_of_strip(strip.digits);  // sets the slice
            store_of(strip.first, has_parts() ? values_in_row(first, strip.digits.front(), zero) : values_at(first));
          });
        };
        if (!vectors_.shares_places(strip_axes())) return by_itself();
        if (has_parts()) return emit_several(strip, first, store_of);
        // A vector of shorter rows may lie in more than two.
        Value* in_two_rows = builder_.CreateICmpSGE(exact(columns()), lanes);
        vector_.when(builder_.CreateNot(in_two_rows), by_itself);
        vector_.when(in_two_rows, [&] { emit_several(strip, first, store_of); });
      });
    });
  }

  /// Emits the vector at element `first` of a strip, and of the strips that begin at the same lane.
  void emit_several(const Strip& strip, Value* first,
                    llvm::function_ref<void(Value* in_strip, llvm::ArrayRef<Value*> results)> store_of) {
    const llvm::SmallVector<Expr, 2> axes = strip_axes();
    const auto enter = [&](Value* row, BoxVectors::Digits digits) {
      if (boxes_.slices) set_slice(digits.back());
      vectors_.set_row(has_parts() ? digits.front() : row);
    };
    Value* row = context_.index(0);
    Value* column = builder_.CreateAdd(box_.first_column, first);
    std::vector<BoxVectors::Place> places;
    const auto add = [&] { places.push_back(vectors_.place_of(row, column, box_, axes, enter)); };
    if (!has_parts()) {
      Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, context_.index(0));
      row = vector_.exprs.divide(builder_, inside, columns()).quotient;
      column = builder_.CreateSub(column, builder_.CreateMul(row, exact(columns())));
    }
    add();
    if (!has_parts()) {
      row = builder_.CreateAdd(row, context_.index(1));
      column = builder_.CreateSub(column, exact(columns()));
      add();
    }
    Value* count = boxes_.slices ? slices_.count : box_.rows;
    if (has_parts() && boxes_.slices)
      count = builder_.CreateMul(count, exact(boxes_.rows.step));
    counted_loop(builder_, strip.number, count, exact(entered_strips()), [&](Value* other) {
      const llvm::SmallVector<Value*, 2> digits = digits_of(other);
      const auto emit = [&] {
        const std::vector<Value*> results = vectors_.emit(places, digits, axes, enter);
        store_of(first_of_strip(digits), results);
      };
      // One digit is below the count.
      if (digits.size() == 1) return emit();
      vector_.when(has_strip(digits), emit);
    });
  }

  [[nodiscard]] Expr first_element() const {
    return at_launch(context_.exprs(), boxes_, box_first_element(vector_.schedule().kernel, boxes_));
  }

  /// Emits the values of the vector that begins at element `at` of a strip, in row `row` of the box. That row begins at
  /// element `row_start` of the strip.
  [[nodiscard]] std::vector<Value*> values_in_row(Value* at, Value* row, Value* row_start) {
    return vectors_.emit(row, builder_.CreateAdd(box_.first_column, builder_.CreateSub(at, row_start)), box_);
  }
  /// The same of a strip of several rows.
  [[nodiscard]] std::vector<Value*> values_at(Value* at) {
    Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, context_.index(0));
    Value* row = vector_.exprs.divide(builder_, inside, columns()).quotient;
    return values_in_row(at, row, builder_.CreateMul(row, exact(columns())));
  }

  /// Stores lanes [begin, end) of a vector, in parts unless it is `whole`. Lane 0 is `element` of the output.
  void store(Value* element, Value* whole, Value* begin, Value* end, llvm::ArrayRef<Value*> results) {
    BasicBlock* vector = vector_.block("vector");
    BasicBlock* part = vector_.block("part");
    BasicBlock* done = vector_.block("stored");
    builder_.CreateCondBr(builder_.CreateAnd(whole, stores_.together()), vector, part);
    builder_.SetInsertPoint(vector);
    stores_.store_vector(element, results);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(part);
    parts_.store(element, begin, end, results);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  const Boxes& boxes_;
  SharedMemory memory_;
  BoxStages stages_;
  StageTurner turner_;
  BoxVectors vectors_;
  VectorStores stores_;
  VectorParts parts_;
  Value* thread_;
  BoxVectors::Range box_ = {};
  Part slices_ = {};
};

}  // namespace

void emit_box(const VectorContext& vector, Value* block, Value* thread) { BoxEmitter(vector, thread).emit(block); }

}  // namespace padlock::compiler
