#include "onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "onnx/limits.h"

namespace padlock::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Thrown within this file alone, beside protozero's own exceptions.
struct TooManyItems {};

constexpr std::uint32_t varint(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::varint); }
constexpr std::uint32_t bytes(std::uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed32(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed32); }
constexpr std::uint32_t fixed64(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed64); }

/// Reads messages, one function each. A field of another wire type than the format says is skipped, as one of a later
/// version is. Everything that is kept is counted.
class ModelReader {
 public:
  Model read(pbf_reader message) {
    Model model;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case varint(1):
          model.ir_version = message.get_int64();
          break;
        case bytes(7):
          if (!model.graph) model.graph.emplace();
          read_graph(message.get_message(), *model.graph);
          break;
        case bytes(8):
          model.operator_sets.push_back(counted(read_operator_set(message.get_message())));
          break;
        default:
          message.skip();
      }
    }
    return model;
  }

 private:
  static std::string_view text(pbf_reader& message) {
    const protozero::data_view view = message.get_view();
    return {view.data(), view.size()};
  }

  /// Passes one item on that is about to be kept.
  template <class T>
  T counted(T item) {
    if (++items_ > limits::kItems) throw TooManyItems{};
    return item;
  }

  OperatorSet read_operator_set(pbf_reader message) {
    OperatorSet set;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          set.domain = text(message);
          break;
        case varint(2):
          set.version = message.get_int64();
          break;
        default:
          message.skip();
      }
    }
    return set;
  }

  void read_graph(pbf_reader message, Graph& graph) {
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          graph.nodes.push_back(counted(read_node(message.get_message())));
          break;
        case bytes(2):
          graph.name = text(message);
          break;
        case bytes(5):
          graph.initializers.push_back(counted(read_tensor(message.get_message())));
          break;
        case bytes(11):
          graph.inputs.push_back(counted(read_value_info(message.get_message())));
          break;
        case bytes(12):
          graph.outputs.push_back(counted(read_value_info(message.get_message())));
          break;
        case bytes(15):
          graph.has_sparse_initializers = true;
          message.skip();
          break;
        default:
          message.skip();
      }
    }
  }

  Node read_node(pbf_reader message) {
    Node node;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          node.inputs.push_back(counted(text(message)));
          break;
        case bytes(2):
          node.outputs.push_back(counted(text(message)));
          break;
        case bytes(3):
          node.name = text(message);
          break;
        case bytes(4):
          node.op = text(message);
          break;
        case bytes(5):
          node.attributes.push_back(counted(read_attribute(message.get_message())));
          break;
        case bytes(7):
          node.domain = text(message);
          break;
        default:
          message.skip();
      }
    }
    return node;
  }

  Attribute read_attribute(pbf_reader message) {
    Attribute attribute;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          attribute.name = text(message);
          break;
        case fixed32(2):
          attribute.number = message.get_float();
          break;
        case varint(3):
          attribute.integer = message.get_int64();
          break;
        case bytes(4):
          attribute.text = text(message);
          break;
        case bytes(5):
          attribute.tensor = read_tensor(message.get_message());
          break;
        default:
          read_list(message, attribute);
      }
    }
    return attribute;
  }

  /// Reads a field of an attribute that is a list, a graph or of no use.
  void read_list(pbf_reader& message, Attribute& attribute) {
    switch (message.tag_and_type()) {
      case fixed32(7):
        attribute.numbers.push_back(counted(message.get_float()));
        break;
      case bytes(7):
        for (const float number : message.get_packed_float()) attribute.numbers.push_back(counted(number));
        break;
      case varint(8):
        attribute.integers.push_back(counted(message.get_int64()));
        break;
      case bytes(8):
        for (const std::int64_t number : message.get_packed_int64()) attribute.integers.push_back(counted(number));
        break;
      default:
        attribute.texts += message.tag() == 9 ? 1 : 0;
        attribute.has_graph |= message.tag() == 6 || message.tag() == 11;
        attribute.is_reference |= message.tag() == 21;
        attribute.has_other_kind |= message.tag() == 14 || message.tag() == 22;
        message.skip();
    }
  }

  StoredTensor read_tensor(pbf_reader message) {
    StoredTensor tensor;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case varint(1):
          tensor.dims.push_back(counted(message.get_int64()));
          break;
        case bytes(1):
          for (const std::int64_t n : message.get_packed_int64()) tensor.dims.push_back(counted(n));
          break;
        case varint(2):
          tensor.type = message.get_int64();
          break;
        case bytes(8):
          tensor.name = text(message);
          break;
        case bytes(9):
          tensor.raw = text(message);
          break;
        case bytes(13):
          tensor.external.push_back(counted(read_entry(message.get_message())));
          break;
        case varint(14):
          tensor.is_external = message.get_int64() == 1;
          break;
        default:
          read_elements(message, tensor);
      }
    }
    return tensor;
  }

  /// Keeps a field of elements as it is, packed or one of them.
  void read_elements(pbf_reader& message, StoredTensor& tensor) {
    switch (message.tag_and_type()) {
      case bytes(4):
      case bytes(5):
      case bytes(7):
      case bytes(10):
      case bytes(11): {
        const auto field = static_cast<ElementField>(message.tag());
        tensor.packed.emplace_back(field, counted(text(message)));
        break;
      }
      case fixed32(4):
      case varint(5):
      case varint(7):
      case fixed64(10):
      case varint(11): {
        const auto field = static_cast<ElementField>(message.tag());
        const char* const begin = message.data().data();
        message.skip();
        const auto size = static_cast<std::size_t>(message.data().data() - begin);
        tensor.packed.emplace_back(field, counted(std::string_view(begin, size)));
        break;
      }
      default:
        message.skip();
    }
  }

  std::pair<std::string_view, std::string_view> read_entry(pbf_reader message) {
    std::pair<std::string_view, std::string_view> entry;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          entry.first = text(message);
          break;
        case bytes(2):
          entry.second = text(message);
          break;
        default:
          message.skip();
      }
    }
    return entry;
  }

  ValueInfo read_value_info(pbf_reader message) {
    ValueInfo info;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case bytes(1):
          info.name = text(message);
          break;
        case bytes(2):
          read_type(message.get_message(), info);
          break;
        default:
          message.skip();
      }
    }
    return info;
  }

  void read_type(pbf_reader message, ValueInfo& info) {
    while (message.next()) {
      if (message.tag_and_type() == bytes(1)) {
        info.is_tensor = true;
        read_tensor_type(message.get_message(), info);
      } else {
        message.skip();
      }
    }
  }

  void read_tensor_type(pbf_reader message, ValueInfo& info) {
    while (message.next()) {
      switch (message.tag_and_type()) {
        case varint(1):
          info.type = message.get_int64();
          break;
        case bytes(2):
          info.has_shape = true;
          read_shape(message.get_message(), info);
          break;
        default:
          message.skip();
      }
    }
  }

  void read_shape(pbf_reader message, ValueInfo& info) {
    while (message.next()) {
      if (message.tag_and_type() == bytes(1)) {
        info.shape.push_back(counted(read_dimension(message.get_message())));
      } else {
        message.skip();
      }
    }
  }

  Dimension read_dimension(pbf_reader message) {
    Dimension dimension;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case varint(1):
          dimension.kind = Dimension::Kind::number;
          dimension.number = message.get_int64();
          break;
        case bytes(2):
          dimension.name = text(message);
          dimension.kind = dimension.name.empty() ? Dimension::Kind::unknown : Dimension::Kind::name;
          break;
        default:
          message.skip();
      }
    }
    return dimension;
  }

  std::size_t items_ = 0;
};

