#include "compiler/emit/gpu/boxes/emit_boxes.h"

#include "compiler/emit/gpu/boxes/box_vectors.h"
#include "compiler/emit/gpu/boxes/stage_turner.h"
#include "compiler/emit/gpu/boxes/vector_parts.h"

namespace padlock::compiler {
namespace {

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
                      if (boxes_.slices)
                        emit_slices();
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
      Value* unit = exact(box_column_unit(vector_.schedule().kernel, boxes_));
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

  /// Emits the number of elements in a slice of the box. They follow each other: all rows but the last are whole.
  [[nodiscard]] Value* elements_of_slice() {
    Value* before = builder_.CreateMul(builder_.CreateSub(box_.rows, context_.index(1)), exact(columns()));
    return builder_.CreateAdd(before, builder_.CreateSub(box_.column_end, box_.first_column));
  }

  /// Emits the lane of a slice's first element. Vectors lie at multiples of their size in memory.
  [[nodiscard]] Value* phase_of(Value* first) {
    return builder_.CreateAnd(builder_.CreateAdd(stores_.phase(), first), context_.index(boxes_.lanes - 1));
  }

  /// Emits this thread's vectors of the box's elements, in whichever rows these lie.
  void emit_rows() {
    Value* elements = elements_of_slice();
    Value* first = vector_.exprs.address(builder_, first_element());
    Value* lanes = context_.index(boxes_.lanes);
    Value* begin = builder_.CreateSub(builder_.CreateMul(thread_, lanes), phase_of(first));
    counted_loop(builder_, begin, elements, std::int64_t{boxes_.threads} * boxes_.lanes,
                 [&](Value* at) { emit_vector(at, elements, first); });
  }

  /// Emits vectors of slices that do not follow each other. First come the vectors that begin in all slices. Then each
  /// slice gets one more, for the rest where its first vector begins before the slice.
  void emit_slices() {
    Value* elements = elements_of_slice();
    const Expr each = box_slice_vectors(vector_.schedule().kernel, boxes_);
    Value* vectors = vector_.exprs.exact(builder_, each);
    Value* whole = builder_.CreateMul(slices_.count, vectors);
    Value* all = builder_.CreateAdd(whole, slices_.count);
    counted_loop(builder_, thread_, all, boxes_.threads, [&](Value* number) {
      const auto [quotient, remainder] = vector_.exprs.divide(builder_, number, each);
      Value* is_more = builder_.CreateICmpSGE(number, whole);
      Value* slice = builder_.CreateSelect(is_more, builder_.CreateSub(number, whole), quotient);
      Value* vector = builder_.CreateSelect(is_more, vectors, remainder);
      vector_.exprs.set_coordinate(vector_.schedule().kernel.coordinate(boxes_.slice),
                                   builder_.CreateAdd(slices_.first, slice));
      Value* first = vector_.exprs.address(builder_, first_element());
      Value* at = builder_.CreateSub(builder_.CreateMul(vector, context_.index(boxes_.lanes)), phase_of(first));
      vector_.when(builder_.CreateICmpSLT(at, elements), [&] { emit_vector(at, elements, first); });
    });
  }

  [[nodiscard]] Expr first_element() const {
    return at_launch(context_.exprs(), boxes_, box_first_element(vector_.schedule().kernel, boxes_));
  }

  /// Emits the vector from element `at` of a slice on. The slice's first element is element `first` of the output.
  void emit_vector(Value* at, Value* elements, Value* first) {
    Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, context_.index(0));
    Value* row = vector_.exprs.divide(builder_, inside, columns()).quotient;
    Value* column = builder_.CreateSub(at, builder_.CreateMul(row, exact(columns())));
    store(at, elements, first, vectors_.emit(row, builder_.CreateAdd(box_.first_column, column), box_));
  }

  /// Stores a vector: in parts where it reaches past an end of the slice.
  void store(Value* at, Value* elements, Value* first, llvm::ArrayRef<Value*> results) {
    Value* begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.CreateNeg(at), context_.index(0));
    Value* end = smaller(builder_.CreateSub(elements, at), context_.index(boxes_.lanes));
    Value* whole = builder_.CreateICmpEQ(builder_.CreateSub(end, begin), context_.index(boxes_.lanes));
    whole = builder_.CreateAnd(whole, stores_.together());
    BasicBlock* vector = vector_.block("vector");
    BasicBlock* part = vector_.block("part");
    BasicBlock* done = vector_.block("stored");
    builder_.CreateCondBr(whole, vector, part);
    builder_.SetInsertPoint(vector);
    stores_.store_vector(builder_.CreateAdd(first, at), results);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(part);
    parts_.store(builder_.CreateAdd(first, at), begin, end, results);
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
