#include "tools/commands/cache_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace padlock::tools {
namespace {

constexpr std::array kModes =
    std::to_array<std::pair<std::string_view, padlock_cache_mode>>({{"off", PADLOCK_CACHE_OFF},
                                                                    {"read", PADLOCK_CACHE_READ},
                                                                    {"read-write", PADLOCK_CACHE_READ_WRITE},
                                                                    {"require", PADLOCK_CACHE_REQUIRE}});

}  // namespace

void add_cache_options(Subcommand& command, CacheChoice& choice) {
  command.option("--cache", choice.file, "FILE", "the tuning cache that configs are taken from");
  command.option("--cache-mode", choice.mode, "MODE", "off, read, read-write or require (a miss is an error)");
}

Outcome<padlock_context_options> context_options(const CacheChoice& choice) {
  const std::string name = !choice.mode.empty() ? choice.mode : choice.file.empty() ? "off" : "read";
  const auto* const mode = std::ranges::find(kModes, name, [](const auto& entry) { return entry.first; });
  if (mode == kModes.end())
    return fail(ExitCode::usage,
                fmt::format("--cache-mode: expected off, read, read-write or require, found '{}'", name));
  padlock_context_options options = lib::Context::options();
  options.cache_mode = mode->second;
  if (!choice.file.empty()) options.cache_file = choice.file.c_str();
  return options;
}

}  // namespace padlock::tools
