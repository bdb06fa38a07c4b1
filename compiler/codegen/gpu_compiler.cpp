#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <system_error>
#include <thread>
#include <type_traits>

#include <fmt/format.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include "abi/gpu_targets.h"
#include "abi/ptx_entries.h"
#include "compiler/codegen/code_module.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/host_target.h"
#include "compiler/codegen/link_image.h"
#include "compiler/emit/gpu/emit_gpu.h"
#include "compiler/targets/compiler_base.h"
#include "compiler/targets/target_names.h"

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

Result<llvm::SmallVector<char>> ptx_of(CodeModule& code) {
  return generate_code(*code.module, *code.machine, llvm::CodeGenFileType::AssemblyFile);
}

abi::CompiledCode code_of(std::span<const char> ptx, std::vector<std::vector<abi::KernelAbi>> kernels) {
  const auto bytes = std::as_bytes(ptx);
  abi::CompiledCode code{.kind = abi::CodeKind::ptx, .bytes = {bytes.begin(), bytes.end()}, .kernels = {}};
  for (std::vector<abi::KernelAbi>& variants : kernels) {
    auto& kernel = code.kernels.emplace_back();
    for (abi::KernelAbi& abi : variants) kernel.push_back({.abi = std::move(abi)});
  }
  return code;
}

/// Makes PTX of a program's modules, each in its own thread while the next module is emitted. (PTX is LLVM's share of a
/// compile, and most of its time.) The destructor waits for the threads.
class PtxMaker {
 public:
  /// `program`: its name. `modules`: how many it has. `log`: borrowed, or null.
  PtxMaker(std::string program, std::size_t modules, PassLog* log)
      : program_(std::move(program)), log_(log), texts_(modules) {}

  /// Starts a thread that makes the PTX of emitted module `number`, which decides its place in the text. Makes the PTX
  /// of the module that is emitted last in the caller's thread.
  void begin(std::size_t number, CodeModule code, bool is_last) {
    Result<Text>& text = texts_[number];
    if (is_last) return make(text, number, std::move(code));
    auto given = std::make_shared<CodeModule>(std::move(code));
    try {
      threads_.emplace_back([this, &text, number, given] { make(text, number, std::move(*given)); });
    } catch (const std::system_error&) {
      make(text, number, std::move(*given));  // no thread could be started
    }
  }

  /// Waits for the threads, and returns one text of all modules, in the order of their numbers. Call it once. Errors:
  /// of limit_gpu_work and generate_code.
  Result<std::string> take() {
    threads_.clear();
    const PassTimer timer(log_, "link");
    PADLOCK_CHECK(limit_gpu_work(program_, instructions_));
    std::string ptx;
    for (const Result<Text>& text : texts_) {
      if (!text) return std::unexpected(text.error());
      abi::append_ptx(ptx, {text->data(), text->size()});
    }
    return ptx;
  }

 private:
  using Text = llvm::SmallVector<char>;

  /// Takes the module, so that this thread also destroys it: destruction takes a while.
  void make(Result<Text>& text, std::size_t number, CodeModule code) {
    simplify(code, number, log_);
    const PassTimer timer(log_, "codegen");
    const std::size_t own = instructions_of(code);
    const std::size_t in_all = instructions_.fetch_add(own) + own;
    // A program with more instructions is refused, so a module beyond the limit gets no PTX.
    if (limit_gpu_work(program_, in_all)) text = ptx_of(code);
  }

  std::string program_;
  PassLog* log_;
  std::vector<Result<Text>> texts_;            // by module
  std::atomic<std::size_t> instructions_ = 0;  // in the default order: once a module
  std::vector<std::jthread> threads_;          // declared last, so that they end before what they use
};

/// A program's kernels: the schedules of each, the variants of each, and the contracts of the emitted variants.
struct Kernels {
  std::vector<std::vector<ProvenKernel>> proven;
  std::vector<std::vector<GpuVariant>> variants;
  std::vector<std::vector<abi::KernelAbi>> contracts;

