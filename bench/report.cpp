#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonLine::JsonLine(std::string_view kind) : text_(R"({"schema":2,"kind":)" + json_quoted(kind)) {}

JsonLine& JsonLine::raw(std::string_view name, std::string_view value) {
  text_ += fmt::format(",{}:{}", json_quoted(name), value);
  return *this;
}
JsonLine& JsonLine::add(std::string_view name, std::string_view text) { return raw(name, json_quoted(text)); }
// JSON has no infinity.
JsonLine& JsonLine::add(std::string_view name, double number) {
  return raw(name, std::isfinite(number) ? fmt::format("{:.6g}", number) : "null");
}
JsonLine& JsonLine::add(std::string_view name, const Estimate& estimate) {
  add(name, estimate.value);
  add(fmt::format("{}_low", name), estimate.low);
  return add(fmt::format("{}_high", name), estimate.high);
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
  JsonLine line("provenance");
  line.add("cpu", provenance.cpu)
      .add("hardware_threads", provenance.hardware_threads)
      .add("commit", provenance.commit)
      .add("seed", provenance.seed);
  return std::move(line).take();
}

JsonLine row_line(const Comparison& comparison, const TimedRow& row) {
  JsonLine line("row");
  line.add("title", comparison.title).add("name", row.name).add("median_ms", row.median_ms).add("ratio", row.ratio);
  line.add("gb_per_s", row.gb_per_s).add("bytes", comparison.bytes).add("rounds", row.samples_ms.size());
  return line;
}

std::string to_json_lines(const Comparison& comparison) {
  std::string out;
  for (const TimedRow& row : comparison.rows) out += row_line(comparison, row).take();
  return out;
}

}  // namespace padlock::bench
