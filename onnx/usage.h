#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/model.h"

namespace padlock::onnx {

/// The values that a graph's outputs need, and how. It is computed before anything is imported.
struct Usage {
  std::vector<bool> is_live;                      ///< by node: whether an output needs it
  std::unordered_set<std::string_view> values;    ///< that outputs need
  std::unordered_set<std::string_view> as_sizes;  ///< the subset from which sizes are computed
  /// The subset whose only use is as the fill of a Pad or a bound of a Clip.
  std::unordered_set<std::string_view> as_scalars;
};

/// Precondition: nodes stand before their users, as the format requires. The import reports a model that breaks it.
[[nodiscard]] Usage usage_of(const Graph& graph);

}  // namespace padlock::onnx
