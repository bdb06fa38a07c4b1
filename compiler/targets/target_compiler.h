#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/compiled_code.h"
#include "compiler/pass_log.h"
#include "compiler/prover/core/proof.h"
#include "compiler/targets/config.h"
#include "compiler/targets/cost.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::compiler {

/// One config of a search space.
struct SearchPoint {
  Config config;
  std::vector<std::vector<KernelCost>> costs;  ///< for each binding, of each kernel in launch order
};

struct SearchSpace {
  std::vector<SearchPoint> points;
  PassCounts passes;  ///< what finding them took
};

enum class Stage : std::uint8_t { kernel, schedule, llvm, assembly };

/// Compiles programs for one target: a host CPU or an NVIDIA GPU. Needs no GPU, nor a driver. Thread-safe.
class TargetCompiler {
 public:
  struct Options {
    std::optional<Config> config = {};  ///< of this target; absent: default_config()
    bool bounds_check = false;          ///< test every access; a failing one is skipped and reported
    bool for_simt = false;  ///< a GPU's kernels as an image for this machine's CPU, which tests every access; a CPU's
                            ///< target makes images alone
    const PassEdits* edits = nullptr;  ///< borrowed; of a test
    PassLog* log = nullptr;            ///< borrowed; heard by `compile`, `prove` and the stages llvm and assembly
  };

  /// `target`: "host" (the running CPU, its features asked of the machine), "host:NAME" with LLVM's name of a 64-bit
  /// CPU such as x86-64-v3, or one of abi::gpu_targets. No other text reaches LLVM, which would end the process at
  /// some. Errors: invalid_argument for another name (it lists what is expected, and the name that is near),
  /// unavailable where LLVM has no back end for it.
  [[nodiscard]] static Result<std::unique_ptr<TargetCompiler>> create(const std::string& target);
  virtual ~TargetCompiler() = default;

  [[nodiscard]] virtual Config default_config() const = 0;
  /// Reads the config that the text and, for absent keys, the default say. Error: invalid_argument, outside of the
  /// search space.
  [[nodiscard]] virtual Result<Config> parse_config(std::string_view text) const = 0;
  [[nodiscard]] virtual std::vector<Config> all_configs() const = 0;
  /// Finds the configs that are worth comparing for a program, in a fixed order, the default first: legal, without
  /// those that make the code of an earlier one, and each proved (no obligation of it is refuted); and what each costs
  /// at these bindings of the program. Errors: of lowering, and as `prove`.
  [[nodiscard]] virtual Result<SearchSpace> search_space(const ir::Program& program,
                                                         std::span<const ir::Binding> bindings) = 0;
  /// CPU and features, or a GPU's architecture, as they belong into an artifact's identity.
  [[nodiscard]] virtual std::string description() const = 0;

  /// On the host an image with one kernel per group of results of equal extents, for whichever machine of the target.
  /// For a GPU PTX, for which it takes a thread for each variant while it lasts; or the same kernels for simt, with
  /// thread and block as loop variables and blocks as rows. The program must outlive the contracts. Errors:
  /// resource_exhausted where lowering exceeds its limits (the statement is named) or a GPU's kernel has more
  /// parameters than a launch takes, failed_precondition where an obligation is refuted or the program admits no sizes,
  /// internal for LLVM's; invalid_argument for a config of another target.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) = 0;
  /// The kernel that abi/comparison.h describes, as PTX, or for this machine's CPU as emit_comparison says. Error:
  /// invalid_argument for a CPU's target, whose memory the host compares.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile_comparison(bool for_simt) = 0;
  /// Names of the instruction sets that a CPU's code may use, as LLVM has them ("avx2"); empty for a GPU's.
  [[nodiscard]] virtual std::vector<std::string> required_features() const = 0;
  /// Error: failed_precondition, where this machine lacks instructions that a CPU's code may use.
  [[nodiscard]] virtual Status check_runs_here() const = 0;
  /// The obligations of all kernels with their verdicts, refuted ones too. Errors as `compile`.
  [[nodiscard]] virtual Result<std::vector<Proof>> prove(const ir::Program& program, const Options& options) = 0;
  /// The text of one stage (a GPU's assembly is PTX), of all kernels. Needs no running on this machine, so any known
  /// CPU will do.
  [[nodiscard]] virtual Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) = 0;
};

}  // namespace padlock::compiler
