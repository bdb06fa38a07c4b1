#include <atomic>
#include <mutex>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/host_compiler.h"
#include "compiler/llvm/emit_host.h"
#include "compiler/lowering.h"

namespace padlock::compiler {
namespace {

/// LLVM's one-time set-up, the documented exception to "no global state".
void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::unexpected<Error> llvm_error(const char* doing, llvm::Error error) {
  return internal_error(fmt::format("LLVM failed while {}: {}", doing, llvm::toString(std::move(error))));
}

std::string join_features(const llvm::StringMap<bool>& features) {
  std::string text;
  for (const auto& feature : features)
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", feature.second ? '+' : '-', feature.first().str());
  return text;
}

/// The JIT and the code in it; what an executable keeps alive.
struct Session {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::atomic<int> next_library{0};
};

/// One compiled program's code, freed with the last of its executables.
class CodeLibrary {
 public:
  CodeLibrary(std::shared_ptr<Session> session, llvm::orc::JITDylib& library)
      : session_(std::move(session)), library_(library) {}
  ~CodeLibrary() {
    // Freeing can only fail for a library that is still being compiled.
    llvm::consumeError(session_->jit->getExecutionSession().removeJITDylib(library_));
  }
  CodeLibrary(const CodeLibrary&) = delete;
  CodeLibrary& operator=(const CodeLibrary&) = delete;

  Result<ir::HostEntry> find(const std::string& name) {
    auto address = session_->jit->lookup(library_, name);
    if (!address) return llvm_error("looking up an entry", address.takeError());
    return address->toPtr<ir::HostEntry>();
  }

 private:
  std::shared_ptr<Session> session_;  // shared: executables may outlive the compiler
  llvm::orc::JITDylib& library_;      // owned by the session
};

class JitExecutable final : public ir::HostExecutable {
 public:
  JitExecutable(ir::KernelAbi contract, ir::HostEntry code_entry, std::shared_ptr<CodeLibrary> code)
      : abi_(std::move(contract)), entry_(code_entry), code_(std::move(code)) {}
  [[nodiscard]] const ir::KernelAbi& abi() const override { return abi_; }
  [[nodiscard]] ir::HostEntry entry() const override { return entry_; }

 private:
  ir::KernelAbi abi_;
  ir::HostEntry entry_;
  std::shared_ptr<CodeLibrary> code_;  // shared by the kernels of one program
};

/// An emitted module with the contracts of its kernels.
struct EmittedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::vector<ir::KernelAbi> abis;
};

class LlvmHostCompiler final : public HostCompiler {
 public:
  LlvmHostCompiler(const llvm::Target& target, HostFeatures features, bool runs_here)
      : target_(target), features_(std::move(features)), runs_here_(runs_here) {}

  [[nodiscard]] HostConfig default_config() const override {
    HostConfig config;
    const bool avx = features_.features.find("+avx") != std::string::npos;
    config.vector_bytes = avx ? 32 : 16;
    return config;
  }

  [[nodiscard]] std::string target_description() const override {
    return features_.cpu + " " + features_.features;
  }

  Result<std::vector<std::unique_ptr<ir::HostExecutable>>> compile(const ir::Program& program,
                                                                  const HostOptions& options) override {
    if (!runs_here_)
      return std::unexpected(Error{Code::failed_precondition, Blame::user,
                                   fmt::format("code for CPU {} may not run on this machine", features_.cpu), {}, {}});
    PADLOCK_TRY(EmittedModule emitted, emit_module(program, options));
    PADLOCK_TRY(const llvm::SmallVector<char> object, generate(*emitted.module, llvm::CodeGenFileType::ObjectFile));
    PADLOCK_CHECK(check_imports(object));
    PADLOCK_TRY(auto code, load(object));
    std::vector<std::unique_ptr<ir::HostExecutable>> executables;
    for (ir::KernelAbi& abi : emitted.abis) {
      PADLOCK_TRY(const ir::HostEntry entry, code->find(abi.name));
      executables.push_back(std::make_unique<JitExecutable>(std::move(abi), entry, code));
    }
    return executables;
  }

  Result<std::string> emit(const ir::Program& program, Stage stage, const HostOptions& options) override {
    if (stage == Stage::kernel) {
      PADLOCK_TRY(const std::vector<Kernel> kernels, lower(program, options.mutation));
      std::string text;
      for (const Kernel& kernel : kernels) text += to_string(kernel);
      return text;
    }
    PADLOCK_TRY(EmittedModule emitted, emit_module(program, options));
    if (stage == Stage::llvm) {
      std::string text;
      llvm::raw_string_ostream(text) << *emitted.module;
      return text;
    }
    PADLOCK_TRY(const llvm::SmallVector<char> text, generate(*emitted.module, llvm::CodeGenFileType::AssemblyFile));
    return std::string(text.begin(), text.end());
  }

