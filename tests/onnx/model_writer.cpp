#include "tests/onnx/model_writer.h"

#include <cstring>

namespace padlock::onnx::testing {

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

Message& Message::number(int tag, std::int64_t value) {
  varint(static_cast<std::uint64_t>(tag) << 3);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::bytes(int tag, std::string_view bytes) {
  varint(static_cast<std::uint64_t>(tag) << 3 | 2);
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

Message& Message::fixed32(int tag, float value) {
  varint(static_cast<std::uint64_t>(tag) << 3 | 5);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof raw);
  return *this;
}

Message value_info(std::string_view name, int type, const std::vector<Dim>& shape) {
  Message dims;
  for (const Dim& dim : shape) {
    Message one;
    if (dim.is_number) one.number(1, dim.number);
    if (!dim.name.empty()) one.bytes(2, dim.name);
    dims.message(1, one);
  }
  const Message tensor = Message().number(1, type).message(2, dims);
  return Message().bytes(1, name).message(2, Message().message(1, tensor));
}

Message int64s(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& values) {
  Message tensor;
  for (const std::int64_t n : dims) tensor.number(1, n);
  tensor.number(2, kInt64);
  for (const std::int64_t value : values) tensor.number(7, value);
  return tensor.bytes(8, name);
}

Message floats(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  Message tensor;
  for (const std::int64_t n : dims) tensor.number(1, n);
  tensor.number(2, kFloat);
  std::string raw(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return tensor.bytes(9, raw).bytes(8, name);
}

Message attribute(std::string_view name, std::int64_t value) {
  return Message().bytes(1, name).number(3, value).number(20, 2);
}
Message attribute(std::string_view name, const char* value) {
  return Message().bytes(1, name).bytes(4, value).number(20, 3);
}
Message attribute(std::string_view name, float value) {
  return Message().bytes(1, name).fixed32(2, value).number(20, 1);
}
Message attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  Message result = Message().bytes(1, name);
  for (const std::int64_t value : values) result.number(8, value);
  return result.number(20, 7);
}
Message attribute(std::string_view name, const Message& tensor) {
  return Message().bytes(1, name).message(5, tensor).number(20, 4);
}

Message node(std::string_view op, const Names& inputs, const Names& outputs, const std::vector<Message>& attributes,
             std::string_view name) {
  Message result;
  for (const std::string& input : inputs) result.bytes(1, input);
  for (const std::string& output : outputs) result.bytes(2, output);
  if (!name.empty()) result.bytes(3, name);
  result.bytes(4, op);
  for (const Message& one : attributes) result.message(5, one);
  return result;
}

std::string model(const ModelParts& parts) {
  Message graph;
  for (const Message& one : parts.nodes) graph.message(1, one);
  graph.bytes(2, parts.name);
  for (const Message& one : parts.constants) graph.message(5, one);
  for (const Message& one : parts.inputs) graph.message(11, one);
  for (const Message& one : parts.outputs) graph.message(12, one);
  for (const Message& one : parts.values) graph.message(13, one);
  const Message set = Message().bytes(1, "").number(2, parts.opset);
  Message whole = Message().number(1, parts.ir_version).message(7, graph).message(8, set);
  for (const Message& one : parts.functions) whole.message(25, one);
  return whole.text();
}

}  // namespace padlock::onnx::testing
