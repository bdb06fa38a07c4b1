#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "onnx/program_text.h"
#include "onnx/size_math.h"
#include "onnx/value.h"
#include "support/error.h"

namespace padlock::onnx {

/// Makes the error for a node that programs cannot express: the reason, without the node's name.
[[nodiscard]] std::unexpected<Error> refused(std::string reason);

/// Makes statements from one node. Gives its inputs and attributes, and takes its results.
class NodeImport {
 public:
  /// Borrows all arguments, which outlive it. `values[i]` is input i; null if it is missing.
  NodeImport(const Node& node, std::size_t index, std::int64_t opset, SizeMath& sizes, ProgramText& text,
             ElementReader& elements, std::vector<Value*> values)
      : node_(node),
        index_(index),
        opset_(opset),
        sizes_(sizes),
        text_(text),
        elements_(elements),
        values_(std::move(values)) {
    results_.resize(node.outputs.size());
  }

  [[nodiscard]] SizeMath& sizes() { return sizes_; }
  [[nodiscard]] ElementReader& elements() { return elements_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] const Node& node() const { return node_; }

  // ---- inputs
  [[nodiscard]] std::size_t input_count() const { return values_.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const { return i < values_.size() && values_[i] != nullptr; }
  /// Error: refused for a missing input.
  [[nodiscard]] Result<Value*> input(std::size_t i);
  /// Returns the elements of an input of rank 0 or 1 as sizes. `what` names it in the error: "the pads".
  [[nodiscard]] Result<std::vector<Expr>> size_list(std::size_t i, std::string_view what);
  /// As size_list, for literals.
  [[nodiscard]] Result<std::vector<std::int64_t>> literal_list(std::size_t i, std::string_view what);
  /// Returns the sizes of an input with their shape. Error: refused for data.
  [[nodiscard]] Result<SizeArray> size_array(std::size_t i);
  /// Returns whether every present input has sizes.
  [[nodiscard]] bool has_sizes_alone() const;
  /// Returns the floats of an input that are constants or computed from sizes. Error: refused for data, or for a
  /// constant that is not finite.
  [[nodiscard]] Result<FractionArray> fraction_array(std::size_t i);
  /// Returns whether an input has floats that are computed from sizes.
  [[nodiscard]] bool has_fraction() const;
  /// Returns whether every present input has floats that are constants or computed from sizes.
  [[nodiscard]] bool has_fractions_alone() const;
  /// Returns the name of the program's tensor with this value, and makes the tensor if there is none.
  [[nodiscard]] Result<std::string> tensor(Value& value);
  /// Returns the names of several values. With `literals`, returns what `scalar` returns if that is not nullopt,
  /// whatever the shape.
  [[nodiscard]] Result<std::vector<std::string>> operands(std::span<Value* const> values, bool literals);
  /// Returns the value as a literal or a scalar parameter, if it is one.
  [[nodiscard]] std::optional<std::string> scalar(const Value& value);

  // ---- attributes
  [[nodiscard]] const Attribute* attribute(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float number(std::string_view name, float otherwise) const;
  [[nodiscard]] std::string_view word(std::string_view name, std::string_view otherwise) const;
  /// Returns an axis below `rank`; a negative one counts from the end.
  [[nodiscard]] Result<std::size_t> axis(std::int64_t given, std::size_t rank) const;
  /// Returns several such axes. Error also for an axis that is given twice.
  [[nodiscard]] Result<std::vector<std::size_t>> axes(std::span<const std::int64_t> given, std::size_t rank) const;

  // ---- results
  // Adds a statement for a part of the node's work, and returns its name.
  std::string part(std::string_view text);
  /// Adds the statement of an output, with its type and shape.
  void finish(std::string_view text, ir::DType dtype, std::vector<Expr> shape, std::size_t output = 0);
  void finish(Value value, std::size_t output = 0);
  void finish(SizeArray sizes, ir::DType dtype, std::size_t output = 0);
  void finish(FractionArray fractions, ir::DType dtype, std::size_t output = 0);
  /// Returns whether sizes are computed from the node's results.
  [[nodiscard]] bool says_sizes() const { return says_sizes_; }
  void set_says_sizes(bool says_sizes) { says_sizes_ = says_sizes; }
  /// Returns why the results are data though the inputs are sizes; empty: the operator makes data.
  [[nodiscard]] const std::string& data_reason() const { return data_reason_; }
  void set_data_reason(std::string reason) { data_reason_ = std::move(reason); }
  /// Returns the origin of the first input that has one; empty if none has.
  [[nodiscard]] std::string origin() const;
  [[nodiscard]] bool wants(std::size_t output) const {
    return output < node_.outputs.size() && !node_.outputs[output].empty();
  }
  [[nodiscard]] std::vector<std::optional<Value>>& results() { return results_; }
  /// Sets the names for outputs that must have a given name: those of the graph's outputs.
  void set_output_names(std::vector<std::string> names) { names_ = std::move(names); }

 private:
  std::string output_name(std::size_t output);
  Result<std::string> tensor_of_sizes(const Value& value);
  Result<std::string> tensor_of_fractions(const Value& value);
  Result<std::string> tensor_of_literals(const Value& value);
  std::string tensor_of_size(Expr size, ir::DType dtype);

  const Node& node_;
  std::size_t index_;
  std::int64_t opset_;
  SizeMath& sizes_;
  ProgramText& text_;
  ElementReader& elements_;
  std::vector<Value*> values_;
  std::vector<std::optional<Value>> results_;
  std::vector<std::string> names_;
  bool says_sizes_ = false;
  std::string data_reason_;
};

/// Returns a literal with its type: "f32(-1.5)".
[[nodiscard]] std::string typed_literal(const ir::Scalar& scalar);

}  // namespace padlock::onnx
