#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "onnx/node_import.h"

namespace padlock::onnx {

/// The sections of the table of docs/onnx.md.
enum class OperatorGroup : std::uint8_t { movement, elementwise, activation, sizes };

/// Describes an operator of the default domain.
struct Operator {
  std::string_view name;
  OperatorGroup group;
  /// Makes statements from a node. Null: the operator works on sizes alone.
  Status (*import)(NodeImport& node) = nullptr;
  /// Computes sizes if every input has them; if it refuses, `import` is called. Null: `import` does both.
  Status (*fold)(NodeImport& node) = nullptr;
  /// As `fold`, for sizes in floats, if sizes are computed from the result. Null: they are refused, unless
  /// carries_floats.
  Status (*fold_floats)(NodeImport& node) = nullptr;
  /// Bit i: input i always holds sizes, whatever the result is.
  std::uint32_t size_inputs = 0;
  /// If its inputs are sizes, so is its result.
  bool carries_sizes = false;
  /// As carries_sizes, for sizes in floats.
  bool carries_floats = false;
  /// States for people the supported part; empty: all.
  std::string_view note = {};
};

/// Returns all operators, sorted by group and name.
[[nodiscard]] std::span<const Operator> operators();
/// Returns null for an unknown operator.
[[nodiscard]] const Operator* find_operator(std::string_view name);
/// Prints the table of docs/onnx.md, as Markdown.
[[nodiscard]] std::string operator_table();

}  // namespace padlock::onnx
