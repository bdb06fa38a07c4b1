#include "runtime/host_info.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "runtime/thread_pool.h"

namespace padlock::runtime {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  constexpr int kMaxLines = 64;  // the first processor's
  std::string line;
  for (int i = 0; i < kMaxLines && std::getline(file, line); ++i) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

/// "2048K" or "36M" in bytes.
std::optional<std::int64_t> cache_bytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > (std::int64_t{1} << 32)) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> cache_of_level(const char* level) {
  constexpr int kMaxCaches = 8;
  for (int index = 0; index < kMaxCaches; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (first_line(folder + "level") == level && first_line(folder + "type") != "Instruction")
      return cache_bytes(first_line(folder + "size"));
  }
  return std::nullopt;
}

}  // namespace

HostInfo host_info() {
  return {
      .cpu = cpu_name(), .threads = usable_cpus(), .l2_bytes = cache_of_level("2"), .l3_bytes = cache_of_level("3")};
}

}  // namespace padlock::runtime
