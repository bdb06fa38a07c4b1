#include "tools/text/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/json_writer.h"
#include "tools/text/run_report.h"
#include "tools/text/tune_text.h"

namespace padlock::tools {
namespace {

std::string row_text(const TimedRow& row, const TimedRow& copy) {
  // The inverse of the ratio of times: how many times as fast as the copy.
  const Estimate speed = speed_ratio(row, copy, 1);
  return fmt::format("  {:<10}  {:>9}  {:>7.2f} GB/s  {:.3f} of the copy's speed [{:.3f}, {:.3f}]\n", row.name,
                     duration_text(static_cast<std::int64_t>(row.median_ms * 1e9)), row.gb_per_s, speed.value,
                     speed.low, speed.high);
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  std::string text;
  for (const auto& tensors : {report.call.inputs(), report.call.results()})
    for (const lib::TensorInfo& tensor : tensors)
      text += fmt::format("{}: {}[{}]\n", tensor.name, lib::type_name(tensor.type), fmt::join(tensor.extents, ", "));
  for (const padlock::Comparison& comparison : report.comparisons) {
    text += fmt::format("{}, {} bytes\n", comparison.title, report.bytes);
    for (const TimedRow& row : comparison.rows) text += row_text(row, comparison.rows.front());
  }
  return text + fmt::format("seed: {}\n{}", report.seed, config_text(report.call.config(), report.call.reason()));
}

std::string bench_json(const BenchReport& report) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "bench");
  json.member("program", report.program).member("device", report.device);
  json.member("config", report.call.config()).member("reason", report.call.reason());
  json.member("seed", report.seed).member("bytes", report.bytes).key("comparisons").begin_array();
  for (const padlock::Comparison& comparison : report.comparisons) {
    json.begin_object().member("state", comparison.title).key("rows").begin_array();
    for (const TimedRow& row : comparison.rows) {
      const Estimate speed = speed_ratio(row, comparison.rows.front(), 1);
      json.begin_object().member("name", row.name).member("median_ms", row.median_ms);
      json.member("gb_per_s", row.gb_per_s).member("of_copy", speed.value);
      json.member("of_copy_low", speed.low).member("of_copy_high", speed.high);
      json.member("rounds", row.samples_ms.size()).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

}  // namespace padlock::tools
