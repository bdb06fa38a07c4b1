#include <fmt/format.h>

#include "runtime/cuda/driver/driver.h"

namespace padlock::runtime::cuda {
namespace {

struct StatusEntry {
  const char* name;
  CUresult status;
  Code code;
};

constexpr StatusEntry kStatuses[] = {
#define PADLOCK_ENTRY(enumerator, name, value, code) {#name, CUresult::enumerator, Code::code},
    PADLOCK_CUDA_STATUSES(PADLOCK_ENTRY)
#undef PADLOCK_ENTRY
};

const StatusEntry* entry_of(CUresult status) {
  for (const StatusEntry& entry : kStatuses)
    if (entry.status == status) return &entry;
  return nullptr;
}

Blame blame_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::failed_precondition:
      return Blame::user;
    case Code::internal:
    case Code::not_found:  // a function of a module that we made
      return Blame::internal;
    default:
      return Blame::environment;
  }
}

using TextFunction = DriverFunction<CUresult(CUresult, const char**)>;

/// Returns the driver's own text, if any; it may know statuses that our table lacks.
const char* text_of(const TextFunction& function, CUresult status) {
  const char* text = nullptr;
  if (function && function.address(status, &text) != CUresult::success) return nullptr;
  return text;
}

}  // namespace

Error Driver::error_of(CUresult status, std::string_view function, const CallSite& site) const {
  const StatusEntry* const entry = entry_of(status);
  const Code code = entry == nullptr ? Code::unknown : entry->code;
  std::string message(function.substr(0, function.rfind("_v")));
  if (!site.kernel.empty()) message += fmt::format(" of {}", site.kernel);
  if (site.device >= 0) message += fmt::format(" on cuda:{}", site.device);
  message += " failed: ";

  const char* const name = text_of(cuGetErrorName, status);
  if (name != nullptr) {
    message += name;
  } else {
    message += entry == nullptr ? fmt::format("status {}", static_cast<std::uint32_t>(status)) : entry->name;
  }
  if (const char* const text = text_of(cuGetErrorString, status)) message += fmt::format(": {}", text);
  if (code == Code::aborted) return device_lost(message + "; the device is lost").error();
  return {.code = code, .blame = blame_of(code), .message = std::move(message)};
}

}  // namespace padlock::runtime::cuda
