#include "api/cache_json.h"

#include "support/json_writer.h"

namespace padlock::api {
namespace {

void add_provenance(JsonWriter& json, const tuner::Provenance& provenance) {
  json.member("date", provenance.date).member("seed", provenance.seed).member("version", provenance.version);
}

void add(JsonWriter& json, const tuner::KeyFields& fields) {
  json.key("fields").begin_array();
  for (const tuner::KeyField& field : tuner::kKeyFields) {
    json.begin_object().member("name", field.name).member("class", name_of(field.field_class));
    json.member("value", fields.*field.value).end_object();
  }
  json.end_array();
}

void add(JsonWriter& json, const Choice& choice) {
  json.begin_object().member("region", choice.region).member("config", choice.config);
  add_provenance(json, choice.provenance);
  json.end_object();
}

void add(JsonWriter& json, const Measurement& m) {
  json.begin_object().member("region", m.region).member("config", m.config).key("sizes").begin_object();
  for (const auto& [name, value] : m.sizes) json.member(name, value);
  json.end_object().member("verdict", name_of(m.verdict)).member("message", m.message);
  json.member("median_ps", m.median_ps).member("noise_ps", m.noise_ps).member("samples_ps", m.samples_ps);
  add_provenance(json, m.provenance);
  json.end_object();
}

template <class T>
void add_list(JsonWriter& json, const char* name, const std::vector<T>& list) {
  json.key(name).begin_array();
  for (const T& item : list) add(json, item);
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

}  // namespace padlock::api
