#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "ir/reference/scalar_ops.h"

namespace padlock::ir {

/// The reference interpreter, with which every test and the tuner compare. It evaluates the closed forms of the
/// language element by element, on demand, and shares no code with lowering. Not thread-safe.
class Interpreter {
 public:
  /// `inputs[i]` is the storage of tensor parameter i (laid out as the program declares, evaluated under `binding`),
  /// `scalars[i]` the bits of scalar parameter i. All borrowed, and must outlive the interpreter.
  Interpreter(const Binding& binding, std::vector<std::span<const std::byte>> inputs,
              std::vector<std::uint64_t> scalars);
  ~Interpreter();
  Interpreter(Interpreter&&) noexcept;
  Interpreter& operator=(Interpreter&&) noexcept;

  /// Returns the element of a value at `coordinates` (one per axis, each in [0, extent)). Errors: resource_exhausted,
  /// naming the statement, if the program nests deeper than kMaxNesting or one element takes too many steps (many
  /// levels of several pads of one value); invalid_argument for coordinates outside the value; internal if an input's
  /// storage is smaller than its layout (then nothing is read).
  [[nodiscard]] Result<Element> element(ValueId value, std::span<const std::int64_t> coordinates);

  /// Evaluates all elements of a value, row-major: bits packed as bool, i8 ... in `out` (storage_bytes of the dense
  /// result) and, if `nan_open` is given, one flag per element. Errors as `element`; invalid_argument for another size.
  [[nodiscard]] Status evaluate(ValueId value, std::span<std::byte> out, std::vector<bool>* nan_open = nullptr);

  /// As `evaluate`, for the elements from number `first` on, row-major, as many as `out` holds.
  [[nodiscard]] Status evaluate_part(ValueId value, std::size_t first, std::span<std::byte> out,
                                     std::vector<bool>* nan_open = nullptr);

  static constexpr int kMaxNesting = 4096;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Readers of the elements that `evaluate` writes in row-major order.
/// Returns the bits of element `index`. Precondition: it lies in `bytes`.
[[nodiscard]] std::uint64_t element_bits(std::span<const std::byte> bytes, std::size_t index, DType dtype);
/// Returns the coordinates of element `index`. Precondition: no extent is 0.
[[nodiscard]] std::vector<std::int64_t> coordinates_of(std::size_t index, std::span<const std::int64_t> extents);

}  // namespace padlock::ir
