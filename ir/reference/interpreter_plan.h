#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "ir/reference/pad_rule.h"

namespace padlock::ir {

/// A tensor parameter's element offsets as numbers. They are affine in the coordinates, so the coefficients are read
/// off Layout::offset_of at the origin and one step along each axis: no stride is multiplied by an extent here.
struct AffineOffset {
  std::int64_t origin = 0;
  std::vector<std::int64_t> steps;  // one per axis; 0 where the extent is 1

  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> coordinates) const;
};

/// One value's data for evaluation, as numbers under one binding.
struct ValuePlan {
  std::vector<std::int64_t> extents;
  DType operand_type = DType::f32;          // elementwise: as apply_elementwise wants it
  bool movement = false;                    // an operation that moves data
  bool shared = false;                      // an operation with several users
  int depth = 1;                            // longest path down to a parameter
  std::size_t parameter = 0;                // position among the tensor or among the scalar parameters
  AffineOffset offset;                      // tensor parameter
  std::vector<PadAxis> pad;                 // pad and its adjoint: one per axis
  std::vector<std::int64_t> start;          // slice: one per axis
  std::vector<std::int64_t> concat_limits;  // concat: end of each operand along the axis, in result coordinates
  std::int64_t size = 0;                    // size: its value
  std::size_t index_axes = 0;               // take: axes of the result that are the indices'
};

/// The program's values as numbers under one binding, and the closed forms of the language that lead from an element
/// of a result to the elements of operands that it is made of. Immutable after construction.
class InterpreterPlan {
 public:
  /// Borrows `binding` and its program.
  explicit InterpreterPlan(const Binding& binding);

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const ValuePlan& operator[](ValueId id) const { return values_[id]; }

  /// Finds the source of the element of data movement `id` at `coordinates`: returns an operand, and in `out` the
  /// coordinates in it (none for a fill). Errors: internal_error where the program admits what the verifier must
  /// refuse.
  [[nodiscard]] Result<Operand> source_of(ValueId id, std::span<const std::int64_t> coordinates,
                                          std::vector<std::int64_t>& out) const;

  /// Finds the source of the element of take `id` at `coordinates`, where its indices have these values: returns an
  /// operand, and in `out` the coordinates in it.
  [[nodiscard]] Operand taken_from(ValueId id, std::span<const std::int64_t> coordinates,
                                   std::span<const std::int64_t> indices, std::vector<std::int64_t>& out) const;

  /// Appends to `out` the coordinates in operand `index` of elementwise operation `id`, broadcast as in NumPy; of a
  /// take, those in that index.
  void append_operand_coordinates(ValueId id, std::size_t index, std::span<const std::int64_t> coordinates,
                                  std::vector<std::int64_t>& out) const;

 private:
  void plan_operation(const Binding& binding, const Value& value, ValuePlan& plan) const;
  void count_users();

  const Program* program_;  // borrowed
  std::vector<ValuePlan> values_;
};

}  // namespace padlock::ir
