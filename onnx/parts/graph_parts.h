#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Positions of a graph's nodes that programs cannot express. Their results are inputs of a part.
using Cuts = std::set<std::size_t>;

/// A graph of its own: some values of a graph, and the nodes between the cuts that compute them.
struct Part {
  Graph graph;
  std::vector<std::size_t> nodes;  ///< position of each of its nodes in the whole graph
};

/// Splits graphs into parts. Borrows the graph, which outlives it and its parts.
class Parts {
 public:
  explicit Parts(const Graph& graph);

  /// Makes the part that computes `outputs`, none of which is_cut. Errors: not_found for a name that nothing computes;
  /// unimplemented if the model does not state type and shape of a value at which the part begins.
  [[nodiscard]] Result<Part> cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const;
  /// Returns whether a cut node computes one of the values.
  [[nodiscard]] bool is_cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const;
  /// Returns, for each group of nodes that are connected without a cut, the values that cut nodes or the whole graph's
  /// outputs need. The largest group comes first. Each entry is an argument for `cut`.
  [[nodiscard]] std::vector<std::vector<std::string_view>> groups(const Cuts& cuts) const;

 private:
  /// Marks the nodes that compute the outputs, and returns the values at which they begin.
  [[nodiscard]] std::vector<std::string_view> mark(const std::vector<std::string_view>& outputs, const Cuts& cuts,
                                                   std::vector<bool>& marks) const;

  const Graph& graph_;
  std::unordered_map<std::string_view, std::size_t> makers_;  // the node that computes each value
  std::unordered_map<std::string_view, const ValueInfo*> infos_;
  std::unordered_map<std::string_view, const StoredTensor*> constants_;
};

}  // namespace padlock::onnx
