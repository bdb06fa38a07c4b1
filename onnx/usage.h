#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/model.h"

namespace padlock::onnx {

/// Says what the results of a graph need; it is found before anything is imported.
struct Usage {
  std::vector<bool> is_live;                      ///< by node: a result needs it
  std::unordered_set<std::string_view> values;    ///< that results need
  std::unordered_set<std::string_view> as_sizes;  ///< those of them from which sizes are computed
  /// Those that are the fill of a Pad or a bound of a Clip, and nothing else.
  std::unordered_set<std::string_view> as_scalars;
};

/// Precondition: nodes stand before those that use them, as the format wants; where they do not, an import says so.
[[nodiscard]] Usage usage_of(const Graph& graph);

}  // namespace padlock::onnx
