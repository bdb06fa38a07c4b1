#include "runtime/host/system_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace padlock::runtime {
namespace {

constexpr std::int64_t kUnknown = std::int64_t{1} << 62;
/// The files are a few KiB; no read here is unbounded.
constexpr std::size_t kMaxText = 64 << 10;

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::string text(kMaxText, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  return value;
}

/// Returns the number after `key` at the beginning of a line.
std::optional<std::int64_t> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    if (text.starts_with(key)) return parse_number(text.substr(key.size()));
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  return std::nullopt;
}

std::int64_t least_of_groups() {
  std::int64_t least = kUnknown;
  const auto consider = [&](const std::string& folder, const char* limit, const char* used) {
    if (const auto left =
            control_group_leaves(slurp(folder + limit), slurp(folder + used), slurp(folder + "memory.stat")))
      least = std::min(least, *left);
  };
  // Version 2: the limit of every ancestor counts.
  if (auto path = control_group_path(slurp("/proc/self/cgroup"))) {
    std::string below = *path;
    for (int depth = 0; depth < 64; ++depth) {
      consider("/sys/fs/cgroup" + below + "/", "memory.max", "memory.current");
      const std::size_t slash = below.rfind('/');
      if (below.empty() || slash == std::string::npos) break;
      below.resize(slash);
    }
  }
  consider("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes");
  return least;
}

}  // namespace

std::optional<std::int64_t> parse_mem_available(std::string_view meminfo) {
  const auto kib = field(meminfo, "MemAvailable:");
  if (!kib || *kib > kUnknown / 1024) return std::nullopt;
  return *kib * 1024;
}

std::optional<std::int64_t> control_group_leaves(std::string_view limit, std::string_view used, std::string_view stat) {
  const auto most = parse_number(limit);
  const auto now = parse_number(used);
  if (!most || !now || *most >= kUnknown) return std::nullopt;
  const std::int64_t cache = std::clamp<std::int64_t>(field(stat, "inactive_file ").value_or(0), 0, *now);
  return std::max<std::int64_t>(*most - (*now - cache), 0);
}

std::optional<std::string> control_group_path(std::string_view text) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (line.starts_with("0::/")) return std::string(line.substr(3));
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  return std::nullopt;
}

std::int64_t available_memory() {
  const std::int64_t system = parse_mem_available(slurp("/proc/meminfo")).value_or(kUnknown);
  return std::min(system, least_of_groups());
}

}  // namespace padlock::runtime
