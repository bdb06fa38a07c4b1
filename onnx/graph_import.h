#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/elements.h"
#include "onnx/import.h"
#include "onnx/limits.h"
#include "onnx/model.h"
#include "onnx/node_import.h"
#include "onnx/program_text.h"
#include "onnx/size_math.h"
#include "onnx/usage.h"
#include "onnx/value.h"

namespace padlock::onnx {

/// Makes a program from one graph.
class GraphImport {
 public:
  /// Borrows the model and the options, which outlive it. `steps` limits arithmetic on sizes.
  GraphImport(const Model& model, const ImportOptions& options, std::int64_t steps = limits::kSteps);

  /// Precondition: called once.
  [[nodiscard]] Result<Import> run();
  /// Returns the positions of the refused nodes, after `run`.
  [[nodiscard]] const std::set<std::size_t>& refused_nodes() const { return refused_nodes_; }

 private:
  /// A part of the model, mostly a node, that cannot be imported.
  struct Refusal {
    std::string subject;  // "'pad_1' (Pad)"
    std::string reason;
  };

  Status check_versions();
  void take_names();
  Status add_constants();
  void add_input(const ValueInfo& info);
  Result<Value> parameter(const ValueInfo& info, Place& place);
  Result<Value> dims_parameter(const ValueInfo& info, ir::DType dtype, Place& place);
  Expr extent(const ValueInfo& info, std::size_t axis);
  Status add_node(std::size_t index);
  Status import_node(const Node& node, NodeImport& import);
  /// Sets `is_lost` if an input was itself refused.
  Result<std::vector<Value*>> inputs_of(const Node& node, bool& is_lost);
  /// Notes in each result which node made it data, if sizes are computed from it.
  void note_origins(NodeImport& import, std::size_t index) const;
  void keep_results(const Node& node, std::size_t index, std::vector<std::optional<Value>> results);
  void add_result(const ValueInfo& info);
  void refuse(std::string subject, std::string reason);
  void refuse_node(std::size_t index, const Error& error);
  [[nodiscard]] std::string subject_of(std::size_t index) const;
  [[nodiscard]] std::unexpected<Error> refusals() const;
  Result<Import> finish();

  const Model& model_;
  const Graph& graph_;
  Usage usage_;
  std::int64_t opset_ = 0;
  SizeMath sizes_;
  ProgramText text_;
  ElementReader elements_;
  std::unordered_map<std::string_view, Value> values_;
  std::unordered_set<std::string_view> lost_;                     // results of refused nodes
  std::unordered_map<std::string_view, std::string> kept_names_;  // of the graph's inputs, symbols and outputs
  std::unordered_map<std::string_view, std::string> symbol_names_;
  std::unordered_set<std::string> result_names_;
  std::vector<Refusal> refusals_;
  std::set<std::size_t> refused_nodes_;
  std::size_t refusal_count_ = 0;
  Import import_;
};

}  // namespace padlock::onnx
