#pragma once

#include <vector>

#include "compiler/emit/gpu/boxes/box_vectors.h"
#include "compiler/emit/gpu/boxes/vector_parts.h"

namespace padlock::compiler {

/// Emits this thread's vectors of a box's elements. Where the elements follow each other in the output, vector by
/// vector. Else they lie in *strips*: first come the whole vectors of all strips, then what is before these in each,
/// and at last what is after them, so that most warps store whole vectors alone. A thread goes on from the strip that
/// it enters to those that begin at the same lane: its vector lies in the same place in each.
class BoxOutput {
 public:
  BoxOutput(const VectorContext& vector, SharedMemory& memory, const BoxStages& stages, llvm::Value* thread)
      : vector_(vector),
        context_(vector.context),
        builder_(vector.builder),
        boxes_(*vector.schedule().boxes()),
        vectors_(vector, memory, stages),
        stores_(vector),
        parts_(vector, stores_),
        thread_(thread) {}

  void load_buffers() {
    vectors_.load_buffers();
    stores_.load_buffers();
  }
  /// Emits the coordinates of a row along the axes that number rows.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row) { return vectors_.unflatten(row); }
  /// Emits all vectors of a box, whose stages are there.
  void emit(const BoxVectors::Range& box);

 private:
  using Value = llvm::Value;
  /// A strip, and the element of it at which a vector begins, maybe before the strip's first.
  struct Vector {
    Value *strip = nullptr, *at = nullptr;
    Value* is_whole = nullptr;
  };

  [[nodiscard]] Value* exact(Expr e) { return exact_at_launch(vector_, e); }
  [[nodiscard]] Expr columns() const { return box_columns(vector_.schedule().kernel, boxes_); }
  [[nodiscard]] Value* first_element();
  [[nodiscard]] Value* elements_of_strip();
  [[nodiscard]] std::pair<Value*, Value*> lanes_at(Value* at);
  [[nodiscard]] Value* phase_of(Value* first);
  [[nodiscard]] std::vector<Value*> values_at(Value* at);
  void store(Value* first, const Vector& vector, llvm::ArrayRef<Value*> results);
  void emit_rows();

  [[nodiscard]] bool has_parts() const { return boxes_.kind == BoxKind::parts; }
  [[nodiscard]] llvm::SmallVector<Expr, 2> strip_axes() const;
  [[nodiscard]] Expr entered_strips();
  void set_slice(Value* number);
  [[nodiscard]] llvm::SmallVector<Value*, 2> digits_of(Value* strip);
  [[nodiscard]] Value* has_strip(llvm::ArrayRef<Value*> digits);
  [[nodiscard]] Value* first_of_strip(llvm::ArrayRef<Value*> digits);
  void emit_strips();
  [[nodiscard]] Value* head_of(Value* strip);
  void emit_whole_vectors();
  void emit_ends();
  void emit_from(const Vector& vector);
  void emit_by_itself(const Vector& vector);
  void emit_several(const Vector& vector);
  [[nodiscard]] std::vector<BoxVectors::Place> places_of(Value* at, BoxVectors::Enter enter);

  const VectorContext& vector_;
  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  const Boxes& boxes_;
  BoxVectors vectors_;
  VectorStores stores_;
  VectorParts parts_;
  Value* thread_;
  BoxVectors::Range box_ = {};
  Value* elements_ = nullptr;  // of a strip, or of a box without strips
  Value* first_ = nullptr;     // element of the box's first strip
};

}  // namespace padlock::compiler
