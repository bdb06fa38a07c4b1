#include "support/cpu_cache.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace padlock {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Returns the bytes of "2048K" or "36M".
std::optional<std::int64_t> bytes_of(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > (std::int64_t{1} << 32)) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? std::optional(value) : std::nullopt;
}

/// Returns the folder that describes the data cache of a level; empty if there is none.
std::string folder_of_level(int level) {
  constexpr int kMaxCaches = 8;
  for (int index = 0; index < kMaxCaches; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (first_line(folder + "level") == std::to_string(level) && first_line(folder + "type") != "Instruction")
      return folder;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> cache_bytes_of_level(int level) {
  const std::string folder = folder_of_level(level);
  if (folder.empty()) return std::nullopt;
  return bytes_of(first_line(folder + "size"));
}

int cpus_sharing_cache(int level) {
  const std::string folder = folder_of_level(level);
  // A mask of CPUs in hexadecimal digits, "ffff,ffff".
  int cpus = 0;
  if (!folder.empty())
    for (const char c : first_line(folder + "shared_cpu_map")) {
      unsigned digit = 0;
      if (std::from_chars(&c, &c + 1, digit, 16).ec == std::errc{}) cpus += std::popcount(digit);
    }
  return std::max(cpus, 1);
}

std::int64_t bytes_beyond_caches() {
  constexpr std::int64_t kUsual = std::int64_t{32} << 20;
  return bytes_beyond_cache(std::max(cache_bytes_of_level(3).value_or(0), kUsual));
}

}  // namespace padlock
