#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/machine_pool.h"
#include "compiler/emit/host/emit_host.h"
#include "compiler/schedule/model/vector_permutes.h"
#include "support/error.h"

namespace padlock::compiler {

class HostArchitecture;

/// A host CPU to make code for. Immutable, thread-safe.
class HostTarget {
 public:
  /// `name` and errors: as of make_host_compiler.
  [[nodiscard]] static Result<HostTarget> create(std::string_view name);

  /// The CPU as it was asked for: a level's name, or LLVM's name of a CPU.
  [[nodiscard]] const std::string& cpu() const { return cpu_; }
  [[nodiscard]] const TargetFeatures& features() const { return features_; }
  /// Bytes of the widest vector that the CPU stores at once.
  [[nodiscard]] int vector_bytes() const { return vector_bytes_; }
  [[nodiscard]] const VectorPermutes& permutes() const { return permutes_; }
  /// Returns whether this machine has every instruction that the code may use.
  [[nodiscard]] bool runs_here() const { return runs_here_; }
  /// Returns TargetCompiler::required_features.
  [[nodiscard]] const std::vector<std::string>& required_features() const { return required_features_; }
  /// Takes a machine for one compile; no other thread has it. It goes back to the target when the handle ends.
  [[nodiscard]] MachineHandle machine() const;

 private:
  HostTarget() = default;
  std::shared_ptr<const HostArchitecture> architecture_;  // shared by copies of this
  std::string cpu_;
  TargetFeatures features_;
  int vector_bytes_ = 16;
  VectorPermutes permutes_;
  bool runs_here_ = true;
  std::vector<std::string> required_features_;
  std::shared_ptr<MachinePool> pool_ = std::make_shared<MachinePool>();
};

}  // namespace padlock::compiler