std::unexpected<Error> no_model(std::string_view why) {
  return invalid_argument(fmt::format("expected an ONNX model: {}", why));
}

/// Runs a function of protozero, whose exceptions end here.
template <class Body>
Status reading(Body&& body) {
  try {
    body();
    return {};
  } catch (const protozero::exception& exception) {
    return no_model(fmt::format("its bytes are damaged ({})", exception.what()));
  } catch (const TooManyItems&) {
    return beyond_limits(fmt::format("expected a model of at most {} items, found more", limits::kItems));
  }
}

template <class T>
void append_fixed(std::string_view bytes, std::size_t most, std::vector<std::uint64_t>& bits) {
  if (bytes.size() % sizeof(T) != 0) throw protozero::invalid_length_exception{};
  for (std::size_t at = 0; at < bytes.size() && bits.size() < most; at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    bits.push_back(value);
  }
}

}  // namespace

Result<Model> read_model(std::string_view bytes) {
  if (bytes.size() > static_cast<std::size_t>(limits::kModelBytes))
    return beyond_limits(
        fmt::format("expected a model of at most {} bytes, found {}", limits::kModelBytes, bytes.size()));
  Model model;
  PADLOCK_CHECK(reading([&] { model = ModelReader().read(pbf_reader(bytes.data(), bytes.size())); }));
  if (!model.graph) return no_model("it has no graph");
  return model;
}

Status read_packed(ElementField field, std::string_view bytes, std::size_t most, std::vector<std::uint64_t>& bits) {
  return reading([&] {
    if (field == ElementField::floats) return append_fixed<std::uint32_t>(bytes, most, bits);
    if (field == ElementField::doubles) return append_fixed<std::uint64_t>(bytes, most, bits);
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (at != end && bits.size() < most) bits.push_back(protozero::decode_varint(&at, end));
  });
}

}  // namespace padlock::onnx