  void list_variants() {
    variants.clear();
    contracts.clear();
    for (const std::vector<ProvenKernel>& kernel : proven) {
      variants.push_back(gpu_variants(kernel));
      contracts.emplace_back(variants.back().size());
    }
  }
  /// Leaves each kernel only the schedule that serves all sizes. Returns whether any kernel had another.
  bool keep_first_schedules() {
    bool had_others = false;
    for (std::vector<ProvenKernel>& kernel : proven) {
      had_others |= kernel.size() > 1;
      kernel.erase(kernel.begin() + 1, kernel.end());
    }
    return had_others;
  }
  /// Counts the modules that the variants need, at least one. A module has one variant of each kernel, so that LLVM can
  /// compile all modules at once. The first module, with the variants that assume nothing, is the longest.
  [[nodiscard]] std::size_t modules() const {
    std::size_t most = 1;
    for (const std::vector<GpuVariant>& list : variants) most = std::max(most, list.size());
    return most;
  }
  /// Returns the modules in the order in which to emit them. Those with boxes come first: they are long, and their PTX
  /// would be waited for if they came last.
  [[nodiscard]] std::vector<std::size_t> in_order() const {
    const auto has_boxes = [&](std::size_t module) {
      for (std::size_t k = 0; k < variants.size(); ++k)
        if (module < variants[k].size() && proven[k][variants[k][module].schedule].schedule().boxes() != nullptr)
          return true;
      return false;
    };
    std::vector<std::size_t> order(modules());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_partition(order, has_boxes);
    return order;
  }
};

class LlvmGpuCompiler final : public CompilerBase {
 public:
  LlvmGpuCompiler(std::string architecture, HostTarget host)
      : architecture_(std::move(architecture)), host_(std::move(host)) {}

  [[nodiscard]] Config default_config() const override { return GpuConfig::standard(); }
  [[nodiscard]] std::string description() const override { return architecture_; }
  [[nodiscard]] std::optional<Architecture> architecture() const override { return std::nullopt; }
  [[nodiscard]] std::vector<std::string> required_features() const override { return {}; }
  [[nodiscard]] Status check_runs_here() const override { return {}; }

  Result<abi::CompiledCode> compile_comparison(bool for_simt) override {
    CodeModule made("comparison", for_simt ? host_.machine() : machine());
    abi::KernelAbi abi = emit_comparison(*made.module, for_simt ? twin_features() : device_features());
    PADLOCK_CHECK(made.verify());
    if (for_simt) return image_of(made, {{std::move(abi)}}, nullptr);
    simplify(made, 0, nullptr);
    PADLOCK_TRY(const llvm::SmallVector<char> text, ptx_of(made));
    return code_of(text, {{std::move(abi)}});
  }

 private:
  [[nodiscard]] std::vector<Schedule> schedules(Kernel kernel, const Options& options) const override {
    return schedules_for_gpu(std::move(kernel), std::get<GpuConfig>(*options.config), options.edits, options.log);
  }

  Result<abi::CompiledCode> make_code(const ir::Program& program, const Options& options) override {
    return options.for_simt ? compile_simt(program, options) : compile_ptx(program, options);
  }

  Result<std::string> make_text(const ir::Program& program, Stage stage, const Options& options) override {
    if (stage == Stage::assembly) {
      PADLOCK_TRY(const abi::CompiledCode code, compile_ptx(program, options));
      return std::string(code.text());
    }
    return of_variants(program, options, [&](Kernels& kernels) -> Result<std::string> {
      PADLOCK_TRY(CodeModule code, emit_module(program, kernels, {device_features(), options}, machine()));
      simplify(code, 0, options.log);
      return text_of(*code.module);
    });
  }

  Result<abi::CompiledCode> compile_ptx(const ir::Program& program, const Options& options) {
    return of_variants(program, options, [&](Kernels& kernels) { return compile_variants(program, kernels, options); });
  }

