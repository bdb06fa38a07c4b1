#include "compiler/emit/gpu/boxes/emit_boxes.h"

#include <utility>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/gpu/boxes/box_vectors.h"
#include "compiler/emit/gpu/vector_grid/vector_stores.h"

namespace padlock::compiler {
namespace {

class BoxEmitter {
 public:
  BoxEmitter(const VectorContext& vector, Value* thread)
      : vector_(vector),
        context_(vector.context),
        builder_(vector.builder),
        boxes_(*vector.schedule().boxes()),
        memory_(vector),
        stages_(vector, memory_, thread),
        vectors_(vector, memory_, stages_),
        stores_(vector),
        thread_(thread) {}

  void emit(Value* block) {
    vectors_.load_buffers();
    stores_.load_buffers();
    enter_box(block);
    stages_.locate();
    vector_.in_turn([&] { copy(); },
                    [&] {
                      stages_.wait();
                      emit_vectors();
                    });
  }

 private:
  void copy() {
    vector_.wait_for_earlier_grids();
    stages_.copy();
  }

  /// Emits the rows of the box, and the outer coordinates of its first and of its last.
  void enter_box(Value* block) {
    ir::ExprContext& exprs = context_.exprs();
    vector_.exprs.set_coordinate(boxes_.box, block);
    first_row_ = vector_.exprs.address(builder_, at_launch(exprs, boxes_, boxes_.first_row));
    Value* left = builder_.CreateSub(vector_.exprs.exact(builder_, vector_.schedule().rows), first_row_);
    rows_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, vector_.exprs.exact(builder_, boxes_.launched), left);
    const auto set = [&](const std::vector<Expr>& coordinates, Value* row) {
      const std::vector<Value*> values = vectors_.unflatten(row);
      for (std::size_t axis = 0; axis < values.size(); ++axis)
        vector_.exprs.set_coordinate(coordinates[axis], values[axis]);
    };
    set(boxes_.first, first_row_);
    set(boxes_.last, builder_.CreateSub(builder_.CreateAdd(first_row_, rows_), context_.index(1)));
  }

  /// Emits the vectors of this thread: those of the box's elements at multiples of their size in memory, whatever row
  /// they are of.
  void emit_vectors() {
    Value* columns = vector_.exprs.exact(builder_, vector_.schedule().columns);
    Value* elements = builder_.CreateMul(rows_, columns);
    Value* first = builder_.CreateMul(first_row_, columns);
    Value* lanes = context_.index(boxes_.lanes);
    Value* phase = builder_.CreateAnd(builder_.CreateAdd(stores_.phase(), first), context_.index(boxes_.lanes - 1));
    Value* begin = builder_.CreateSub(builder_.CreateMul(thread_, lanes), phase);
    counted_loop(builder_, begin, elements, std::int64_t{boxes_.threads} * boxes_.lanes, [&](Value* at) {
      Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, context_.index(0));
      Value* row = vector_.exprs.divide(builder_, inside, vector_.schedule().columns).quotient;
      Value* column = builder_.CreateSub(at, builder_.CreateMul(row, columns));
      const std::vector<Value*> results = vectors_.emit(row, column, rows_, first_row_);
      store(at, elements, first, results);
    });
  }

  /// A vector that reaches past an end of the box goes by elements.
  void store(Value* at, Value* elements, Value* first, llvm::ArrayRef<Value*> results) {
    Value* whole =
        builder_.CreateAnd(builder_.CreateICmpSGE(at, context_.index(0)),
                           builder_.CreateICmpSLE(builder_.CreateAdd(at, context_.index(boxes_.lanes)), elements));
    whole = builder_.CreateAnd(whole, stores_.together());
    BasicBlock* vector = vector_.block("vector");
    BasicBlock* single = vector_.block("elements");
    BasicBlock* done = vector_.block("stored");
    builder_.CreateCondBr(whole, vector, single);
    builder_.SetInsertPoint(vector);
    stores_.store_vector(builder_.CreateAdd(first, at), results);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(single);
    for (int lane = 0; lane < boxes_.lanes; ++lane) {
      Value* element = builder_.CreateAdd(at, context_.index(lane));
      Value* inside = builder_.CreateAnd(builder_.CreateICmpSGE(element, context_.index(0)),
                                         builder_.CreateICmpSLT(element, elements));
      vector_.when(inside, [&] {
        std::vector<Value*> one;
        for (Value* result : results)
          one.push_back(boxes_.lanes == 1 ? result
                                          : builder_.CreateExtractElement(result, static_cast<std::uint64_t>(lane)));
        stores_.store_element(builder_.CreateAdd(first, element), one);
      });
    }
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  const Boxes& boxes_;
  StageMemory memory_;
  BoxStages stages_;
  BoxVectors vectors_;
  VectorStores stores_;
  Value* thread_;
  Value *rows_ = nullptr, *first_row_ = nullptr;
};

}  // namespace

void emit_box(const VectorContext& vector, Value* block, Value* thread) { BoxEmitter(vector, thread).emit(block); }

}  // namespace padlock::compiler
