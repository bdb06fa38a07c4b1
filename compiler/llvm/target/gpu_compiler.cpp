#include "compiler/target/gpu_compiler.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include "abi/gpu_targets.h"
#include "abi/ptx_parts.h"
#include "compiler/llvm/emit/emit_gpu.h"
#include "compiler/llvm/emit/grid/emit_comparison.h"
#include "compiler/llvm/target/code_module.h"
#include "compiler/llvm/target/codegen.h"
#include "compiler/llvm/target/host_target.h"
#include "compiler/llvm/target/link_image.h"
#include "compiler/pipeline.h"

namespace padlock::compiler {
namespace {

const llvm::Target* nvptx() {
  static const llvm::Target* const kTarget = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string problem;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), problem);
  }();
  return kTarget;
}

/// Calls `work` with 0 to count - 1, each but the first in a thread of its own; in this one where there is none to
/// have.
template <class Work>
void for_each_at_once(std::size_t count, Work&& work) {
  std::vector<std::thread> threads;
  std::size_t left = 1;
  for (; left < count; ++left) {
    try {
      threads.emplace_back([&work, left] { work(left); });
    } catch (const std::system_error&) {
      break;
    }
  }
  if (count > 0) work(0);
  for (; left < count; ++left) work(left);
  for (std::thread& thread : threads) thread.join();
}

/// How a GPU kernel is made for one kind of machine.
struct Backend {
  TargetFeatures features;
  MachineHandle machine;
};

class LlvmGpuCompiler final : public GpuCompiler {
 public:
  LlvmGpuCompiler(std::string architecture, HostTarget host)
      : architecture_(std::move(architecture)), host_(std::move(host)) {}

  [[nodiscard]] GpuConfig default_config() const override { return GpuConfig::standard(); }
  [[nodiscard]] std::string target_description() const override { return architecture_; }

  Result<abi::CompiledCode> compile(const ir::Program& program, const GpuOptions& options) override {
    return options.for_simt ? compile_simt(program, options) : compile_ptx(program, options);
  }

  Result<abi::CompiledCode> compile_comparison(bool for_simt) override {
    Backend backend = for_simt ? twin() : device();
    CodeModule made("comparison", std::move(backend.machine));
    abi::KernelAbi abi = emit_comparison(*made.module, backend.features);
    PADLOCK_CHECK(made.verify());
    if (for_simt) return image_of(made, {{std::move(abi)}});
    simplify(*made.module, *made.machine);
    PADLOCK_TRY(const llvm::SmallVector<char> text, ptx_of(made));
    const auto bytes = std::as_bytes(std::span(text));
    return abi::CompiledCode{
        .kind = abi::CodeKind::ptx, .bytes = {bytes.begin(), bytes.end()}, .kernels = {{{.abi = std::move(abi)}}}};
  }

  Result<std::vector<Proof>> prove(const ir::Program& program, const GpuOptions& options) override {
    return list_proofs(program, options.edits, scheduler(options), proofs_);
  }

  Result<Proof> prove(Schedule schedule) override { return list_obligations(std::move(schedule), {.cache = &proofs_}); }

  Result<std::string> emit(const ir::Program& program, Stage stage, const GpuOptions& options) override {
    if (stage == Stage::kernel) return kernel_text(program, options.edits);
    if (stage == Stage::schedule) return schedule_text(program, options.edits, scheduler(options));
    if (stage == Stage::assembly) {
      PADLOCK_TRY(const abi::CompiledCode code, compile_ptx(program, options));
      return std::string(code.text());
    }
    PADLOCK_TRY(const Emitted code, emit_modules(program, options, only(device())));
    const CodeModule& all = code.modules.front();
    simplify(*all.module, *all.machine);
    return text_of(*all.module);
  }

