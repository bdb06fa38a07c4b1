#include "runtime/device_id.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "support/messages/suggestion.h"

namespace padlock::runtime {
namespace {

/// Suggests a name instead of an unknown device name.
std::string hint(std::string_view text) {
  constexpr auto kForeign = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"cpu", "host"}, {"gpu", "cuda:0"}, {"cuda", "cuda:0"}, {"cuda:", "cuda:0"}, {"interpreter", "reference"}});
  constexpr std::array<std::string_view, 4> kNames = {"host", "reference", "simt", "cuda:0"};
  const auto* const found = std::ranges::find(kForeign, text, [](const auto& entry) { return entry.first; });
  return found != kForeign.end() ? fmt::format("; write '{}'", found->second) : did_you_mean(text, kNames);
}

}  // namespace

Result<DeviceId> DeviceId::parse(std::string_view text) {
  if (text == "host") return DeviceId{DeviceKind::host};
  if (text == "reference") return DeviceId{DeviceKind::reference};
  if (text == "simt") return DeviceId{DeviceKind::simt};
  constexpr std::string_view kCudaPrefix = "cuda:";
  if (text.starts_with(kCudaPrefix)) {
    const std::string_view number = text.substr(kCudaPrefix.size());
    DeviceId id{DeviceKind::cuda};
    const char* const first = number.data();
    const char* const last = first + number.size();
    const auto [end, error] = std::from_chars(first, last, id.ordinal);
    if (error == std::errc{} && end == last && id.ordinal >= 0) return id;
  }
  return invalid_argument(
      fmt::format("expected a device (host, reference, simt, cuda:0, ...), found '{}'{}", text, hint(text)));
}

std::string DeviceId::to_string() const {
  switch (kind) {
    case DeviceKind::host:
      return "host";
    case DeviceKind::reference:
      return "reference";
    case DeviceKind::simt:
      return "simt";
    case DeviceKind::cuda:
      return fmt::format("cuda:{}", ordinal);
  }
  return {};
}

}  // namespace padlock::runtime
