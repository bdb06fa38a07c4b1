#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Models for tests, written byte by byte: independent of the package onnx and of the library that reads them.
namespace padlock::onnx::testing {

/// Writes the bytes of a message, field by field.
class Message {
 public:
  Message& number(int tag, std::int64_t value);
  Message& bytes(int tag, std::string_view bytes);
  Message& message(int tag, const Message& inner) { return bytes(tag, inner.bytes_); }
  Message& fixed32(int tag, float value);
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  std::string bytes_;
};

// The format's numbers of some types.
inline constexpr int kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9, kFloat16 = 10,
                     kDouble = 11;

/// A dimension: a number, or a name; "" is neither.
struct Dim {
  Dim(int value) : number(value), is_number(true) {}  // NOLINT: as a list of them is written
  Dim(const char* text) : name(text) {}               // NOLINT
  std::int64_t number = 0;
  bool is_number = false;
  std::string name;
};

[[nodiscard]] Message value_info(std::string_view name, int type, const std::vector<Dim>& shape);
/// Writes elements into the field for their type.
[[nodiscard]] Message int64s(std::string_view name, const std::vector<std::int64_t>& dims,
                             const std::vector<std::int64_t>& values);
[[nodiscard]] Message floats(std::string_view name, const std::vector<std::int64_t>& dims,
                             const std::vector<float>& values);

[[nodiscard]] Message attribute(std::string_view name, std::int64_t value);
[[nodiscard]] Message attribute(std::string_view name, const char* value);
[[nodiscard]] Message attribute(std::string_view name, float value);
[[nodiscard]] Message attribute(std::string_view name, const std::vector<std::int64_t>& values);
[[nodiscard]] Message attribute(std::string_view name, const Message& tensor);

using Names = std::vector<std::string>;
[[nodiscard]] Message node(std::string_view op, const Names& inputs, const Names& outputs,
                           const std::vector<Message>& attributes = {}, std::string_view name = {});

/// The parts of a graph, from which a model is made.
struct ModelParts {
  std::vector<Message> inputs, constants, nodes, outputs;
  int opset = 20;
  int ir_version = 10;
  std::string name = "model";
  std::vector<Message> functions = {};
  std::vector<Message> values = {};  ///< types and shapes of intermediate values
};
[[nodiscard]] std::string model(const ModelParts& parts);

}  // namespace padlock::onnx::testing
