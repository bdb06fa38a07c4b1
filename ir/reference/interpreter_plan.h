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

/// A tensor parameter's element offsets as numbers. They are affine in the coordinates, so the coefficients come from
/// Layout::offset_of at the origin and one step along each axis: no stride is multiplied by an extent here.
struct AffineOffset {
  std::int64_t origin = 0;
  std::vector<std::int64_t> steps;  // one per axis; 0 where the extent is 1

  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> coordinates) const;
};

/// One value's data for evaluation, as numbers under one binding.
struct ValuePlan {
  std::vector<std::int64_t> extents;
  DType operand_type = DType::f32;          // elementwise: the argument of apply_elementwise
  bool movement = false;                    // an operation that moves data
  bool shared = false;                      // an operation with several users
  int depth = 1;                            // longest path down to a parameter
  std::size_t parameter = 0;                // position among the tensor parameters or the scalar parameters
  AffineOffset offset;                      // tensor parameter
  std::vector<PadAxis> pad;                 // pad and its adjoint: one per axis
  std::vector<std::int64_t> start;          // slice: one per axis
  std::vector<std::int64_t> concat_limits;  // concat: end of each operand along the axis, in result coordinates
  std::int64_t size = 0;                    // size: its value
  std::size_t index_axes = 0;               // take: number of axes of the result that come from the indices
};

/// The program's values as numbers under one binding, and the language's closed forms: they lead from an element of a
/// result to the elements of operands from which it is computed. Immutable after construction.
class InterpreterPlan {
 public:
  /// Borrows `binding` and its program.
  explicit InterpreterPlan(const Binding& binding);

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const ValuePlan& operator[](ValueId id) const { return values_[id]; }

  /// Returns the operand with the source of element `coordinates` of data movement `id`, and in `out` the source's
  /// coordinates (none for a fill). Error: internal_error if the program has what the verifier must refuse.
  [[nodiscard]] Result<Operand> source_of(ValueId id, std::span<const std::int64_t> coordinates,
                                          std::vector<std::int64_t>& out) const;

  /// Returns the operand with the source of element `coordinates` of take `id`, whose indices have these values, and in
  /// `out` the source's coordinates.
  [[nodiscard]] Operand taken_from(ValueId id, std::span<const std::int64_t> coordinates,
                                   std::span<const std::int64_t> indices, std::vector<std::int64_t>& out) const;

  /// Appends to `out` the coordinates in operand `index` of elementwise operation `id`, broadcast as in NumPy; for a
  /// take, the coordinates in that index tensor.
  void append_operand_coordinates(ValueId id, std::size_t index, std::span<const std::int64_t> coordinates,
                                  std::vector<std::int64_t>& out) const;

 private:
  void plan_operation(const Binding& binding, const Value& value, ValuePlan& plan) const;
  void count_users();

  const Program* program_;  // borrowed
  std::vector<ValuePlan> values_;
};

}  // namespace padlock::ir
