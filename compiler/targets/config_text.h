#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error.h"

// Configs as text, "key=value,...", and as the points of a search space: one list of fields serves both.
namespace padlock::compiler {

/// One field of a config: its values, each with a name. Borrows the config.
struct ConfigField {
  std::string name;
  std::vector<std::string> values;
  std::function<std::size_t()> get;      ///< index of the field's value; the number of values if it is none of them
  std::function<void(std::size_t)> set;  ///< sets the value of this index
};

template <class T>
ConfigField config_field(std::string name, T& field, const std::vector<std::pair<T, std::string>>& values) {
  ConfigField made{.name = std::move(name), .values = {}, .get = {}, .set = {}};
  for (const auto& value : values) made.values.push_back(value.second);
  made.set = [&field, values](std::size_t i) { field = values[i].first; };
  made.get = [&field, values] {
    std::size_t i = 0;
    while (i < values.size() && values[i].first != field) ++i;
    return i;
  };
  return made;
}
ConfigField config_field(std::string name, int& field, const std::vector<int>& values);
ConfigField config_field(std::string name, bool& field);

/// Sets the fields that the text names: keys in any order, each once. Errors: invalid_argument, with the key, the
/// values that it takes and the value found.
[[nodiscard]] Status parse_config(std::string_view text, const std::vector<ConfigField>& fields);
/// Prints all fields, in order; parse_config reads the text back.
[[nodiscard]] std::string config_text(const std::vector<ConfigField>& fields);
/// Calls back with every combination of values, the last field varying fastest.
void for_each_config(const std::vector<ConfigField>& fields, const std::function<void()>& visit);

}  // namespace padlock::compiler
