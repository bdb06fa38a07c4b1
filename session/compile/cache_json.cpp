#include "session/compile/cache_json.h"

#include <optional>
#include <type_traits>

#include "support/json_writer.h"

namespace padlock::session {
namespace {

void add(JsonWriter& json, const tuner::KeyFields& fields) {
  json.key("fields").begin_array();
  for (const tuner::KeyField& field : tuner::kKeyFields) {
    json.begin_object().member("name", field.name).member("class", name_of(field.field_class));
    json.member("value", fields.*field.value).end_object();
  }
  json.end_array();
}

/// Writes the members of a choice or a measurement, and beside them those of its provenance.
template <class Data>
void add_members(JsonWriter& json, const Data& data) {
  tuner::visit_members(data, [&json]<class T>(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, tuner::Provenance>) {
      add_members(json, value);
    } else if constexpr (std::is_same_v<T, std::optional<tuner::Coverage>>) {
      if (value) add_members(json, *value);
    } else if constexpr (std::is_same_v<T, std::optional<tuner::Regime>>) {
      json.member(name, name_of(value.value_or(tuner::Regime::cold)));
    } else if constexpr (std::is_same_v<T, std::optional<tuner::Ratios>>) {
      if (!value) return;
      json.key(name).begin_object();
      add_members(json, *value);
      json.end_object();
    } else if constexpr (std::is_same_v<T, tuner::Sizes>) {
      json.key(name).begin_object();
      for (const auto& [symbol, size] : value) json.member(symbol, size);
      json.end_object();
    } else if constexpr (std::is_same_v<T, tuner::Verdict>) {
      json.member(name, name_of(value));
    } else {
      json.member(name, value);
    }
  });
}

template <class T>
void add_list(JsonWriter& json, const char* name, const std::vector<T>& list) {
  json.key(name).begin_array();
  for (const T& item : list) {
    json.begin_object();
    add_members(json, item);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const std::string& cache, const std::vector<CacheEntry>& entries,
                    const std::vector<std::string>& problems) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("cache", cache).member("problems", problems);
  json.key("keys").begin_array();
  for (const CacheEntry& entry : entries) {
    json.begin_object().member("program", entry.program).member("key", entry.key);
    add(json, entry.fields);
    add_list(json, "choices", entry.choices);
    add_list(json, "measurements", entry.measurements);
    json.end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

}  // namespace padlock::session
