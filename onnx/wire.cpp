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

constexpr std::uint32_t varint(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::varint); }
constexpr std::uint32_t bytes(std::uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed32(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed32); }
constexpr std::uint32_t fixed64(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed64); }

/// Thrown only within this file, beside protozero's own exceptions.
struct TooManyItems {};

/// A field of a message, and the place for its value.
template <class T>
struct One {
  std::uint32_t kind;
  T& value;
};

/// A field whose every occurrence adds one item.
template <class T>
struct Each {
  std::uint32_t kind;
  std::vector<T>& items;
};

/// A field of packed numbers.
template <class T>
struct Packed {
  std::uint32_t kind;
  std::vector<T>& items;
};

/// A field of which only the presence counts.
struct Seen {
  std::uint32_t kind;
  bool& is_there;
};

/// A field that a function reads.
template <class Read>
struct By {
  std::uint32_t kind;
  Read read;
};

/// Reads messages by tables of their fields, and counts every item that it keeps.
class ModelReader {
 public:
  void read_model(pbf_reader message, Model& model) {
    read_fields(message, One{varint(1), model.ir_version},
                By{bytes(7),
                   [&](pbf_reader& field) {
                     if (!model.graph) model.graph.emplace();
                     read(field, *model.graph);
                   }},
                Each{bytes(8), model.operator_sets},
                By{bytes(25), [&](pbf_reader& field) { read_function(field, model); }});
  }

 private:
  /// Reads each field by the entry with its number; skips other fields.
  template <class... Entry>
  void read_fields(pbf_reader message, Entry... entries) {
    while (message.next()) {
      const std::uint32_t kind = message.tag_and_type();
      const bool is_known = ((kind == entries.kind && (take(message, entries), true)) || ...);
      if (!is_known) message.skip();
    }
  }

  template <class T>
  void take(pbf_reader& field, One<T>& entry) {
    read(field, entry.value);
  }

  template <class T>
  void take(pbf_reader& field, Each<T>& entry) {
    T item{};
    read(field, item);
    keep(entry.items, std::move(item));
  }

  void take(pbf_reader& field, Packed<std::int64_t>& entry) {
    for (const std::int64_t number : field.get_packed_int64()) keep(entry.items, number);
  }

  void take(pbf_reader& field, Packed<float>& entry) {
    for (const float number : field.get_packed_float()) keep(entry.items, number);
  }

  void take(pbf_reader& field, Seen& entry) {
    entry.is_there = true;
    field.skip();
  }

  template <class Read>
  void take(pbf_reader& field, By<Read>& entry) {
    entry.read(field);
  }

  template <class T>
  void keep(std::vector<T>& items, T item) {
    count_item();
    items.push_back(std::move(item));
  }

  void count_item() {
    if (++items_ > limits::kItems) throw TooManyItems{};
  }

  void read(pbf_reader& field, std::int64_t& number) { number = field.get_int64(); }
  void read(pbf_reader& field, float& number) { number = field.get_float(); }
  void read(pbf_reader& field, std::string_view& text) {
    const protozero::data_view view = field.get_view();
    text = {view.data(), view.size()};
  }

  void read(pbf_reader& field, OperatorSet& set) {
    read_fields(field.get_message(), One{bytes(1), set.domain}, One{varint(2), set.version});
  }

  /// Keeps the function's domain and name. Its body is not read.
  void read_function(pbf_reader& field, Model& model) {
    std::string_view name, domain;
    read_fields(field.get_message(), One{bytes(1), name}, One{bytes(10), domain});
    count_item();
    model.functions.insert({domain == "ai.onnx" ? "" : domain, name});
  }

  void read(pbf_reader& field, Graph& graph) {
    read_fields(field.get_message(), Each{bytes(1), graph.nodes}, One{bytes(2), graph.name},
                Each{bytes(5), graph.initializers}, Each{bytes(11), graph.inputs}, Each{bytes(12), graph.outputs},
                Each{bytes(13), graph.values}, Seen{bytes(15), graph.has_sparse_initializers});
  }

  void read(pbf_reader& field, Node& node) {
    read_fields(field.get_message(), Each{bytes(1), node.inputs}, Each{bytes(2), node.outputs},
                One{bytes(3), node.name}, One{bytes(4), node.op}, Each{bytes(5), node.attributes},
                One{bytes(7), node.domain});
  }