 private:
  /// LLVM's share, most of the time, is done for all modules at once.
  Result<abi::CompiledCode> compile_ptx(const ir::Program& program, const GpuOptions& options) {
    std::vector<Backend> backends;
    for (int i = 0; i < GpuModules::kCount; ++i) backends.push_back(device());
    PADLOCK_TRY(Emitted code, emit_modules(program, options, std::move(backends)));
    const std::size_t count = code.modules.size();
    for_each_at_once(count, [&](std::size_t i) { simplify(*code.modules[i].module, *code.modules[i].machine); });
    PADLOCK_CHECK(limit_work(code.modules, options.bounds_check));
    std::vector<Result<llvm::SmallVector<char>>> texts(count);
    for_each_at_once(count, [&](std::size_t i) { texts[i] = ptx_of(code.modules[i]); });
    abi::CompiledCode made{.kind = abi::CodeKind::ptx, .bytes = {}, .kernels = {}};
    for (auto& variants : code.kernels) {
      auto& kernel = made.kernels.emplace_back();
      for (abi::KernelAbi& abi : variants) kernel.push_back({.abi = std::move(abi)});
    }
    for (const auto& text : texts)
      if (!text) return std::unexpected(text.error());
    abi::PtxParts parts;
    for (std::size_t i = 0; i < texts.size(); ++i)
      abi::append_ptx(i < code.usual ? parts.usual : parts.large, {texts[i]->data(), texts[i]->size()});
    const std::string ptx = abi::join_ptx(parts);
    const auto bytes = std::as_bytes(std::span(ptx));
    made.bytes.assign(bytes.begin(), bytes.end());
    return made;
  }

  Result<abi::CompiledCode> compile_simt(const ir::Program& program, const GpuOptions& options) {
    GpuOptions checked = options;
    checked.bounds_check = true;
    PADLOCK_TRY(Emitted code, emit_modules(program, checked, only(twin())));
    return image_of(code.modules.front(), std::move(code.kernels));
  }

