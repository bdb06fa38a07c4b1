#include "compiler/emit/gpu/boxes/emit_boxes.h"

#include "compiler/emit/gpu/boxes/box_output.h"
#include "compiler/emit/gpu/boxes/stage_turner.h"

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
        output_(vector, memory_, stages_, thread) {}

  void emit(Value* block) {
    output_.load_buffers();
    enter_box(block);
    stages_.locate();
    turner_.locate();
    vector_.in_turn([&] { copy(); },
                    [&] {
                      stages_.wait();
                      output_.emit(box_);
                    });
  }

 private:
  void copy() {
    vector_.wait_for_earlier_grids();
    stages_.copy();
    for (std::size_t i = 0; i < boxes_.stages.size(); ++i)
      if (boxes_.stages[i].turn) turner_.copy(i, stages_.at(i));
  }

  [[nodiscard]] Value* exact(Expr e) { return exact_at_launch(vector_, e); }

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

  /// Emits the first coordinate of a part, and the number of coordinates.
  [[nodiscard]] std::pair<Value*, Value*> enter(const BoxPart& part) {
    Value* first = vector_.exprs.address(builder_, at_launch(context_.exprs(), boxes_, part.first));
    Value* left = builder_.CreateSub(exact(part.total), first);
    Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, exact(part.step), left);
    Value* last = builder_.CreateSub(builder_.CreateAdd(first, count), context_.index(1));
    vector_.exprs.set_coordinate(part.from, first);
    vector_.exprs.set_coordinate(part.last, last);
    return {first, count};
  }

  /// Emits the box's numbers of rows, columns and slices, and the coordinates of its first and last row.
  void enter_box(Value* block) {
    set_digits(block);
    std::tie(box_.first_row, box_.rows) = enter(boxes_.rows);
    box_.first_column = context_.index(0);
    box_.column_end = exact(box_columns(vector_.schedule().kernel, boxes_));
    if (boxes_.columns) {
      const auto [first, count] = enter(*boxes_.columns);
      Value* unit = exact(column_unit(vector_.schedule().kernel, boxes_.column_axis));
      box_.first_column = builder_.CreateMul(first, unit);
      box_.column_end = builder_.CreateMul(builder_.CreateAdd(first, count), unit);
    }
    if (boxes_.slices) std::tie(box_.first_slice, box_.slices) = enter(*boxes_.slices);
    const auto set = [&](const std::vector<Expr>& coordinates, Value* row) {
      const std::vector<Value*> values = output_.unflatten(row);
      for (std::size_t i = 0; i < values.size(); ++i) vector_.exprs.set_coordinate(coordinates[i], values[i]);
    };
    set(boxes_.first, box_.first_row);
    set(boxes_.last, builder_.CreateSub(builder_.CreateAdd(box_.first_row, box_.rows), context_.index(1)));
  }

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  const Boxes& boxes_;
  SharedMemory memory_;
  BoxStages stages_;
  StageTurner turner_;
  BoxOutput output_;
  BoxVectors::Range box_ = {};
};

}  // namespace

void emit_box(const VectorContext& vector, Value* block, Value* thread) { BoxEmitter(vector, thread).emit(block); }

}  // namespace padlock::compiler
