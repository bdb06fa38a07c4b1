#include "compiler/targets/host_compiler.h"

#include <fmt/format.h>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/host_target.h"
#include "compiler/codegen/link_image.h"
#include "compiler/emit/host/emit_host.h"
#include "compiler/pipeline.h"
#include "compiler/targets/config.h"

namespace padlock::compiler {
namespace {

class LlvmHostCompiler final : public HostCompiler {
 public:
  explicit LlvmHostCompiler(HostTarget target) : target_(std::move(target)) {}

  [[nodiscard]] HostConfig default_config() const override {
    // The widest vectors, and as many of them as fill a cache line in one trip.
    HostConfig config;
    config.vector_bytes = target_.vector_bytes();
    config.unroll = 64 / config.vector_bytes;
    return config;
  }

  [[nodiscard]] VectorPermutes permutes() const override { return target_.permutes(); }

  [[nodiscard]] std::string target_description() const override {
    return target_.features().cpu + " " + target_.features().features;
  }

  [[nodiscard]] std::vector<std::string> required_features() const override { return target_.required_features(); }

  Result<abi::CompiledCode> compile(const ir::Program& program, const HostOptions& options) override {
    PADLOCK_TRY(CodeModule code, emit_module(program, options));
    PADLOCK_TRY(const llvm::SmallVector<char> object,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::ObjectFile));
    PADLOCK_TRY(abi::CompiledCode image, link_image(object, std::move(code.kernels)));
    image.task_bytes = task_bytes(options.config.value_or(default_config()));
    return image;
  }

  [[nodiscard]] Status check_runs_here() const override {
    if (target_.runs_here()) return {};
    return failed_precondition(fmt::format("code for CPU {} may not run on this machine", target_.features().cpu));
  }

  Result<std::vector<Proof>> prove(const ir::Program& program, const HostOptions& options) override {
    return list_proofs(program, options.edits, scheduler(options), proofs_);
  }

  Result<Proof> prove(Schedule schedule) override { return list_obligations(std::move(schedule), {.cache = &proofs_}); }

  Result<std::string> emit(const ir::Program& program, Stage stage, const HostOptions& options) override {
    if (stage == Stage::kernel) return kernel_text(program, options.edits);
    if (stage == Stage::schedule) return schedule_text(program, options.edits, scheduler(options));
    PADLOCK_TRY(CodeModule code, emit_module(program, options));
    if (stage == Stage::llvm) return text_of(*code.module);
    PADLOCK_TRY(const llvm::SmallVector<char> text,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::AssemblyFile));
    return std::string(text.begin(), text.end());
  }

 private:
  [[nodiscard]] ScheduleMaker scheduler(const HostOptions& options) const {
    return [config = options.config.value_or(default_config()), edits = options.edits, this](Kernel kernel) {
      return schedules_for_host(std::move(kernel), config, edits, target_.permutes());
    };
  }

  Result<CodeModule> emit_module(const ir::Program& program, const HostOptions& options) {
    PADLOCK_TRY(const std::vector<std::vector<ProvenKernel>> kernels,
                prove_kernels(program, options.edits, scheduler(options), proofs_));
    CodeModule code(program.name(), target_.machine());
    for (const std::vector<ProvenKernel>& proven : kernels) {
      code.kernels.push_back(emit_host_kernel(*code.module, proven.front(), target_.features(), options.bounds_check));
      PADLOCK_CHECK(limit_emitted(code));
    }
    if (options.edits != nullptr) options.edits->emitted(*code.module);
    PADLOCK_CHECK(code.verify());
    simplify(*code.module, *code.machine);
    PADLOCK_CHECK(limit_work(code, options.bounds_check));
    return code;
  }

  HostTarget target_;
  ProofCache proofs_;
};

}  // namespace

Result<std::unique_ptr<HostCompiler>> HostCompiler::create(std::string_view target) {
  PADLOCK_TRY(HostTarget made, HostTarget::create(target));
  return std::make_unique<LlvmHostCompiler>(std::move(made));
}

}  // namespace padlock::compiler
