#include "compiler/targets/config_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "support/messages/suggestion.h"

namespace padlock::compiler {
namespace {

/// Prints "a, b or c".
std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

Status parse_entry(std::string_view key, std::string_view value, const std::vector<ConfigField>& fields) {
  std::vector<std::string> names;
  for (const ConfigField& field : fields) {
    names.push_back(field.name);
    if (field.name != key) continue;
    const auto found = std::ranges::find(field.values, value);
    if (found == field.values.end())
      return invalid_argument(fmt::format("config key '{}': expected {}, found '{}'{}", key, list_of(field.values),
                                          value, did_you_mean(value, field.values)));
    field.set(static_cast<std::size_t>(found - field.values.begin()));
    return {};
  }
  return invalid_argument(
      fmt::format("unknown config key '{}': expected {}{}", key, list_of(names), did_you_mean(key, names)));
}

void visit_from(const std::vector<ConfigField>& fields, std::size_t first, const std::function<void()>& visit) {
  if (first == fields.size()) return visit();
  for (std::size_t i = 0; i < fields[first].values.size(); ++i) {
    fields[first].set(i);
    visit_from(fields, first + 1, visit);
  }
}

}  // namespace

ConfigField config_field(std::string name, int& field, const std::vector<int>& values) {
  std::vector<std::pair<int, std::string>> named;
  for (const int value : values) named.emplace_back(value, std::to_string(value));
  return config_field<int>(std::move(name), field, named);
}

ConfigField config_field(std::string name, bool& field) {
  return config_field<bool>(std::move(name), field, {{false, "0"}, {true, "1"}});
}

Status parse_config(std::string_view text, const std::vector<ConfigField>& fields) {
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return invalid_argument(fmt::format("config: expected key=value, found '{}'", entry));
    const std::string_view key = entry.substr(0, equals);
    PADLOCK_CHECK(parse_entry(key, entry.substr(equals + 1), fields));
    if (!seen.insert(key).second)
      return invalid_argument(fmt::format("config key '{}': expected one value, found two", key));
  }
  return {};
}

std::string config_text(const std::vector<ConfigField>& fields) {
  std::string text;
  for (const ConfigField& field : fields)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", field.name, field.values.at(field.get()));
  return text;
}

void for_each_config(const std::vector<ConfigField>& fields, const std::function<void()>& visit) {
  visit_from(fields, 0, visit);
}

}  // namespace padlock::compiler
