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

/// Nodes of a graph, by their positions, that programs cannot say: what they compute is an input of a part.
using Cuts = std::set<std::size_t>;

/// Some of the values of a graph with what computes them, between the cuts: a graph of its own.
struct Part {
  Graph graph;
  std::vector<std::size_t> nodes;  ///< of each of its nodes the position in the whole
};

/// Cuts graphs into parts. Borrows the graph, which outlives it and its parts.
class Parts {
 public:
  explicit Parts(const Graph& graph);

  /// Makes the part that computes some values, none of which is_cut. Errors: not_found for a name that nothing
  /// computes; unimplemented where the model does not say the type and shape of a value at which the part begins.
  [[nodiscard]] Result<Part> cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const;
  /// Says whether a cut node computes one of the values.
  [[nodiscard]] bool is_cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const;
  /// Lists, for each group of connected nodes that no cut is between, those of its values that cut nodes or the whole
  /// graph need; the largest group first. Each is what `cut` takes.
  [[nodiscard]] std::vector<std::vector<std::string_view>> groups(const Cuts& cuts) const;

 private:
  /// Marks the nodes that compute the outputs, and returns the values at which they begin.
  [[nodiscard]] std::vector<std::string_view> mark(const std::vector<std::string_view>& outputs, const Cuts& cuts,
                                                   std::vector<bool>& marks) const;

  const Graph& graph_;
  std::unordered_map<std::string_view, std::size_t> makers_;  // the node that computes a value
  std::unordered_map<std::string_view, const ValueInfo*> infos_;
  std::unordered_map<std::string_view, const StoredTensor*> constants_;
};

}  // namespace padlock::onnx