  Result<abi::CompiledCode> compile_variants(const ir::Program& program, Kernels& kernels, const Options& options) {
    const TargetFeatures features = device_features();
    const std::vector<std::size_t> order = kernels.in_order();
    PtxMaker maker(program.name(), order.size(), options.log);
    std::size_t emitted = 0;
    for (const std::size_t module : order) {
      PADLOCK_TRY(CodeModule code, emit_module(program, kernels, {features, options, module, emitted}, machine()));
      emitted += instructions_of(code);
      maker.begin(module, std::move(code), module == order.back());
    }
    PADLOCK_TRY(const std::string ptx, maker.take());
    return code_of(ptx, std::move(kernels.contracts));
  }

  Result<abi::CompiledCode> compile_simt(const ir::Program& program, const Options& options) {
    Options checked = options;
    checked.bounds_check = true;
    return of_variants(program, checked, [&](Kernels& kernels) -> Result<abi::CompiledCode> {
      PADLOCK_TRY(CodeModule code, emit_module(program, kernels, {twin_features(), checked}, host_.machine()));
      return image_of(code, std::move(kernels.contracts), options.log);
    });
  }

  static Result<abi::CompiledCode> image_of(CodeModule& code, std::vector<std::vector<abi::KernelAbi>> kernels,
                                            PassLog* log) {
    simplify(code, 0, log);
    PADLOCK_CHECK(limit_work(code, /*bounds_check=*/true));
    // Checked code runs once or a few times, so quick compilation matters more than fast code.
    code.machine->setOptLevel(llvm::CodeGenOptLevel::None);
    PassTimer timer(log, "codegen");
    PADLOCK_TRY(const llvm::SmallVector<char> object,
                generate_code(*code.module, *code.machine, llvm::CodeGenFileType::ObjectFile));
    timer.next("link");
    return link_image(object, std::move(kernels));
  }

  /// Returns whether f64 is slow. All but three architectures have so few f64 units that a warp waits 16 to 32 cycles
  /// for each operation.
  [[nodiscard]] bool has_few_f64_units() const {
    return architecture_ != "sm_80" && architecture_ != "sm_90" && architecture_ != "sm_100";
  }

  /// (CUDA Programming Guide, technical specifications by compute capability.)
  [[nodiscard]] int most_threads() const {
    const int number = abi::gpu_target_number(architecture_);
    if (number == 75) return 1024;
    return (number > 80 && number < 90) || number >= 110 ? 1536 : 2048;
  }

  [[nodiscard]] bool copies_in_bulk() const { return abi::gpu_target_number(architecture_) >= 90; }

  [[nodiscard]] TargetFeatures device_features() const {
    return {.cpu = architecture_,
            .features = "",
            .f16c = true,
            .rounds_floats = true,
            .fma = true,
            .packs_words = true,
            .f16_arithmetic = true,
            .f16_masks = abi::gpu_target_number(architecture_) >= 80,   // PTX 6.5
            .bf16_masks = abi::gpu_target_number(architecture_) >= 90,  // PTX 7.8
            .bounds_nans = abi::gpu_target_number(architecture_) >= 80,
            .few_f64_units = has_few_f64_units(),
            .permutes_bytes = true,
            .sets_bits = abi::gpu_target_number(architecture_) >= 89,
            .abs16 = false,  // ptxas takes the result of abs.s16 for positive
            .global_space = 1,
            .aligned_elements = true,
            .fetches_lines = abi::gpu_target_number(architecture_) >= 87,  // PTX 7.4
            .copies_in_bulk = copies_in_bulk(),
            .waits = abi::gpu_target_number(architecture_) >= 90,  // PTX 7.8
            .most_threads = most_threads(),
            .takes_words = true};
  }

