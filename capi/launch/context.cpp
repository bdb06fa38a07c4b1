#include "capi/launch/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "capi/error.h"
#include "capi/launch/compiler.h"
#include "capi/options.h"

namespace padlock::capi {
namespace {

constexpr int kMostThreads = 4096;
constexpr std::array<std::string_view, 3> kLevels = {"debug", "info", "warning"};  // in the order of padlock_log_level

Result<padlock_allocator> allocator_of(const padlock_context_options& options) {
  const auto& [user, allocate, release] = options.allocator;
  if (allocate == nullptr && release == nullptr) return standard_allocator();
  if (allocate == nullptr || release == nullptr)
    return invalid_argument("expected both functions of an allocator or neither, found one");
  return options.allocator;
}

Status check_threads(const padlock_context_options& options) {
  if (options.threads >= 0 && options.threads <= kMostThreads) return {};
  return invalid_argument(fmt::format("expected 0 to {} threads, found {}", kMostThreads, options.threads));
}

session::LaunchOptions launch_options(const padlock_context_options& options) {
  session::LaunchOptions made{.threads = options.threads, .cuda_context = options.cuda_context};
  if (options.parallel_for != nullptr)
    made.parallel_for = runtime::ParallelFor{
        .run = options.parallel_for, .user = options.parallel_for_user, .threads = std::max(options.threads, 1)};
  return made;
}

Result<padlock_context*> create(const padlock_allocator& allocator, const padlock_context_options& options) {
  PADLOCK_CHECK(check_threads(options));
  if (options.reserved != 0) return invalid_argument("expected padlock_context_options's reserved to be 0");
  const Ref context(make<padlock_context>(allocator, 0, make_launching(options, launch_options(options)),
                                          Log::from_environment(options.log, options.log_user)));
  if (options.cuda_context != nullptr) PADLOCK_CHECK(runtime::Devices::check({runtime::DeviceKind::cuda}));
  PADLOCK_CHECK(use_cache(*context, options));
  return Ref(context).take();
}

}  // namespace

Log Log::from_environment(padlock_log_function function, void* user) {
  Log log{.function = function, .user = user};
  const char* const value = std::getenv("PADLOCK_LOG");
  if (value == nullptr || *value == '\0') return log;
  const auto* const level = std::ranges::find(kLevels, std::string_view(value));
  const bool is_known = level != kLevels.end() && level != kLevels.begin() + PADLOCK_LOG_WARNING;
  log.printed = is_known ? static_cast<padlock_log_level>(level - kLevels.begin()) : PADLOCK_LOG_WARNING;
  if (!is_known)
    print(PADLOCK_LOG_WARNING,
          fmt::format("PADLOCK_LOG: expected debug or info, found '{}': warnings alone are printed", value));
  return log;
}

void Log::print(padlock_log_level level, std::string_view message) {
  std::fputs(fmt::format("padlock: {}: {}\n", kLevels[static_cast<std::size_t>(level)], message).c_str(), stderr);
}

void Log::write(padlock_log_level level, const char* message) const {
  if (prints(level)) print(level, message);
  if (function != nullptr) function(user, level, message);
}

}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Status;

extern "C" {

PADLOCK_COUNTED_HANDLE(context)

int32_t padlock_api_version(void) { return PADLOCK_API_VERSION; }
const char* padlock_version(void) { return PADLOCK_VERSION; }

padlock_status padlock_context_create(const padlock_context_options* options, padlock_context** context,
                                      padlock_error** error) {
  padlock_allocator allocator = standard_allocator();  // also of errors, once the caller's is read
  padlock_context_options read;
  if (const padlock_status status = guarded(allocator, error,
                                            [&]() -> Status {
                                              PADLOCK_TRY(read, read_options(options, "padlock_context_options"));
                                              PADLOCK_TRY(allocator, allocator_of(read));
                                              return {};
                                            });
      status != PADLOCK_OK) {
    if (context != nullptr) *context = nullptr;
    return status;
  }
  return guarded_handle(allocator, context, error, [&] { return create(allocator, read); });
}

padlock_status padlock_context_statistics(const padlock_context* context, padlock_statistics* statistics,
                                          padlock_error** error) {
  return guarded(context, "a context", error, [&]() -> Status {
    return write_struct(statistics,
                        {.struct_size = 0,
                         .programs_compiled = context->kernels.compiled(),
                         .look_ups = context->kernels.look_ups(),
                         .kernels_cached = context->kernels.size(),
                         .configs_tried = configs_tried(*context)},
                        "padlock_statistics");
  });
}

int64_t padlock_context_trim(padlock_context* context) {
  const padlock::ForkGuard inside;
  return context != nullptr && !inside.refuses() ? context->kernels.trim() : 0;
}

}  // extern "C"
