#include "session/compile/explain_json.h"

#include "support/json_writer.h"

namespace padlock::session {
namespace {

void write_quantity(JsonWriter& json, const Quantity& quantity) {
  json.begin_object().member("expression", quantity.expression);
  if (quantity.value) json.member("value", *quantity.value);
  json.end_object();
}

void write_quantities(JsonWriter& json, const char* name, const std::vector<Quantity>& list) {
  json.key(name).begin_array();
  for (const Quantity& quantity : list) write_quantity(json, quantity);
  json.end_array();
}

void write_tensors(JsonWriter& json, const char* name, const std::vector<TensorExplanation>& tensors) {
  json.key(name).begin_array();
  for (const TensorExplanation& tensor : tensors) {
    json.begin_object().member("name", tensor.name).member("type", ir::name_of(tensor.dtype));
    write_quantities(json, "extents", tensor.extents);
    write_quantities(json, "strides", tensor.strides);
    json.key("storage_bytes");
    write_quantity(json, tensor.storage_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_variant(JsonWriter& json, const VariantExplanation& variant) {
  json.begin_object().member("name", variant.name).key("guards").begin_array();
  for (const GuardExplanation& guard : variant.guards) {
    json.begin_object().member("assumption", guard.assumption).member("constraint", guard.constraint);
    if (guard.holds) json.member("holds", *guard.holds);
    json.end_object();
  }
  json.end_array();
  if (variant.selected) json.member("selected", *variant.selected);
  json.end_object();
}

}  // namespace

std::string to_json(const Explanation& e) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "explain").member("program", e.program);
  write_tensors(json, "inputs", e.inputs);
  write_tensors(json, "results", e.results);
  json.key("kernels").begin_array();
  for (const KernelExplanation& kernel : e.kernels) {
    json.begin_object().member("name", kernel.name).member("results", kernel.results);
    json.key("rows");
    write_quantity(json, kernel.rows);
    json.key("columns");
    write_quantity(json, kernel.columns);
    json.key("variants").begin_array();
    for (const VariantExplanation& variant : kernel.variants) write_variant(json, variant);
    json.end_array().end_object();
  }
  json.end_array().key("requirements").begin_array();
  for (const RequirementExplanation& requirement : e.requirements)
    json.begin_object()
        .member("constraint", requirement.constraint)
        .member("what", requirement.what)
        .member("bound", requirement.is_bound)
        .end_object();
  json.end_array().member("target", e.target).member("config", e.config).member("reason", e.reason).end_object();
  return std::move(json).take();
}

}  // namespace padlock::session
