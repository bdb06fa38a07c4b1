#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pass_counts.h"
#include "compiler/targets/config.h"
#include "compiler/targets/cost.h"
#include "compiler/targets/gpu_compiler.h"
#include "compiler/targets/host_compiler.h"

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

/// The compiler of one target, for callers that take any target. Thread-safe.
class TargetCompiler {
 public:
  struct Options {
    std::optional<Config> config;  ///< of this target; absent: default_config()
    bool bounds_check = false;
    bool for_simt = false;  ///< a GPU's kernels as an image for this machine's CPU; a CPU's target makes images alone
  };

  /// Error: invalid_argument for an unknown target, unavailable for one that this build cannot make code for.
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
  [[nodiscard]] virtual std::string description() const = 0;

  /// Errors: as HostCompiler::compile and GpuCompiler::compile; invalid_argument for a config of another target.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) = 0;
  /// GpuCompiler::compile_comparison. Error: invalid_argument for a CPU's target, whose memory the host compares.
  [[nodiscard]] virtual Result<abi::CompiledCode> compile_comparison(bool for_simt) = 0;
  /// Returns HostCompiler::required_features for a CPU's target; empty for a GPU's.
  [[nodiscard]] virtual std::vector<std::string> required_features() const = 0;
  /// Checks HostCompiler::check_runs_here for a CPU's target; always succeeds for a GPU's.
  [[nodiscard]] virtual Status check_runs_here() const = 0;
  [[nodiscard]] virtual Result<std::vector<Proof>> prove(const ir::Program& program, const Options& options) = 0;
  [[nodiscard]] virtual Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) = 0;
};

}  // namespace padlock::compiler
