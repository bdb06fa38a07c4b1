#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/compiled_code.h"
#include "compiler/prover/core/proof.h"
#include "compiler/targets/host_config.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::compiler {

struct HostOptions {
  std::optional<HostConfig> config;  ///< absent: HostCompiler::default_config()
  bool bounds_check = false;         ///< test every access; a failing one is skipped and reported
  const PassEdits* edits = nullptr;  ///< borrowed; of a test
};

enum class Stage : std::uint8_t { kernel, schedule, llvm, assembly };

/// Compiles programs for a host CPU. Thread-safe.
class HostCompiler {
 public:
  /// `target`: "host" (the running CPU, its features asked of the machine) or "host:NAME" with an LLVM CPU name such
  /// as x86-64-v3. Errors: invalid_argument for an unknown name (it lists some), unavailable where LLVM has no
  /// back end for this machine.
  [[nodiscard]] static Result<std::unique_ptr<HostCompiler>> create(std::string_view target = "host");
  virtual ~HostCompiler() = default;

  [[nodiscard]] virtual HostConfig default_config() const = 0;
  /// Returns what the target permutes, for its schedules.
  [[nodiscard]] virtual VectorPermutes permutes() const = 0;
  /// CPU and features, as they belong into an artifact's identity.
  [[nodiscard]] virtual std::string target_description() const = 0;

  /// Names of the instruction sets that the code may use, as LLVM has them ("avx2").
  [[nodiscard]] virtual std::vector<std::string> required_features() const = 0;

  /// An image with one kernel per group of results of equal extents, for whichever machine of the target. The program
  /// must outlive its contracts. Errors: resource_exhausted where lowering exceeds its limits (the statement is named),
  /// failed_precondition where an obligation is refuted or the program admits no sizes, internal for LLVM's.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile(const ir::Program& program, const HostOptions& options) = 0;
  /// Error: failed_precondition, where this machine lacks instructions that the code may use.
  [[nodiscard]] virtual Status check_runs_here() const = 0;
  /// The obligations of all kernels with their verdicts, refuted ones too. Errors as `compile`.
  [[nodiscard]] virtual Result<std::vector<Proof>> prove(const ir::Program& program, const HostOptions& options) = 0;
  /// The obligations of one schedule, as the same compiler's `compile` will need them: it does not prove them again.
  [[nodiscard]] virtual Result<Proof> prove(Schedule schedule) = 0;
  /// The text of one stage, of all kernels. Needs no running on this machine, so any known CPU will do.
  [[nodiscard]] virtual Result<std::string> emit(const ir::Program& program, Stage stage,
                                                 const HostOptions& options) = 0;
};

}  // namespace padlock::compiler
