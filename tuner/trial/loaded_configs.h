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

/// The code of a program's configs on one device, which problems of all sizes share. Borrows both. Not thread-safe.
class LoadedConfigs {
 public:
  LoadedConfigs(TrialDevice& device, const ir::Program& program) : device_(device), program_(program) {}

  /// The code of a config, loaded for the sizes of `binding`. Where it has to be compiled, some of those that come
  /// after it are along with it, on threads of their own, as many as the machine has: that takes no longer. What is
  /// wrong with one of them is said when it is asked for.
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
