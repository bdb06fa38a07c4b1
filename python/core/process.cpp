#include "python/core/process.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "python/core/failure.h"

namespace padlock::python {
namespace {

/// A dropped kernel takes some 40 kB.
constexpr int kMostForgotten = 64;

struct Process {
  Settings settings;
  int forgotten = 0;  // kernels dropped since the last trim
  std::optional<Context> context;
  std::uint64_t generation = 0;
};

/// Never destroyed: at exit a context's threads may still work for others.
Process& process() {
  static auto& one = *new Process();
  return one;
}

constexpr std::array kModes =
    std::to_array<std::pair<std::string_view, padlock_cache_mode>>({{"off", PADLOCK_CACHE_OFF},
                                                                    {"read", PADLOCK_CACHE_READ},
                                                                    {"read-write", PADLOCK_CACHE_READ_WRITE},
                                                                    {"require", PADLOCK_CACHE_REQUIRE}});

padlock_cache_mode mode_named(const std::string& name) {
  for (const auto& [known, mode] : kModes)
    if (known == name) return mode;
  fail(PADLOCK_INVALID_ARGUMENT, "expected cache to be off, read, read-write or require, found '" + name + "'");
}

}  // namespace

const Context& process_context() {
  Process& here = process();
  if (!here.context) {
    padlock_context_options options = Context::options();
    options.threads = here.settings.threads;
    options.cache_mode = mode_named(here.settings.cache);
    options.cache_file = detail::c_str_or_null(here.settings.cache_file);
    options.worker = detail::c_str_or_null(here.settings.worker);
    here.context = value_of(Context::create(options));
  }
  return *here.context;
}

std::uint64_t process_generation() { return process().generation; }

void forget_kernel() {
  if (++process().forgotten >= kMostForgotten) trim();
}

std::int64_t trim() {
  process().forgotten = 0;
  return process().context ? process().context->trim() : 0;
}

void configure(Settings settings) {
  static_cast<void>(mode_named(settings.cache));
  process().settings = std::move(settings);
  process().context.reset();
  ++process().generation;
}

}  // namespace padlock::python
