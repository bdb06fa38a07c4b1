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

/// One graph while it becomes a program.
class GraphImport {
 public:
  /// Borrows the model and the options, which outlive it.
  /// `steps`: of arithmetic on sizes.
  GraphImport(const Model& model, const ImportOptions& options, std::int64_t steps = limits::kSteps);

  /// Call it once.
  [[nodiscard]] Result<Import> run();
  /// After `run`: the positions of the nodes that were refused.
  [[nodiscard]] const std::set<std::size_t>& refused_nodes() const { return refused_nodes_; }

 private:
  /// A node, or something else of the model, that cannot be imported.
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
  /// Returns null where one of its inputs was refused itself.
  Result<std::vector<Value*>> inputs_of(const Node& node, bool& is_lost);
  /// Notes in results that are data, and that sizes are computed of, which node made them data.
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
