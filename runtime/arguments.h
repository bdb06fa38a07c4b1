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

/// The layout of a result: row-major and dense, also where the value returned is a parameter with declared strides.
[[nodiscard]] ir::Layout result_layout(const ir::Program& program, ir::ValueId value);

/// Bytes of storage of a program's arguments under one binding, and the checks that a launch makes on its buffers.
class ArgumentSizes {
 public:
  /// As ArgumentBinder::sizes, of any binding.
  [[nodiscard]] static Result<ArgumentSizes> of(const ir::Binding& binding);

  /// In the order of Program::tensor_parameters() and Program::results().
  [[nodiscard]] std::span<const std::int64_t> input_bytes() const { return inputs_; }
  [[nodiscard]] std::span<const std::int64_t> output_bytes() const { return outputs_; }

  /// One buffer an argument. Error: invalid_argument.
  [[nodiscard]] Status check_counts(std::size_t inputs, std::size_t outputs) const;
  /// One buffer an argument, each at least as large as its storage, and no output's storage overlapping any other.
  /// Errors (invalid_argument) name the arguments and the bytes. Allocates nothing where all is well.
  [[nodiscard]] Status check(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const;
  /// One a scalar parameter. Error: invalid_argument.
  [[nodiscard]] Status check_scalars(std::span<const std::uint64_t> scalars) const;
  /// Checks what a GPU needs in addition: each buffer begins at a multiple of its element's size. Error:
  /// invalid_argument, naming the tensor. Buffers as for `check`, which comes first.
  [[nodiscard]] Status check_alignment(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const;

 private:
  friend class ArgumentBinder;
  ArgumentSizes() = default;
  /// `elements(i)`: of the storage of the i-th argument, results after tensor parameters.
  template <class Elements>
  [[nodiscard]] static Result<ArgumentSizes> make(const ir::Program& program, const Elements& elements);
  const ir::Program* program_ = nullptr;  // borrowed (outlives this)
  std::vector<std::int64_t> inputs_;
  std::vector<std::int64_t> outputs_;
};

/// Binds many requests of one program, and says what a binding makes of its arguments: one evaluation does for all of
/// it. Immutable, thread-safe.
class ArgumentBinder {
 public:
  /// Borrows the program, which outlives the bindings and the sizes, too.
  explicit ArgumentBinder(const ir::Program& program) : program_(&program), binder_(program, asked_of(program)) {}

  /// As ir::Binder::bind.
  [[nodiscard]] Result<ir::Binding> bind(const ir::BindRequest& request) const { return binder_.bind(request); }
  /// Returns the sizes under a binding that this has made. Error (failed_precondition) where a result's storage reaches
  /// 2^47 bytes.
  [[nodiscard]] Result<ArgumentSizes> sizes(const ir::Binding& binding) const;
  /// Returns the extents, then the strides, of each tensor parameter as declared and then of each result, under such a
  /// binding. A stride that nobody uses may not fit 64 bits; it saturates, and the numbers lie in `wide` then, else in
  /// the binding.
  [[nodiscard]] std::span<const std::int64_t> shapes(const ir::Binding& binding, std::vector<std::int64_t>& wide) const;

 private:
  friend class ArgumentSizes;
  /// Elements of storage of each tensor parameter and each result, then what `shapes` says.
  [[nodiscard]] static std::vector<ir::Expr> asked_of(const ir::Program& program);

  const ir::Program* program_;  // borrowed
  ir::Binder binder_;
};

}  // namespace padlock::runtime
