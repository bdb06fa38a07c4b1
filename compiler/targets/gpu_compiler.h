#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/compiled_code.h"
#include "compiler/prover/core/proof.h"
#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_compiler.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::compiler {

struct GpuOptions {
  std::optional<GpuConfig> config;   ///< absent: GpuCompiler::default_config()
  bool bounds_check = false;         ///< test every access; a failing one is skipped and reported
  bool for_simt = false;             ///< an image for this machine's CPU instead of PTX, which tests every access
  const PassEdits* edits = nullptr;  ///< borrowed; of a test
};

/// Compiles programs for NVIDIA GPUs. Needs none, nor a driver. Thread-safe.
class GpuCompiler {
 public:
  /// `target`: "sm_90" and the like, from sm_75 to what LLVM knows. Errors: invalid_argument for another name (it lists
  /// the known ones).
  [[nodiscard]] static Result<std::unique_ptr<GpuCompiler>> create(std::string_view target);
  virtual ~GpuCompiler() = default;

  [[nodiscard]] virtual GpuConfig default_config() const = 0;
  /// Architecture and PTX version, as they belong into an artifact's identity.
  [[nodiscard]] virtual std::string target_description() const = 0;

  /// PTX, for which it takes a thread for each variant while it lasts; or the same kernels for simt, with thread and
  /// block as loop variables and blocks as rows. The program must outlive the contracts. Errors as
  /// HostCompiler::compile, and resource_exhausted where a kernel has more parameters than a launch takes.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile(const ir::Program& program, const GpuOptions& options) = 0;
  /// The kernel that abi/comparison.h describes, as PTX, or for this machine's CPU as emit_comparison says.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile_comparison(bool for_simt) = 0;
  /// The obligations of all kernels with their verdicts, refuted ones too. Errors as `compile`.
  [[nodiscard]] virtual Result<std::vector<Proof>> prove(const ir::Program& program, const GpuOptions& options) = 0;
  /// The obligations of one schedule, as the same compiler's `compile` will need them: it does not prove them again.
  [[nodiscard]] virtual Result<Proof> prove(Schedule schedule) = 0;
  /// The text of one stage (assembly is PTX), of all kernels.
  [[nodiscard]] virtual Result<std::string> emit(const ir::Program& program, Stage stage,
                                                 const GpuOptions& options) = 0;
};

}  // namespace padlock::compiler
