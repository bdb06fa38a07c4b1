#include "onnx/import.h"

#include <array>

#include "onnx/parts/part_import.h"
#include "onnx/printable.h"
#include "onnx/wire.h"
#include "support/json_writer.h"

namespace padlock::onnx {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"tensor", "scalar", "dims", "unused", "symbol"};

void write(JsonWriter& json, const std::vector<Place>& places) {
  json.begin_array();
  for (const Place& place : places) {
    json.begin_object().member("name", place.model_name).member("kind", kKinds[static_cast<std::size_t>(place.kind)]);
    json.key("parameters").begin_array();
    for (const std::string& name : place.names) json.value(name);
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

std::string Import::interface() const {
  JsonWriter json;
  json.begin_object().member("schema", 1);
  json.key("inputs");
  write(json, inputs);
  json.key("results");
  write(json, results);
  json.key("symbols");
  write(json, symbols);
  json.end_object();
  return std::move(json).take();
}

Result<Import> import_model(std::string_view bytes, const ImportOptions& options) {
  PADLOCK_TRY(const Model model, read_model(bytes));
  auto made = options.outputs.empty() ? import_whole(model, options) : import_part(model, options);
  if (!made) made.error().message = printable(made.error().message);
  return made;
}

}  // namespace padlock::onnx