  static Result<abi::CompiledCode> image_of(CodeModule& code, std::vector<std::vector<abi::KernelAbi>> kernels) {
    simplify(*code.module, *code.machine);
    PADLOCK_CHECK(limit_work({&code, 1}, /*bounds_check=*/true));
    // It tests, and is run once or a few times: code that is made quickly is the faster.
    code.machine->setOptLevel(llvm::CodeGenOptLevel::None);
    PADLOCK_TRY(const llvm::SmallVector<char> object,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::ObjectFile));
    return link_image(object, std::move(kernels));
  }

  [[nodiscard]] ScheduleMaker scheduler(const GpuOptions& options) const {
    return [config = options.config.value_or(default_config()), edits = options.edits](Kernel kernel) {
      return schedule_for_gpu(std::move(kernel), config, edits);
    };
  }

  [[nodiscard]] Backend device() const {
    Backend made;
    made.features = {.cpu = architecture_,
                     .features = "",
                     .f16c = true,
                     .rounds_floats = true,
                     .fma = true,
                     .packs_words = true,
                     .f16_masks = abi::gpu_target_number(architecture_) >= 80,   // PTX 6.5
                     .bf16_masks = abi::gpu_target_number(architecture_) >= 90,  // PTX 7.8
                     .permutes_bytes = true,
                     .abs16 = false,  // ptxas takes what abs.s16 gives for positive
                     .global_space = 1,
                     .aligned_elements = true,
                     .waits = abi::gpu_target_number(architecture_) >= 90,  // PTX 7.8
                     .takes_words = true};
    made.machine = machine();
    return made;
  }

  [[nodiscard]] MachineHandle machine() const {
    if (auto kept = machines_->take()) return {kept.release(), {machines_}};
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    // ptxas optimises: what LLVM would do before takes two thirds of the time and changes its result by 1 %.
    return {nvptx()->createTargetMachine(llvm::Triple("nvptx64-nvidia-cuda"), architecture_, "", options, std::nullopt,
                                         std::nullopt, llvm::CodeGenOptLevel::None),
            {machines_}};
  }

  [[nodiscard]] Backend twin() const {
    Backend made{host_.features(), host_.machine()};
    made.features.packs_words = true;
    return made;
  }

  static std::vector<Backend> only(Backend backend) {
    std::vector<Backend> backends;
    backends.push_back(std::move(backend));
    return backends;
  }

  static Result<llvm::SmallVector<char>> ptx_of(CodeModule& code) {
    return generate_code(*code.module, *code.machine, llvm::CodeGenFileType::AssemblyFile);
  }

  /// The program's kernels, of each the variants.
  struct Emitted {
    std::vector<CodeModule> modules;  // at least one; only the first may be without functions
    std::size_t usual = 0;            // so many of them, the first ones, are for launches of usual sizes
    std::vector<std::vector<abi::KernelAbi>> kernels;
  };

  /// One module for each back end, of which there are one or GpuModules::kCount, of one kind.
  Result<Emitted> emit_modules(const ir::Program& program, const GpuOptions& options, std::vector<Backend> backends) {
    PADLOCK_TRY(const std::vector<ProvenKernel> kernels,
                prove_kernels(program, options.edits, scheduler(options), proofs_));
    const TargetFeatures features = backends.front().features;
    Emitted code;
    for (Backend& backend : backends) code.modules.emplace_back(program.name(), std::move(backend.machine));
    const auto module = [&](std::size_t i) -> llvm::Module& {
      return *code.modules[std::min(i, code.modules.size() - 1)].module;
    };
    const GpuModules modules{.usual = module(GpuModules::kUsual),
                             .small = module(GpuModules::kSmall),
                             .index = module(GpuModules::kIndex),
                             .offset = module(GpuModules::kOffset)};
    for (const ProvenKernel& proven : kernels) {
      code.kernels.push_back(emit_gpu_kernel(modules, proven, features, options.bounds_check));
      if (features.takes_words) PADLOCK_CHECK(check_parameters(code.kernels.back()));
      PADLOCK_CHECK(limit_emitted(code.modules));
    }
    for (CodeModule& made : code.modules)
      if (options.edits != nullptr) options.edits->emitted(*made.module);
    std::vector<CodeModule> used;
    for (std::size_t i = 0; i < code.modules.size(); ++i) {
      if (used.empty() || !code.modules[i].module->empty()) used.push_back(std::move(code.modules[i]));
      if (i < GpuModules::kIndex) code.usual = used.size();
    }
    code.modules = std::move(used);
    for (const CodeModule& made : code.modules) PADLOCK_CHECK(made.verify());
    return code;
  }

  static Status check_parameters(const std::vector<abi::KernelAbi>& variants) {
    for (const abi::KernelAbi& abi : variants) {
      const std::size_t words = abi::ParameterWords(abi).count;
      if (words > abi::ParameterWords::kMost)
        return beyond_limits(fmt::format("kernel {} has {} bytes of parameters, a launch takes {}", abi.name, 8 * words,
                                         8 * abi::ParameterWords::kMost));
    }
    return {};
  }

  std::string architecture_;
  HostTarget host_;
  ProofCache proofs_;
  std::shared_ptr<MachinePool> machines_ = std::make_shared<MachinePool>();
};

}  // namespace

Result<std::unique_ptr<GpuCompiler>> GpuCompiler::create(std::string_view target) {
  const std::vector<std::string> known = abi::gpu_targets();
  if (std::ranges::find(known, target) == known.end())
    return invalid_argument(
        fmt::format("unknown target '{}': expected host, host:CPU, or one of {}", target, fmt::join(known, ", ")));
  if (nvptx() == nullptr) return unavailable("this LLVM has no back end for NVIDIA GPUs");
  PADLOCK_TRY(HostTarget host, HostTarget::create("host"));
  return std::make_unique<LlvmGpuCompiler>(std::string(target), std::move(host));
}

}  // namespace padlock::compiler
