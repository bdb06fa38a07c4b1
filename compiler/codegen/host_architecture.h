#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include "compiler/emit/host/emit_host.h"
#include "compiler/schedule/model/vector_permutes.h"
#include "support/cpu/architecture.h"
#include "support/error.h"

namespace padlock::compiler {

/// LLVM's back end for CPUs of one architecture. Immutable, thread-safe.
class HostArchitecture {
 public:
  using SubtargetInfo = std::unique_ptr<llvm::MCSubtargetInfo>;

  /// Error: unavailable if LLVM was built without the back end.
  [[nodiscard]] static Result<HostArchitecture> create(Architecture architecture);

  [[nodiscard]] Architecture architecture() const { return architecture_; }
  [[nodiscard]] const llvm::Triple& triple() const { return triple_; }
  [[nodiscard]] const llvm::Target& target() const { return *target_; }
  [[nodiscard]] SubtargetInfo subtarget(const std::string& cpu, const std::string& features = {}) const;

  /// Returns whether LLVM knows the CPU. Code for it may be impossible: see refusal_of.
  [[nodiscard]] bool knows(const std::string& cpu) const;
  /// Returns why no code is made for a known CPU ("a 32-bit CPU"); empty if code is made. LLVM ends the process when
  /// asked for code of such a CPU.
  [[nodiscard]] std::string_view refusal_of(const llvm::MCSubtargetInfo& cpu) const;
  /// Lists LLVM's names of the CPUs that code can be made for.
  [[nodiscard]] std::vector<std::string> cpus() const;
  /// Lists, sorted, the CPU's instruction sets that a machine can be asked for (cpu_has). LLVM's other feature names
  /// are tuning, or have no use in a kernel.
  [[nodiscard]] std::vector<std::string> instruction_sets(const llvm::MCSubtargetInfo& cpu) const;

  /// Sets what code generation must know of a CPU, but for its names and caches.
  void describe(const llvm::MCSubtargetInfo& cpu, TargetFeatures& features) const;
  /// Bytes of the widest vector that the CPU stores at once.
  [[nodiscard]] int vector_bytes(const llvm::MCSubtargetInfo& cpu) const;
  [[nodiscard]] VectorPermutes permutes(const llvm::MCSubtargetInfo& cpu) const;

 private:
  HostArchitecture(Architecture architecture, llvm::Triple triple, const llvm::Target* target)
      : architecture_(architecture), triple_(std::move(triple)), target_(target) {}

  Architecture architecture_;
  llvm::Triple triple_;
  const llvm::Target* target_;  // LLVM's registry owns it
};

/// Returns the running CPU's features as LLVM reads them: "+avx2,-avx512f,...".
[[nodiscard]] std::string own_features();

}  // namespace padlock::compiler
