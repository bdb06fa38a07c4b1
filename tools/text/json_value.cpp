#include "tools/text/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace padlock::tools {

/// Converts the parser's tree of values to JsonValue.
class JsonTree {
 public:
  using Node = nlohmann::ordered_json;

  static JsonValue copy(const Node& node) {
    JsonValue value;
    value.exists_ = true;
    if (node.is_string()) value.text_ = node.get_ref<const std::string&>();
    if (node.is_boolean()) value.truth_ = node.get<bool>();
    if (node.is_number()) value.number_ = node.get<double>();
    if (node.is_number_integer())
      value.integer_ =
          node.is_number_unsigned() ? node.get<std::uint64_t>() : static_cast<std::uint64_t>(node.get<std::int64_t>());
    if (!node.is_structured()) return value;
    for (const auto& item : node.items()) {
      if (node.is_object()) value.names_.push_back(item.key());
      value.items_.push_back(copy(item.value()));
    }
    return value;
  }
};

Outcome<JsonValue> JsonValue::parse(std::string_view text) {
  std::string whole(text);
  // A file's names may be any bytes; names that are not UTF-8 are not JSON.
  if (!JsonTree::Node::accept(whole))
    std::ranges::replace_if(whole, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  const JsonTree::Node node = JsonTree::Node::parse(whole, nullptr, false);
  if (node.is_discarded()) return fail(ExitCode::internal, "expected a report as JSON, found something else");
  return JsonTree::copy(node);
}

const JsonValue& JsonValue::operator[](std::string_view member) const {
  static const JsonValue kNone;
  const auto found = std::ranges::find(names_, member);
  return found == names_.end() ? kNone : items_[static_cast<std::size_t>(found - names_.begin())];
}

}  // namespace padlock::tools
