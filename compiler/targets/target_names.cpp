#include "compiler/targets/target_names.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/gpu_targets.h"
#include "support/messages/suggestion.h"

namespace padlock::compiler {
namespace {

constexpr std::size_t kShown = 80;  // bytes of a name in a message

std::string shown(std::string_view target) {
  std::string text(target.substr(0, kShown));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text + (target.size() > kShown ? "..." : "");
}

/// Returns the target that the user probably meant; empty if no name is near. A CPU's name may lack its prefix. An
/// architecture may end in the letter of a variant that later devices cannot run ("sm_90a").
std::string meant(std::string_view target, std::span<const std::string> cpus) {
  std::string_view name = target;
  if (name.starts_with(kHostPrefix)) name.remove_prefix(kHostPrefix.size());
  if (name == "native" || name == "cpu") return "host";
  if (name.starts_with("sm_") && name.ends_with('a')) name.remove_suffix(1);
  std::vector<std::string> others = abi::gpu_targets();
  others.emplace_back("host");
  if (std::ranges::find(cpus, name) != cpus.end()) return fmt::format("{}{}", kHostPrefix, name);
  if (std::ranges::find(others, name) != others.end()) return std::string(name);
  if (const auto cpu = closest_name(name, std::vector<std::string_view>(cpus.begin(), cpus.end())))
    return fmt::format("{}{}", kHostPrefix, *cpu);
  return std::string(closest_name(name, std::vector<std::string_view>(others.begin(), others.end())).value_or(""));
}

}  // namespace

std::unexpected<Error> unknown_target(std::string_view target, std::span<const std::string> cpus,
                                      std::string_view reason) {
  const std::string near = reason.empty() ? meant(target, cpus) : std::string();
  std::vector<std::string> levels;
  for (const TargetLevel& level : kLevels) levels.push_back(fmt::format("{}{}", kHostPrefix, level.name));
  return invalid_argument(
      fmt::format("{}: expected host, a level ({}), host:CPU with LLVM's name of a 64-bit CPU such as host:znver4 or "
                  "host:neoverse-v2, or one of {}{}",
                  reason.empty() ? fmt::format("unknown target '{}'", shown(target))
                                 : fmt::format("target '{}': {}", shown(target), reason),
                  fmt::join(levels, ", "), fmt::join(abi::gpu_targets(), ", "),
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

}  // namespace padlock::compiler
