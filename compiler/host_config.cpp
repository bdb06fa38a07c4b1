#include "compiler/host_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace padlock::compiler {
namespace {

constexpr std::array kVectorBytes = {16, 32, 64};
constexpr std::array kUnroll = {1, 2, 4};
constexpr std::array<std::pair<StoreKind, std::string_view>, 3> kStores = {
    {{StoreKind::plain, "plain"}, {StoreKind::nontemporal, "nontemporal"}, {StoreKind::automatic, "automatic"}}};
constexpr std::array kTaskKib = {64, 256, 1024};

std::unexpected<Error> bad_value(std::string_view key, const std::string& expected, std::string_view found) {
  return invalid_argument(fmt::format("config key '{}': expected {}, found '{}'", key, expected, found));
}

Status parse_number(std::string_view key, std::string_view text, std::span<const int> allowed, int& out) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool complete = error == std::errc() && end == text.data() + text.size();
  if (!complete || std::ranges::find(allowed, value) == allowed.end())
    return bad_value(key, fmt::format("one of {}", fmt::join(allowed, ", ")), text);
  out = value;
  return {};
}

Status parse_key(std::string_view key, std::string_view value, HostConfig& config) {
  if (key == "vector_bytes") return parse_number(key, value, kVectorBytes, config.vector_bytes);
  if (key == "unroll") return parse_number(key, value, kUnroll, config.unroll);
  if (key == "task_kib") return parse_number(key, value, kTaskKib, config.task_kib);
  if (key == "split") {
    if (value != "0" && value != "1") return bad_value(key, "0 or 1", value);
    config.split = value == "1";
    return {};
  }
  if (key == "store") {
    for (const auto& [store, name] : kStores) {
      if (value != name) continue;
      config.store = store;
      return {};
    }
    return bad_value(key, "plain, nontemporal or automatic", value);
  }
  return invalid_argument(
      fmt::format("unknown config key '{}': expected vector_bytes, unroll, split, store or task_kib", key));
}

}  // namespace

Result<HostConfig> HostConfig::parse(std::string_view text, const HostConfig& base) {
  HostConfig config = base;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return invalid_argument(fmt::format("config: expected key=value, found '{}'", entry));
    PADLOCK_CHECK(parse_key(entry.substr(0, equals), entry.substr(equals + 1), config));
  }
  return config;
}

std::string HostConfig::to_string() const {
  return fmt::format("vector_bytes={},unroll={},split={},store={},task_kib={}", vector_bytes, unroll, split ? 1 : 0,
                     kStores.at(static_cast<std::size_t>(store)).second, task_kib);
}

std::vector<HostConfig> HostConfig::all() {
  std::vector<HostConfig> configs;
  for (const StoreKind store : {StoreKind::plain, StoreKind::nontemporal, StoreKind::automatic})
    for (const int vector_bytes : kVectorBytes)
      for (const int unroll : kUnroll)
        for (const int task_kib : kTaskKib)
          for (const bool split : {true, false}) configs.push_back({vector_bytes, unroll, split, store, task_kib});
  return configs;
}

}  // namespace padlock::compiler
