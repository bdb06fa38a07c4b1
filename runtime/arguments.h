#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/binding.h"
#include "ir/expr_tape.h"
#include "ir/layout.h"
#include "runtime/buffer.h"
#include "support/error.h"

namespace padlock::runtime {

/// The layout of a result: row-major and dense, also where the value returned is a parameter with declared strides.
[[nodiscard]] ir::Layout result_layout(const ir::Program& program, ir::ValueId value);

/// Bytes of storage of a program's arguments under one binding, and the checks that a launch makes on its buffers.
class ArgumentSizes {
 public:
  /// As ArgumentSizer, for one binding.
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
  /// What a GPU needs beside: each buffer begins at a multiple of its element's size. Error: invalid_argument, naming
  /// the tensor. Buffers as for `check`, which comes first.
  [[nodiscard]] Status check_alignment(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const;

 private:
  friend class ArgumentSizer;
  ArgumentSizes() = default;
  const ir::Program* program_ = nullptr;  // borrowed (outlives this)
  std::vector<std::int64_t> inputs_;
  std::vector<std::int64_t> outputs_;
};

/// Makes the sizes of many bindings of one program. Immutable, thread-safe.
class ArgumentSizer {
 public:
  /// Borrows the program, which outlives the sizes too.
  explicit ArgumentSizer(const ir::Program& program);
  /// Error (failed_precondition) where a result's storage reaches 2^47 bytes.
  [[nodiscard]] Result<ArgumentSizes> sizes(const ir::Binding& binding) const;

 private:
  const ir::Program* program_;  // borrowed
  ir::ExprTape tape_;           // elements of storage, in the order of input_bytes() and then output_bytes()
};

}  // namespace padlock::runtime