  [[nodiscard]] MachineHandle machine() const {
    if (auto kept = machines_->take()) return {kept.release(), {machines_}};
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    // ptxas optimises by itself. Optimising in LLVM first takes two thirds of the time and changes the result by 1 %.
    return {nvptx()->createTargetMachine(llvm::Triple("nvptx64-nvidia-cuda"), architecture_, ptx_version(), options,
                                         std::nullopt, std::nullopt, llvm::CodeGenOptLevel::None),
            {machines_}};
  }

  /// LLVM's own choice for sm_90 is PTX 7.8, which lacks bulk copies.
  [[nodiscard]] std::string ptx_version() const { return abi::gpu_target_number(architecture_) == 90 ? "+ptx80" : ""; }

  [[nodiscard]] TargetFeatures twin_features() const {
    TargetFeatures made = host_.features();
    made.packs_words = true;
    made.few_f64_units = has_few_f64_units();
    made.copies_in_bulk = copies_in_bulk();
    return made;
  }

  /// Makes something of a program's variants. Where the result is beyond a limit, makes it again without the schedules
  /// that serve only some sizes.
  template <class Make>
  auto of_variants(const ir::Program& program, const Options& options, const Make& make)
      -> std::invoke_result_t<Make, Kernels&> {
    Kernels kernels;
    PADLOCK_TRY(kernels.proven, prove_all(program, options));
    kernels.list_variants();
    auto made = make(kernels);
    if (made || made.error().code != Code::resource_exhausted || !kernels.keep_first_schedules()) return made;
    kernels.list_variants();
    return make(kernels);
  }

  struct EmitOptions {
    const TargetFeatures& features;
    const Options& options;
    std::optional<std::size_t> module = {};  // absent: all
    std::size_t emitted = 0;                 // instructions of the program's modules before this one
  };

  /// Emits the variants of one module, or of all modules.
  static Result<CodeModule> emit_module(const ir::Program& program, Kernels& kernels, const EmitOptions& emit,
                                        MachineHandle machine) {
    const PassTimer timer(emit.options.log, "emit");
    CodeModule code(program.name(), std::move(machine));
    for (std::size_t k = 0; k < kernels.proven.size(); ++k) {
      for (std::size_t v = 0; v < kernels.variants[k].size(); ++v) {
        const GpuVariant& variant = kernels.variants[k][v];
        if (emit.module && v != *emit.module) continue;
        abi::KernelAbi& abi = kernels.contracts[k][v];
        const ProvenKernel& proven = kernels.proven[k][variant.schedule];
        abi = emit_gpu_kernel(*code.module, proven, variant, emit.features, emit.options.bounds_check);
        if (emit.features.takes_words) PADLOCK_CHECK(check_parameters(abi));
      }
      PADLOCK_CHECK(limit_emitted(code, emit.emitted));
    }
    if (emit.options.edits != nullptr) emit.options.edits->emitted(*code.module);
    PADLOCK_CHECK(code.verify());
    return code;
  }

  static Status check_parameters(const abi::KernelAbi& abi) {
    const std::size_t words = abi::ParameterWords(abi).count;
    if (words <= abi::ParameterWords::kMost) return {};
    return beyond_limits(fmt::format("kernel {} has {} bytes of parameters, a launch takes {}", abi.name, 8 * words,
                                     8 * abi::ParameterWords::kMost));
  }

  std::string architecture_;
  HostTarget host_;
  std::shared_ptr<MachinePool> machines_ = std::make_shared<MachinePool>();
};

}  // namespace

Result<std::unique_ptr<TargetCompiler>> make_gpu_compiler(std::string_view target) {
  const std::vector<std::string> known = abi::gpu_targets();
  if (std::ranges::find(known, target) == known.end()) return unknown_target(target, {});
  if (nvptx() == nullptr) return unavailable("this LLVM has no back end for NVIDIA GPUs");
  PADLOCK_TRY(HostTarget host, HostTarget::create("host"));
  return std::make_unique<LlvmGpuCompiler>(std::string(target), std::move(host));
}

}  // namespace padlock::compiler
