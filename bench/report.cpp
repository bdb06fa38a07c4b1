#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

namespace padlock::bench {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

JsonWriter json_line(std::string_view kind) {
  JsonWriter line({.one_line = true, .digits = 6});
  line.begin_object().member("schema", 2).member("kind", kind);
  return line;
}

JsonWriter& add_estimate(JsonWriter& line, std::string_view name, const Estimate& estimate) {
  line.member(name, estimate.value);
  return line.member(fmt::format("{}_low", name), estimate.low).member(fmt::format("{}_high", name), estimate.high);
}

std::string take_line(JsonWriter line) {
  line.end_object();
  return std::move(line).take();
}

Provenance provenance_of_this_machine(std::string commit, std::uint64_t seed) {
  return {cpu_name(), static_cast<int>(std::thread::hardware_concurrency()), std::move(commit), seed};
}

std::string to_table(const Comparison& comparison) {
  std::size_t width = 0;
  for (const TimedRow& row : comparison.rows) width = std::max(width, row.name.size());
  std::string out = comparison.title + "\n";
  for (const TimedRow& row : comparison.rows) {
    out += fmt::format("  {:<{}}  {:>10.4f} ms  {:>6.3f}x [{:.3f}, {:.3f}]", row.name, width, row.median_ms,
                       row.ratio.value, row.ratio.low, row.ratio.high);
    if (comparison.bytes > 0) out += fmt::format("  {:>7.2f} GB/s", row.gb_per_s);
    out += '\n';
  }
  return out;
}

std::string to_json_line(const Provenance& provenance) {
  JsonWriter line = json_line("provenance");
  line.member("cpu", provenance.cpu)
      .member("hardware_threads", provenance.hardware_threads)
      .member("commit", provenance.commit)
      .member("seed", provenance.seed);
  return take_line(std::move(line));
}

JsonWriter row_line(const Comparison& comparison, const TimedRow& row) {
  JsonWriter line = json_line("row");
  line.member("title", comparison.title).member("name", row.name).member("median_ms", row.median_ms);
  add_estimate(line, "ratio", row.ratio);
  line.member("gb_per_s", row.gb_per_s).member("bytes", comparison.bytes).member("rounds", row.samples_ms.size());
  return line;
}

std::string to_json_lines(const Comparison& comparison) {
  std::string out;
  for (const TimedRow& row : comparison.rows) out += take_line(row_line(comparison, row));
  return out;
}

}  // namespace padlock::bench
