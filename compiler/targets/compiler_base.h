#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/targets/target_compiler.h"

namespace padlock::compiler {

/// Compiler parts that all targets share: the configs, and the passes up to the proof. A target adds how its configs
/// make schedules, and code for proven kernels.
class CompilerBase : public TargetCompiler {
 public:
  [[nodiscard]] Result<Config> parse_config(std::string_view text) const final;
  [[nodiscard]] std::vector<Config> all_configs() const final;
  [[nodiscard]] Result<SearchSpace> search_space(const ir::Program& program,
                                                 std::span<const ir::Binding> bindings) final;
  [[nodiscard]] Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) final;
  [[nodiscard]] Result<std::vector<Proof>> prove(const ir::Program& program, const Options& options) final;
  [[nodiscard]] Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) final;

 protected:
  // The options of these functions hold a config of this target.
  [[nodiscard]] virtual std::vector<Schedule> schedules(Kernel kernel, const Options& options) const = 0;
  [[nodiscard]] virtual Result<abi::CompiledCode> make_code(const ir::Program& program, const Options& options) = 0;
  /// `stage`: llvm or assembly.
  [[nodiscard]] virtual Result<std::string> make_text(const ir::Program& program, Stage stage,
                                                      const Options& options) = 0;
  /// Runs all passes up to the proof. Errors as prove_kernels of compiler/pipeline.h.
  [[nodiscard]] Result<std::vector<std::vector<ProvenKernel>>> prove_all(const ir::Program& program,
                                                                         const Options& options);

 private:
  [[nodiscard]] ScheduleMaker scheduler(const Options& options) const;
  [[nodiscard]] Result<Options> with_config(const Options& options) const;
  Result<bool> none_is_refuted(std::vector<Schedule> schedules, PassCounts& passes);

  ProofCache proofs_;
};

// Make the compilers of the two kinds of target, in compiler/codegen/. Errors as TargetCompiler::create.
[[nodiscard]] Result<std::unique_ptr<TargetCompiler>> make_host_compiler(std::string_view target);
[[nodiscard]] Result<std::unique_ptr<TargetCompiler>> make_gpu_compiler(std::string_view target);

}  // namespace padlock::compiler
