#include "tuner/trial/loaded_configs.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace padlock::tuner {
namespace {

constexpr std::size_t kMost = 256;  // configs whose code is kept

}  // namespace

LoadedConfigs::Loaded LoadedConfigs::compile(compiler::TargetCompiler& compiler, const std::string& config,
                                             const ir::Binding& binding) const {
  PADLOCK_TRY(const compiler::Config parsed, judged(compiler.parse_config(config), Verdict::compile));
  auto loaded = judged_making(device_.load(compiler, {.config = parsed}, program_), Verdict::compile);
  // A GPU's driver assembles code at the first binding. Bind here, beside other threads. A later binding reports errors
  // of these sizes.
  if (auto sizes = runtime::ArgumentSizes::of(binding); loaded && sizes)
    static_cast<void>((*loaded)->bind(binding, *std::move(sizes)));
  return loaded;
}

Judged<LoadedConfig> LoadedConfigs::load(compiler::TargetCompiler& compiler, const std::string& config,
                                         std::span<const std::string> next, const ir::Binding& binding) {
  if (const auto known = loaded_.find(config); known != loaded_.end()) return known->second;
  std::vector<std::string> along;
  const std::size_t most = std::max(std::thread::hardware_concurrency(), 1U) - 1;
  for (const std::string& other : next)
    if (along.size() < most && other != config && !loaded_.contains(other) && std::ranges::count(along, other) == 0)
      along.push_back(other);
  std::vector<std::optional<Loaded>> made(along.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < along.size(); ++i) {
    try {
      threads.emplace_back([&, i] { made[i] = compile(compiler, along[i], binding); });
    } catch (const std::system_error&) {
      break;  // no thread is available: the config is compiled when it is needed
    }
  }
  Loaded asked = compile(compiler, config, binding);
  for (std::thread& thread : threads) thread.join();
  if (loaded_.size() + along.size() >= kMost) loaded_.clear();
  for (std::size_t i = 0; i < along.size(); ++i)
    if (made[i] && *made[i]) loaded_[along[i]] = std::move(**made[i]);
  if (!asked) return std::unexpected(std::move(asked).error());
  return loaded_[config] = std::move(*asked);
}

}  // namespace padlock::tuner