  void read(pbf_reader& field, Attribute& attribute) {
    const auto new_tensor = [&](pbf_reader& inner) { read(inner, attribute.tensor.emplace()); };
    const auto count_text = [&](pbf_reader& inner) {
      ++attribute.texts;
      inner.skip();
    };
    read_fields(field.get_message(), One{bytes(1), attribute.name}, One{fixed32(2), attribute.number},
                One{varint(3), attribute.integer}, One{bytes(4), attribute.text}, By{bytes(5), new_tensor},
                Each{fixed32(7), attribute.numbers}, Packed{bytes(7), attribute.numbers},
                Each{varint(8), attribute.integers}, Packed{bytes(8), attribute.integers}, By{bytes(9), count_text},
                Seen{bytes(6), attribute.has_graph}, Seen{bytes(11), attribute.has_graph},
                Seen{bytes(21), attribute.is_reference}, Seen{bytes(14), attribute.has_other_kind},
                Seen{bytes(22), attribute.has_other_kind});
  }

  void read(pbf_reader& field, StoredTensor& tensor) {
    const auto is_external = [&](pbf_reader& inner) { tensor.is_external = inner.get_int64() == 1; };
    const auto elements = [&](pbf_reader& inner) { keep_elements(inner, tensor); };
    read_fields(
        field.get_message(), Each{varint(1), tensor.dims}, Packed{bytes(1), tensor.dims}, One{varint(2), tensor.type},
        One{bytes(8), tensor.name}, By{bytes(9), [&](pbf_reader& inner) { read(inner, tensor.raw.emplace()); }},
        Each{bytes(13), tensor.external}, By{varint(14), is_external}, By{bytes(4), elements}, By{fixed32(4), elements},
        By{bytes(5), elements}, By{varint(5), elements}, By{bytes(7), elements}, By{varint(7), elements},
        By{bytes(10), elements}, By{fixed64(10), elements}, By{bytes(11), elements}, By{varint(11), elements});
  }

  /// Keeps a field of elements unread, packed or single.
  void keep_elements(pbf_reader& field, StoredTensor& tensor) {
    const auto which = static_cast<ElementField>(field.tag());
    std::string_view elements;
    if (field.wire_type() == pbf_wire_type::length_delimited) {
      read(field, elements);
    } else {
      const char* const begin = field.data().data();
      field.skip();
      elements = {begin, static_cast<std::size_t>(field.data().data() - begin)};
    }
    keep(tensor.packed, {which, elements});
  }

  void read(pbf_reader& field, std::pair<std::string_view, std::string_view>& entry) {
    read_fields(field.get_message(), One{bytes(1), entry.first}, One{bytes(2), entry.second});
  }

  void read(pbf_reader& field, ValueInfo& info) {
    const auto tensor_type = [&](pbf_reader& inner) {
      info.is_tensor = true;
      read_tensor_type(inner.get_message(), info);
    };
    const auto type = [&](pbf_reader& inner) { read_fields(inner.get_message(), By{bytes(1), tensor_type}); };
    read_fields(field.get_message(), One{bytes(1), info.name}, By{bytes(2), type});
  }

  void read_tensor_type(pbf_reader message, ValueInfo& info) {
    const auto shape = [&](pbf_reader& inner) {
      info.has_shape = true;
      read_fields(inner.get_message(), Each{bytes(1), info.shape});
    };
    read_fields(message, One{varint(1), info.type}, By{bytes(2), shape});
  }

  void read(pbf_reader& field, Dimension& dimension) {
    const auto number = [&](pbf_reader& inner) {
      dimension.kind = Dimension::Kind::number;
      read(inner, dimension.number);
    };
    const auto name = [&](pbf_reader& inner) {
      read(inner, dimension.name);
      dimension.kind = dimension.name.empty() ? Dimension::Kind::unknown : Dimension::Kind::name;
    };
    read_fields(field.get_message(), By{varint(1), number}, By{bytes(2), name});
  }

  std::size_t items_ = 0;
};

std::unexpected<Error> no_model(std::string_view why) {
  return invalid_argument(fmt::format("expected an ONNX model: {}", why));
}

/// The first byte of a model: number and kind of ModelProto's first field, ir_version.
constexpr char kFirstByte = '\x08';

/// Runs a function that uses protozero, and turns its exceptions into errors.
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
  const Status read = reading([&] { ModelReader().read_model(pbf_reader(bytes.data(), bytes.size()), model); });
  if (!read && read.error().code == Code::invalid_argument && !bytes.starts_with(kFirstByte))
    return no_model("it does not begin as one does");
  PADLOCK_CHECK(read);
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
