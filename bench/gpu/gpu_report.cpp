#include "bench/gpu/gpu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "bench/report.h"

namespace padlock::bench::gpu {
namespace {

constexpr std::string_view kUnits = "KMG";

double gb_per_s(const Problem& problem, double ms) {
  return ms > 0 ? static_cast<double>(problem.bytes()) / ms * 1e-6 : 0;
}

/// A ratio of times as one of speeds.
double inverse(double ratio) { return ratio > 0 ? 1 / ratio : 0; }

std::string json_of(const Problem& problem) {
  return fmt::format(
      R"("problem":{},"dtype":{},"rank":{},"rows":{},"size":{},"extents":{},"low":{},"high":{},"mode":{},"relu":{},"transposed":{},)"
      R"("literal":{},"value":{},"bytes":{})",
      json_quoted(problem.program_name()), json_quoted(ir::name_of(problem.dtype)), problem.rank(),
      json_quoted(problem.aligned ? "aligned" : "misaligned"), problem.nominal_bytes, Problem::text_of(problem.extents),
      Problem::text_of(problem.low), Problem::text_of(problem.high), json_quoted(ir::name_of(problem.mode)),
      problem.relu, problem.transposed, problem.literal, problem.fill(), problem.bytes());
}

std::string json_of(const CodeFacts& code) {
  return fmt::format(
      R"("text_to_ptx_ms":{:.4g},"text_to_ptx_warm_ms":{:.4g},"load_ms":{:.4g},"registers":{},"local_bytes":{})",
      code.text_to_ptx_ms, code.text_to_ptx_warm_ms, code.load_ms, code.registers, code.local_bytes);
}

}  // namespace

std::string json_line(const Facts& facts, const std::string& commit) {
  return fmt::format(
      R"({{"schema":1,"kind":"gpu_provenance","device":{},"name":{},"architecture":{},"multiprocessors":{},)"
      R"("l2_bytes":{},"memory_bytes":{},"memory_bandwidth":{},"driver_version":{},"simulated":{},"commit":{}}})"
      "\n",
      json_quoted(facts.device), json_quoted(facts.name), json_quoted(facts.architecture), facts.multiprocessors,
      facts.l2_bytes, facts.memory_bytes, facts.memory_bandwidth, facts.driver_version, facts.simulated,
      json_quoted(commit));
}

std::string json_line(const Problem& problem) {
  return fmt::format(R"({{"schema":1,"kind":"gpu_problem",{}}})"
                     "\n",
                     json_of(problem));
}

std::string json_lines(const ProblemReport& report, const Facts& facts, int rounds) {
  std::string out;
  for (const Line& line : report.lines) {
    const Timing& t = line.timing;
    out +=
        fmt::format(R"({{"schema":1,"kind":"gpu_row","name":{},{},"median_us":{:.6g},"low_us":{:.6g},"high_us":{:.6g},)"
                    R"("gb_per_s":{:.6g},"of_memcpy":{:.6g},"of_memcpy_low":{:.6g},"of_memcpy_high":{:.6g},)"
                    R"("of_copy":{:.6g},"rounds":{},"buffers":{},"config":{},{},"simulated":{}}})"
                    "\n",
                    json_quoted(line.name), json_of(report.problem), t.ms.value * 1e3, t.ms.low * 1e3, t.ms.high * 1e3,
                    gb_per_s(report.problem, t.ms.value), inverse(t.ratio.value), inverse(t.ratio.high),
                    inverse(t.ratio.low), inverse(t.ms.value / report.copy_ms()), rounds, report.buffers,
                    json_quoted(line.config), json_of(line.code), facts.simulated);
  }
  for (const std::string& failure : report.failures)
    out += fmt::format(R"({{"schema":1,"kind":"gpu_failure",{},"failure":{}}})"
                       "\n",
                       json_of(report.problem), json_quoted(failure));
  return out;
}

std::string json_lines(const std::string& title, const std::vector<Timing>& timings, int rounds) {
  std::string out;
  for (const Timing& t : timings)
    out += fmt::format(
        R"({{"schema":1,"kind":"gpu_host","title":{},"name":{},"median_ns":{:.6g},"ratio":{:.6g},"ratio_low":{:.6g},)"
        R"("ratio_high":{:.6g},"difference_ns":{:.6g},"difference_low_ns":{:.6g},"difference_high_ns":{:.6g},)"
        R"("rounds":{}}})"
        "\n",
        json_quoted(title), json_quoted(t.name), t.ms.value * 1e6, t.ratio.value, t.ratio.low, t.ratio.high,
        t.difference_ms.value * 1e6, t.difference_ms.low * 1e6, t.difference_ms.high * 1e6, rounds);
  return out;
}

std::string text_of(const Facts& facts) {
  if (facts.simulated)
    return fmt::format("{}: {} pretending to be {}. Results are checked; times are this CPU's and mean nothing.\n",
                       facts.device, facts.name, facts.architecture);
  return fmt::format("{}: {}, code for {}, {} multiprocessors, L2 {}, memory {} at {:.0f} GB/s peak, driver {}.{}\n",
                     facts.device, facts.name, facts.architecture, facts.multiprocessors, size_text(facts.l2_bytes),
                     size_text(facts.memory_bytes), static_cast<double>(facts.memory_bandwidth) * 1e-9,
                     facts.driver_version / 1000, facts.driver_version % 1000 / 10);
}

std::string table_of(const ProblemReport& report) {
  const Problem& problem = report.problem;
  std::string out = fmt::format("{}, {} ({} input)\n", problem.program_name(), Problem::text_of(problem.extents),
                                size_text(problem.nominal_bytes));
  for (const Line& line : report.lines) {
    const Timing& t = line.timing;
    out += fmt::format("  {:<18} {:>10.2f} us {:>8.1f} GB/s  {:>6.3f} of memcpy [{:.3f}, {:.3f}]  {:>6.3f} of a copy",
                       line.name, t.ms.value * 1e3, gb_per_s(problem, t.ms.value), inverse(t.ratio.value),
                       inverse(t.ratio.high), inverse(t.ratio.low), inverse(t.ms.value / report.copy_ms()));
    if (line.name == "copy kernel")
      out += "  " + line.config;
    else if (!line.config.empty())
      out += fmt::format("  {} registers, {} local bytes  {}", line.code.registers, line.code.local_bytes, line.config);
    out += '\n';
  }
  for (const std::string& failure : report.failures) out += fmt::format("  WRONG {}\n", failure);
  return out;
}

std::string table_of(const std::string& title, const std::vector<Timing>& timings) {
  std::string out = title + "\n";
  for (const Timing& t : timings)
    out +=
        fmt::format("  {:<28} {:>12.1f} ns  {:>+10.1f} ns [{:.1f}, {:.1f}]  {:>6.3f}x\n", t.name, t.ms.value * 1e6,
                    t.difference_ms.value * 1e6, t.difference_ms.low * 1e6, t.difference_ms.high * 1e6, t.ratio.value);
  return out;
}

std::string size_text(std::int64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (value < 1024) return fmt::format("{}", bytes);
  std::size_t unit = 0;
  value /= 1024;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g}{}", value, kUnits[unit]);
}

Result<std::int64_t> parse_size(const std::string& text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const std::size_t unit = end == last ? kUnits.npos : kUnits.find(*end);
  const bool whole = end == last || (end + 1 == last && unit != kUnits.npos);
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  if (error == std::errc{} && whole && number > 0 && number <= kLargest)
    return end == last ? number : number << (10 * (unit + 1));
  return invalid_argument(fmt::format("expected a size like 65536, 64K, 3M or 2G, found '{}'", text));
}

}  // namespace padlock::bench::gpu