 private:
  /// One for each compile: a TargetMachine is not thread-safe.
  [[nodiscard]] std::unique_ptr<llvm::TargetMachine> machine() const {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(
        target_.createTargetMachine(llvm::Triple(llvm::sys::getProcessTriple()), features_.cpu, features_.features,
                                    options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                    llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  }

  Result<EmittedModule> emit_module(const ir::Program& program, const HostOptions& options) {
    PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, options.mutation));
    EmittedModule emitted{std::make_unique<llvm::LLVMContext>(), nullptr, {}};
    emitted.module = std::make_unique<llvm::Module>(program.name(), *emitted.context);
    const std::unique_ptr<llvm::TargetMachine> machine = this->machine();
    emitted.module->setDataLayout(machine->createDataLayout());
    emitted.module->setTargetTriple(machine->getTargetTriple());
    for (Kernel& kernel : kernels) {
      const HostSchedule schedule = schedule_for_host(std::move(kernel), options.config.value_or(default_config()),
                                                      options.mutation);
      emitted.abis.push_back(emit_host_kernel(*emitted.module, schedule, features_, options.bounds_check));
    }
#ifndef NDEBUG
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*emitted.module, &stream)) return internal_error("emitted LLVM IR is not valid: " + problem);
#endif
    simplify(*emitted.module, *machine);
    return emitted;
  }

  /// The schedule emits final vectors and loops, so that only common subexpressions and empty blocks are left to do.
  static void simplify(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::SimplifyCFGPass());
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) passes.run(function, functions);
  }

  [[nodiscard]] Result<llvm::SmallVector<char>> generate(llvm::Module& module, llvm::CodeGenFileType type) const {
    llvm::SmallVector<char> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    const std::unique_ptr<llvm::TargetMachine> machine = this->machine();
    if (machine->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
      return internal_error("LLVM cannot emit code of this kind for this machine");
    passes.run(module);
    return bytes;
  }

  /// A kernel calls nothing: what it would import is a library function that LLVM put in.
  static Status check_imports(const llvm::SmallVector<char>& object) {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "padlock");
    auto file = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!file) return llvm_error("reading its object", file.takeError());
    for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
      auto flags = symbol.getFlags();
      if (!flags) return llvm_error("reading its symbols", flags.takeError());
      if ((*flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
      auto name = symbol.getName();
      if (!name) return llvm_error("reading its symbols", name.takeError());
      if (!name->empty()) return internal_error(fmt::format("emitted code imports '{}'; expected no import", name->str()));
    }
    return {};
  }

  Result<std::shared_ptr<Session>> session() {
    const std::lock_guard lock(mutex_);
    if (session_) return session_;
    auto jit = llvm::orc::LLJITBuilder()
                   .setLinkProcessSymbolsByDefault(false)
                   .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                   .create();
    if (!jit) return llvm_error("starting its JIT", jit.takeError());
    session_ = std::make_shared<Session>();
    session_->jit = std::move(*jit);
    return session_;
  }

  Result<std::shared_ptr<CodeLibrary>> load(const llvm::SmallVector<char>& object) {
    PADLOCK_TRY(std::shared_ptr<Session> session, this->session());
    auto library = session->jit->createJITDylib(fmt::format("padlock.{}", session->next_library++));
    if (!library) return llvm_error("making a library", library.takeError());
    auto code = std::make_shared<CodeLibrary>(session, *library);
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "padlock");
    if (llvm::Error error = session->jit->addObjectFile(*library, std::move(buffer)))
      return llvm_error("adding an object", std::move(error));
    return code;
  }

  const llvm::Target& target_;
  HostFeatures features_;
  bool runs_here_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;  // shared with executables, which may outlive the compiler
};

/// The feature names that are on when `cpu` is asked for.
HostFeatures features_of(const llvm::Target& target, const std::string& cpu, std::string features) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      target.createMCSubtargetInfo(llvm::Triple(llvm::sys::getProcessTriple()), cpu, features));
  return {cpu, std::move(features), info->checkFeatures("+f16c")};
}

/// Whether this machine has every feature that code for `cpu` may use.
bool runs_here(const llvm::Target& target, const std::string& cpu) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  const std::unique_ptr<llvm::MCSubtargetInfo> wanted(target.createMCSubtargetInfo(triple, cpu, ""));
  const std::unique_ptr<llvm::MCSubtargetInfo> here(target.createMCSubtargetInfo(
      triple, llvm::sys::getHostCPUName(), join_features(llvm::sys::getHostCPUFeatures())));
  // Only instruction sets: LLVM's feature names include tuning, which does not matter.
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = "+" + feature.first().str();
    if (wanted->checkFeatures(name) && !here->checkFeatures(name)) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<HostCompiler>> HostCompiler::create(std::string_view target) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  if (triple.getArch() != llvm::Triple::x86_64)
    return unavailable(fmt::format("the host target is x86-64; this machine is {}", triple.getArchName().str()));
  initialize_llvm();
  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (found == nullptr) return unavailable("LLVM has no back end for this machine: " + problem);
  if (target == "host") {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    return std::make_unique<LlvmHostCompiler>(
        *found, features_of(*found, llvm::sys::getHostCPUName().str(), join_features(features)), true);
  }
  constexpr std::string_view kPrefix = "host:";
  const std::string cpu(target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : "");
  const std::unique_ptr<llvm::MCSubtargetInfo> known(found->createMCSubtargetInfo(triple, "", ""));
  if (cpu.empty() || !known->isCPUStringValid(cpu))
    return invalid_argument(fmt::format(
        "unknown target '{}': expected host, or host:CPU with an LLVM CPU name such as host:x86-64, host:x86-64-v3, "
        "host:x86-64-v4, host:skylake-avx512, host:sapphirerapids or host:znver4",
        target));
  HostFeatures features = features_of(*found, cpu, "");
  return std::make_unique<LlvmHostCompiler>(*found, std::move(features), runs_here(*found, cpu));
}

}  // namespace padlock::compiler
