#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

// A model as its file has it: only the wire format is interpreted. All texts and bytes are borrowed from the file's
// bytes, which outlive the model.
namespace padlock::onnx {

/// The tensor's fields for elements; the numbers are the format's.
enum class ElementField : std::uint8_t { floats = 4, int32s = 5, int64s = 7, doubles = 10, uint64s = 11 };

/// TensorProto.
struct StoredTensor {
  std::string_view name;
  std::int64_t type = 0;  ///< the format's number; see element_types.h
  std::vector<std::int64_t> dims;
  std::optional<std::string_view> raw;
  /// Packed fields with elements, in the file's order.
  std::vector<std::pair<ElementField, std::string_view>> packed;
  bool is_external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;  ///< keys and values
};

/// AttributeProto, with the values that operators use.
struct Attribute {
  std::string_view name;
  float number = 0;
  std::int64_t integer = 0;
  std::string_view text;
  std::optional<StoredTensor> tensor;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers;
  std::size_t texts = 0;        ///< number of texts
  bool has_graph = false;       ///< its content is not kept
  bool is_reference = false;    ///< refers to an attribute of a function
  bool has_other_kind = false;  ///< sparse tensors and types
};

struct Node {
  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs;  ///< a missing input is ""
  std::vector<Attribute> attributes;
};

struct Dimension {
  enum class Kind : std::uint8_t { unknown, number, name };
  Kind kind = Kind::unknown;
  std::int64_t number = 0;
  std::string_view name;
};

/// ValueInfoProto: an input or output of the graph.
struct ValueInfo {
  std::string_view name;
  bool is_tensor = false;  ///< not a sequence, a map, ...
  bool has_shape = false;
  std::int64_t type = 0;
  std::vector<Dimension> shape;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<ValueInfo> values;  ///< intermediate values whose types and shapes the model states
  bool has_sparse_initializers = false;
};

struct OperatorSet {
  std::string_view domain;
  std::int64_t version = 0;
};

struct Model {
  std::int64_t ir_version = 0;
  std::vector<OperatorSet> operator_sets;
  /// The model's own functions, by domain ("" for ai.onnx) and name. They take precedence over the standard's
  /// operators.
  std::set<std::pair<std::string_view, std::string_view>> functions;
  std::optional<Graph> graph;
};

}  // namespace padlock::onnx
