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

Provenance provenance_of_this_machine(std::string commit) {
  return {cpu_name(), static_cast<int>(std::thread::hardware_concurrency()), std::move(commit)};
}

std::string to_table(const Comparison& comparison) {
  std::size_t width = 0;
  for (const Row& row : comparison.rows) width = std::max(width, row.name.size());
  std::string out = comparison.title + "\n";
  for (const Row& row : comparison.rows) {
    out += fmt::format("  {:<{}}  {:>10.4f} ms  {:>6.3f}x [{:.3f}, {:.3f}]", row.name, width, row.median_ms,
                       row.ratio.value, row.ratio.low, row.ratio.high);
    if (comparison.bytes > 0) out += fmt::format("  {:>7.2f} GB/s", row.gb_per_s);
    out += '\n';
  }
  return out;
}

std::string to_json_line(const Provenance& provenance) {
  return fmt::format(R"({{"schema":1,"kind":"provenance","cpu":{},"hardware_threads":{},"commit":{}}})"
                     "\n",
                     json_quoted(provenance.cpu), provenance.hardware_threads, json_quoted(provenance.commit));
}

std::string to_json_lines(const Comparison& comparison) {
  std::string out;
  for (const Row& row : comparison.rows) {
    out += fmt::format(R"({{"schema":1,"kind":"row","title":{},"name":{},"median_ms":{:.6g},"ratio":{:.6g},)"
                       R"("ratio_low":{:.6g},"ratio_high":{:.6g},"gb_per_s":{:.6g},"rounds":{}}})"
                       "\n",
                       json_quoted(comparison.title), json_quoted(row.name), row.median_ms, row.ratio.value,
                       row.ratio.low, row.ratio.high, row.gb_per_s, row.samples_ms.size());
  }
  return out;
}

}  // namespace padlock::bench
