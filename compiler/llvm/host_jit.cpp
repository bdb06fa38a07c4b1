#include <atomic>
#include <mutex>
#include <ranges>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/host_compiler.h"
#include "compiler/llvm/emit_host.h"
#include "compiler/llvm/host_code.h"
#include "compiler/llvm/host_target.h"
#include "compiler/lowering.h"

namespace padlock::compiler {
namespace {

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
  JitExecutable(ir::KernelAbi contract, ir::HostEntry code_entry, std::shared_ptr<CodeLibrary> code,
                std::unique_ptr<JitExecutable> variant)
      : abi_(std::move(contract)), entry_(code_entry), code_(std::move(code)), specialised_(std::move(variant)) {}
  [[nodiscard]] const ir::KernelAbi& abi() const override { return abi_; }
  [[nodiscard]] ir::HostEntry entry() const override { return entry_; }
  [[nodiscard]] const ir::HostExecutable* specialised() const override { return specialised_.get(); }

 private:
  ir::KernelAbi abi_;
  ir::HostEntry entry_;
  std::shared_ptr<CodeLibrary> code_;  // shared by the kernels of one program
  std::unique_ptr<JitExecutable> specialised_;
};

/// An emitted module with the contracts of its kernels.
struct EmittedModule {
  std::unique_ptr<llvm::OptPassGate> gate;  // borrowed by the context
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::vector<std::vector<ir::KernelAbi>> kernels;  // the variants of each, the one that assumes nothing first
};

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

  [[nodiscard]] std::string target_description() const override {
    return target_.features().cpu + " " + target_.features().features;
  }

  Result<std::vector<std::unique_ptr<ir::HostExecutable>>> compile(const ir::Program& program,
                                                                   const HostOptions& options) override {
    if (!target_.runs_here())
      return failed_precondition(fmt::format("code for CPU {} may not run on this machine", target_.features().cpu));
    PADLOCK_TRY(EmittedModule emitted, emit_module(program, options));
    PADLOCK_TRY(const llvm::SmallVector<char> object,
                generate_code(*emitted.module, *emitted.machine, llvm::CodeGenFileType::ObjectFile));
    PADLOCK_CHECK(check_imports(object));
    PADLOCK_TRY(auto code, load(object));
    std::vector<std::unique_ptr<ir::HostExecutable>> executables;
    for (std::vector<ir::KernelAbi>& variants : emitted.kernels) {
      std::unique_ptr<JitExecutable> made;
      for (ir::KernelAbi& abi : variants | std::views::reverse) {
        PADLOCK_TRY(const ir::HostEntry entry, code->find(abi.name));
        made = std::make_unique<JitExecutable>(std::move(abi), entry, code, std::move(made));
      }
      executables.push_back(std::move(made));
    }
    return executables;
  }

  Result<std::vector<Proof>> prove(const ir::Program& program, const HostOptions& options) override {
    PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, options.mutation));
    std::vector<Proof> proofs;
    for (Kernel& kernel : kernels) {
      const HostConfig config = options.config.value_or(default_config());
      PADLOCK_TRY(Proof proof, list_obligations(schedule_for_host(std::move(kernel), config, options.mutation),
                                                {.explain = true, .cache = &proofs_}));
      proofs.push_back(std::move(proof));
    }
    return proofs;
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
    PADLOCK_TRY(const llvm::SmallVector<char> text,
                generate_code(*emitted.module, *emitted.machine, llvm::CodeGenFileType::AssemblyFile));
    return std::string(text.begin(), text.end());
  }

 private:
  Result<EmittedModule> emit_module(const ir::Program& program, const HostOptions& options) {
    PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, options.mutation));
    EmittedModule emitted{make_pass_gate(), std::make_unique<llvm::LLVMContext>(), nullptr, target_.machine(), {}};
    emitted.context->setOptPassGate(*emitted.gate);
    emitted.module = std::make_unique<llvm::Module>(program.name(), *emitted.context);
    emitted.module->setDataLayout(emitted.machine->createDataLayout());
    emitted.module->setTargetTriple(emitted.machine->getTargetTriple());
    const HostConfig config = options.config.value_or(default_config());
    for (Kernel& kernel : kernels) {
      PADLOCK_TRY(const ProvenKernel proven,
                  compiler::prove(schedule_for_host(std::move(kernel), config, options.mutation), {.cache = &proofs_}));
      emitted.kernels.push_back(emit_host_kernel(*emitted.module, proven, target_.features(), options.bounds_check));
    }
#ifndef NDEBUG
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*emitted.module, &stream)) return internal_error("emitted LLVM IR is not valid: " + problem);
#endif
    simplify(*emitted.module, *emitted.machine);
    return emitted;
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

  HostTarget target_;
  ProofCache proofs_;
  std::mutex mutex_;                  // guards session_
  std::shared_ptr<Session> session_;  // shared with executables, which may outlive the compiler
};

}  // namespace

Result<std::unique_ptr<HostCompiler>> HostCompiler::create(std::string_view target) {
  PADLOCK_TRY(HostTarget made, HostTarget::create(target));
  return std::make_unique<LlvmHostCompiler>(std::move(made));
}

}  // namespace padlock::compiler
