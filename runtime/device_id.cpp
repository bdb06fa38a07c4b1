#include "runtime/device_id.h"

#include <charconv>

#include <fmt/format.h>

namespace padlock::runtime {

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
  return invalid_argument(fmt::format("expected a device (host, reference, simt, cuda:0, ...), found '{}'", text));
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
