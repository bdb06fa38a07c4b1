#include <fmt/format.h>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/host_target.h"
#include "compiler/codegen/link_image.h"
#include "compiler/emit/host/emit_host.h"
#include "compiler/targets/compiler_base.h"

namespace padlock::compiler {
namespace {

class LlvmHostCompiler final : public CompilerBase {
 public:
  explicit LlvmHostCompiler(HostTarget target) : target_(std::move(target)) {}

  [[nodiscard]] Config default_config() const override {
    // The default: the widest vectors, and as many of them in a trip as fill a cache line.
    HostConfig config;
    config.vector_bytes = target_.vector_bytes();
    config.unroll = 64 / config.vector_bytes;
    return config;
  }
  [[nodiscard]] std::string description() const override { return target_.cpu() + " " + target_.features().features; }
  [[nodiscard]] std::optional<Architecture> architecture() const override { return target_.features().architecture; }
  [[nodiscard]] std::vector<std::string> required_features() const override { return target_.required_features(); }
  [[nodiscard]] Status check_runs_here() const override {
    if (target_.runs_here()) return {};
    return failed_precondition(fmt::format("code for CPU {} may not run on this machine", target_.cpu()));
  }
  Result<abi::CompiledCode> compile_comparison(bool /*for_simt*/) override {
    return invalid_argument("expected a GPU's target, found that of a CPU, whose memory needs no kernel to compare it");
  }

 private:
  [[nodiscard]] std::vector<Schedule> schedules(Kernel kernel, const Options& options) const override {
    std::vector<Schedule> made;
    made.push_back(schedule_for_host(std::move(kernel), std::get<HostConfig>(*options.config), options.edits,
                                     target_.permutes(), options.log));
    return made;
  }

  Result<abi::CompiledCode> make_code(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(CodeModule code, emit_module(program, options));
    PassTimer timer(options.log, "codegen");
    PADLOCK_TRY(const llvm::SmallVector<char> object,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::ObjectFile));
    timer.next("link");
    PADLOCK_TRY(abi::CompiledCode image, link_image(object, std::move(code.kernels)));
    image.task_bytes = task_bytes(*options.config);
    return image;
  }

  Result<std::string> make_text(const ir::Program& program, Stage stage, const Options& options) override {
    PADLOCK_TRY(CodeModule code, emit_module(program, options));
    if (stage == Stage::llvm) return text_of(*code.module);
    const PassTimer timer(options.log, "codegen");
    PADLOCK_TRY(const llvm::SmallVector<char> text,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::AssemblyFile));
    return std::string(text.begin(), text.end());
  }

  Result<CodeModule> emit_module(const ir::Program& program, const Options& options) {
    PADLOCK_TRY(const std::vector<std::vector<ProvenKernel>> kernels, prove_all(program, options));
    CodeModule code(program.name(), target_.machine());
    PADLOCK_CHECK(emit_into(code, kernels, options));
    simplify(code, 0, options.log);
    PADLOCK_CHECK(limit_work(code, options.bounds_check));
    return code;
  }

  Status emit_into(CodeModule& code, const std::vector<std::vector<ProvenKernel>>& kernels, const Options& options) {
    const PassTimer timer(options.log, "emit");
    for (const std::vector<ProvenKernel>& proven : kernels) {
      code.kernels.push_back(emit_host_kernel(*code.module, proven.front(), target_.features(), options.bounds_check));
      PADLOCK_CHECK(limit_emitted(code));
    }
    if (options.edits != nullptr) options.edits->emitted(*code.module);
    return code.verify();
  }

  HostTarget target_;
};

}  // namespace

Result<std::unique_ptr<TargetCompiler>> make_host_compiler(std::string_view target) {
  PADLOCK_TRY(HostTarget host, HostTarget::create(target));
  return std::make_unique<LlvmHostCompiler>(std::move(host));
}

}  // namespace padlock::compiler
