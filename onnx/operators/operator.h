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
  /// Makes statements of a node. Null: it works on sizes alone.
  Status (*import)(NodeImport& node) = nullptr;
  /// Computes sizes, where every input has them; where that is refused, `import` is asked. Null: `import` does both.
  Status (*fold)(NodeImport& node) = nullptr;
  /// The same of sizes that are computed in floats, where sizes are computed of the result. Null: they are refused
  /// there, unless it carries_floats.
  Status (*fold_floats)(NodeImport& node) = nullptr;
  /// Bit i: input i says sizes, whatever the result is.
  std::uint32_t size_inputs = 0;
  /// Sizes of its inputs are sizes of its result.
  bool carries_sizes = false;
  /// The same of sizes that are computed in floats.
  bool carries_floats = false;
  /// Says for people which part is supported; empty: all.
  std::string_view note = {};
};

/// All of them, sorted by group and name.
[[nodiscard]] std::span<const Operator> operators();
/// Returns null for one that there is not.
[[nodiscard]] const Operator* find_operator(std::string_view name);
/// Prints the table of docs/onnx.md, as Markdown.
[[nodiscard]] std::string operator_table();

}  // namespace padlock::onnx
