#include "tools/text/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/json_writer.h"
#include "tools/arrays/element_type.h"

namespace padlock::tools {
namespace {

/// Returns the first few elements in memory order.
std::vector<std::string> leading_values(const lib::TensorInfo& tensor, std::span<const std::byte> data) {
  constexpr std::int64_t kShown = 8;
  const int size = byte_size(tensor.type);
  std::vector<std::string> values;
  for (std::int64_t i = 0; i < std::min(kShown, tensor.storage_bytes / size); ++i)
    values.push_back(element_text(tensor.type, data.data() + i * size));
  return values;
}

std::string values_text(const lib::TensorInfo& tensor, std::span<const std::byte> data) {
  const std::vector<std::string> values = leading_values(tensor, data);
  if (values.empty()) return "(empty)";
  const bool all = static_cast<std::int64_t>(values.size()) == tensor.storage_bytes / byte_size(tensor.type);
  return fmt::format("{}{}", fmt::join(values, " "), all ? "" : " ...");
}

}  // namespace

std::string config_text(const std::string& config, const std::string& reason) {
  if (config.empty()) return "config: none (reference)\n";
  return fmt::format("config: {}\n  {}\n", config, reason);
}

std::string report_text(const RunReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.outputs.results().size(); ++i) {
    const lib::TensorInfo& result = report.outputs.results()[i];
    text += fmt::format("{}: {}[{}], {} bytes: {}\n", result.name, lib::type_name(result.type),
                        fmt::join(result.extents, ", "), result.storage_bytes,
                        values_text(result, report.outputs.bytes(i)));
  }
  for (const ExpectReport& expect : report.expects) {
    const Comparison& comparison = expect.comparison;
    text += comparison.equal()
                ? fmt::format("{}: as expected, {} elements\n", expect.result, comparison.elements)
                : fmt::format("{}: differs from what is expected: {}\n", expect.result, comparison.first);
  }
  if (report.seed) text += fmt::format("seed: {}\n", *report.seed);
  text += config_text(report.config, report.reason);
  return text + fmt::format("time: {:.3f} ms\n", report.milliseconds);
}

std::string report_json(const RunReport& report) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "run");
  json.member("program", report.program).member("device", report.device).member("config", report.config);
  json.member("reason", report.reason);
  if (report.seed) json.member("seed", *report.seed);
  json.key("results").begin_array();
  for (std::size_t i = 0; i < report.outputs.results().size(); ++i) {
    const lib::TensorInfo& result = report.outputs.results()[i];
    json.begin_object().member("name", result.name).member("type", lib::type_name(result.type));
    json.member("extents", result.extents).member("strides", result.strides);
    json.member("storage_bytes", result.storage_bytes);
    json.member("first_values", leading_values(result, report.outputs.bytes(i))).end_object();
  }
  json.end_array().key("expect").begin_array();
  for (const ExpectReport& expect : report.expects) {
    const Comparison& comparison = expect.comparison;
    json.begin_object().member("name", expect.result).member("equal", comparison.equal());
    json.member("elements", comparison.elements).member("differing", comparison.differing);
    json.member("first_difference", comparison.first).end_object();
  }
  json.end_array().member("time_ms", report.milliseconds).end_object();
  return std::move(json).take();
}

}  // namespace padlock::tools
