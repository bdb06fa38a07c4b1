#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/layout.h"
#include "runtime/buffer.h"
#include "support/error.h"

namespace padlock::runtime {

/// Returns the layout of a result: row-major and dense, even if the returned value is a parameter with declared
/// strides.
[[nodiscard]] ir::Layout result_layout(const ir::Program& program, ir::ValueId value);

/// Storage bytes of a program's arguments under one binding, and a launch's checks of its buffers.
class ArgumentSizes {
 public:
  /// As ArgumentBinder::sizes, for any binding.
  [[nodiscard]] static Result<ArgumentSizes> of(const ir::Binding& binding);

  /// In the order of Program::tensor_parameters() and Program::results().
  [[nodiscard]] std::span<const std::int64_t> input_bytes() const { return inputs_; }
  [[nodiscard]] std::span<const std::int64_t> output_bytes() const { return outputs_; }

  /// Checks for one buffer per argument. Error: invalid_argument.
  [[nodiscard]] Status check_counts(std::size_t inputs, std::size_t outputs) const;
  /// Checks for one buffer per argument, each at least as large as its storage, and that no output's storage overlaps
  /// any other. Errors (invalid_argument) name the arguments and the bytes. Allocates nothing on success.
  [[nodiscard]] Status check(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const;
  /// Checks for one value per scalar parameter. Error: invalid_argument.
  [[nodiscard]] Status check_scalars(std::span<const std::uint64_t> scalars) const;
  /// Checks a GPU's additional condition: each buffer begins at a multiple of its element's size. Error:
  /// invalid_argument, naming the tensor. Precondition: `check` has passed.
  [[nodiscard]] Status check_alignment(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const;

 private:
  friend class ArgumentBinder;
  ArgumentSizes() = default;
  /// `elements(i)`: storage of the i-th argument in elements, results after tensor parameters.
  template <class Elements>
  [[nodiscard]] static Result<ArgumentSizes> make(const ir::Program& program, const Elements& elements);
  const ir::Program* program_ = nullptr;  // borrowed (outlives this)
  std::vector<std::int64_t> inputs_;
  std::vector<std::int64_t> outputs_;
};

/// Binds many requests of one program, and computes its arguments' sizes under a binding, with one evaluation for all.
/// Immutable, thread-safe.
class ArgumentBinder {
 public:
  /// Borrows the program, which must outlive the bindings and the sizes, too.
  explicit ArgumentBinder(const ir::Program& program) : program_(&program), binder_(program, asked_of(program)) {}

  /// As ir::Binder::bind.
  [[nodiscard]] Result<ir::Binding> bind(const ir::BindRequest& request) const { return binder_.bind(request); }
  /// Returns the sizes under a binding that this made. Error (failed_precondition) if a result's storage reaches 2^47
  /// bytes.
  [[nodiscard]] Result<ArgumentSizes> sizes(const ir::Binding& binding) const;
  /// Returns the extents, then the strides, of each tensor parameter as declared and then of each result, under a
  /// binding that this made. An unused stride may not fit 64 bits: it saturates, and the numbers are stored in `wide`;
  /// otherwise they are in the binding.
  [[nodiscard]] std::span<const std::int64_t> shapes(const ir::Binding& binding, std::vector<std::int64_t>& wide) const;

 private:
  friend class ArgumentSizes;
  /// Returns storage elements of each tensor parameter and result, then the expressions of `shapes`.
  [[nodiscard]] static std::vector<ir::Expr> asked_of(const ir::Program& program);

  const ir::Program* program_;  // borrowed
  ir::Binder binder_;
};

}  // namespace padlock::runtime
