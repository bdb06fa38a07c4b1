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
#include "support/cpu/architecture.h"
#include "support/error.h"

namespace padlock::compiler {

/// One config of a search space.
struct SearchPoint {
  Config config;
  std::vector<std::vector<KernelCost>> costs;  ///< for each binding, of each kernel in launch order
};

struct SearchSpace {
  std::vector<SearchPoint> points;
  PassCounts passes;  ///< passes that the search ran
};

enum class Stage : std::uint8_t { kernel, schedule, llvm, assembly };

/// Compiles programs for one target: a host CPU or an NVIDIA GPU. Needs neither a GPU nor a driver. Thread-safe.
class TargetCompiler {
 public:
  struct Options {
    std::optional<Config> config = {};  ///< a config of this target; absent: default_config()
    bool bounds_check = false;          ///< test every access; a failing one is skipped and reported
    bool for_simt = false;  ///< makes a GPU's kernels an image for this machine's CPU, which tests every access; a
                            ///< CPU's target always makes images
    const PassEdits* edits = nullptr;  ///< borrowed; set by tests alone
    PassLog* log = nullptr;            ///< borrowed; used by `compile`, `prove` and the stages llvm and assembly
  };

  /// `target`: "host" (the running CPU and its features), "host:NAME" with a level (kLevels) or LLVM's name of
  /// a 64-bit CPU, or one of abi::gpu_targets. LLVM gets no other text, since some names make it end the process.
  /// Errors: invalid_argument for another name (with the expected names and the nearest one), unavailable if LLVM has
  /// no back end for the target.
  [[nodiscard]] static Result<std::unique_ptr<TargetCompiler>> create(const std::string& target);
  virtual ~TargetCompiler() = default;

  [[nodiscard]] virtual Config default_config() const = 0;
  /// Reads a config; absent keys have their default. Error: invalid_argument outside the search space.
  [[nodiscard]] virtual Result<Config> parse_config(std::string_view text) const = 0;
  [[nodiscard]] virtual std::vector<Config> all_configs() const = 0;
  /// Finds the configs that are worth comparing for a program, in a fixed order, the default first. Each is legal,
  /// makes code unlike that of earlier ones, and is proved (no obligation is refuted). Adds the cost of each at these
  /// bindings. Errors: of lowering, and as `prove`.
  [[nodiscard]] virtual Result<SearchSpace> search_space(const ir::Program& program,
                                                         std::span<const ir::Binding> bindings) = 0;
  /// Returns the CPU and its features, or a GPU's architecture, for an artifact's identity.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Returns the architecture of a CPU; nothing for a GPU.
  [[nodiscard]] virtual std::optional<Architecture> architecture() const = 0;

  /// Host: an image with one kernel per group of results of equal extents, for any machine of the target. GPU: PTX,
  /// made by one thread per variant; or, for simt, the same kernels with thread and block as loop variables and blocks
  /// as rows. The program must outlive the contracts. Errors: resource_exhausted if lowering exceeds its limits (with
  /// the statement) or a GPU's kernel has too many parameters for a launch; failed_precondition if an obligation is
  /// refuted or the program admits no sizes; internal for LLVM's; invalid_argument for a config of another target.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) = 0;
  /// Compiles the kernel of abi/comparison.h as PTX, or for this machine's CPU as emit_comparison says. Error:
  /// invalid_argument for a CPU's target, whose memory the host compares.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile_comparison(bool for_simt) = 0;
  /// Returns LLVM's names of the instruction sets that a CPU's code may use ("avx2"); empty for a GPU's.
  [[nodiscard]] virtual std::vector<std::string> required_features() const = 0;
  /// Error: failed_precondition if this machine lacks instructions that a CPU's code may use.
  [[nodiscard]] virtual Status check_runs_here() const = 0;
  /// Lists the obligations of all kernels with their verdicts, refuted ones too. Errors as `compile`.
  [[nodiscard]] virtual Result<std::vector<Proof>> prove(const ir::Program& program, const Options& options) = 0;
  /// Prints one stage of all kernels (a GPU's assembly is PTX). Takes any known CPU, since nothing runs.
  [[nodiscard]] virtual Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) = 0;
};

}  // namespace padlock::compiler
