#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "ir/binding/binding.h"
#include "ir/program.h"
#include "tuner/trial/failure.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// The code of a program's configs on one device, shared by problems of all sizes. Borrows both. Not thread-safe.
class LoadedConfigs {
 public:
  LoadedConfigs(TrialDevice& device, const ir::Program& program) : device_(device), program_(program) {}

  /// Returns the code of a config, loaded for the sizes of `binding`. A compilation takes some of the next configs
  /// along, on threads of their own, as many as the machine has: that takes no longer. An error of such a config is
  /// reported when that config is loaded.
  [[nodiscard]] Judged<LoadedConfig> load(compiler::TargetCompiler& compiler, const std::string& config,
                                          std::span<const std::string> next, const ir::Binding& binding);

 private:
  using Loaded = Judged<std::unique_ptr<const runtime::LoadedProgram>>;
  [[nodiscard]] Loaded compile(compiler::TargetCompiler& compiler, const std::string& config,
                               const ir::Binding& binding) const;

  TrialDevice& device_;
  const ir::Program& program_;
  std::map<std::string, LoadedConfig> loaded_;  // by config
};

}  // namespace padlock::tuner
