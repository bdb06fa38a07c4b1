#include "tools/cache_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace padlock::tools {
namespace {

constexpr std::array kModes =
    std::to_array<std::pair<std::string_view, api::Mode>>({{"off", api::Mode::off},
                                                           {"read", api::Mode::read},
                                                           {"read-write", api::Mode::read_write},
                                                           {"require", api::Mode::require}});

}  // namespace

void add_cache_options(Subcommand& command, CacheChoice& choice) {
  command.option("--cache", choice.file, "FILE", "the tuning cache that configs are taken from");
  command.option("--cache-mode", choice.mode, "MODE", "off, read, read-write or require (a miss is an error)");
}

Outcome<api::StoreOptions> store_options(const CacheChoice& choice) {
  const std::string name = !choice.mode.empty() ? choice.mode : choice.file.empty() ? "off" : "read";
  const auto* const mode = std::ranges::find(kModes, name, [](const auto& entry) { return entry.first; });
  if (mode == kModes.end())
    return fail(ExitCode::usage,
                fmt::format("--cache-mode: expected off, read, read-write or require, found '{}'", name));
  return api::StoreOptions{.mode = mode->second, .user_file = choice.file, .warn = [](const std::string& text) {
                             fmt::print(stderr, "padlock: warning: {}\n", text);
                           }};
}

Outcome<void> use_cache(api::Context& context, const CacheChoice& choice) {
  auto options = store_options(choice);
  if (!options) return std::unexpected(std::move(options).error());
  if (auto used = context.use_cache(*std::move(options)); !used) return fail(ExitCode::cache, used.error());
  return {};
}

}  // namespace padlock::tools
