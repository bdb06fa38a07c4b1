#include "compiler/llvm/jit_loader.h"

#include <atomic>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include "compiler/llvm/host_code.h"

namespace padlock::compiler {

/// The JIT and the code in it; what an executable keeps alive.
struct JitLoader::Session {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::atomic<int> next_library{0};
};

/// One compiled program's code, freed with the last of its executables.
class JitLoader::CodeLibrary {
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

class JitLoader::Executable final : public ir::HostExecutable {
 public:
  Executable(ir::KernelAbi contract, ir::HostEntry code_entry, std::shared_ptr<CodeLibrary> code,
             std::unique_ptr<Executable> variant)
      : abi_(std::move(contract)), entry_(code_entry), code_(std::move(code)), specialised_(std::move(variant)) {}
  [[nodiscard]] const ir::KernelAbi& abi() const override { return abi_; }
  [[nodiscard]] ir::HostEntry entry() const override { return entry_; }
  [[nodiscard]] const ir::HostExecutable* specialised() const override { return specialised_.get(); }

 private:
  ir::KernelAbi abi_;
  ir::HostEntry entry_;
  std::shared_ptr<CodeLibrary> code_;  // shared by the kernels of one program
  std::unique_ptr<Executable> specialised_;
};

JitLoader::JitLoader() = default;
JitLoader::~JitLoader() = default;

Result<std::vector<std::unique_ptr<ir::HostExecutable>>> JitLoader::load(
    const llvm::SmallVector<char>& object, std::vector<std::vector<ir::KernelAbi>> kernels) {
  PADLOCK_CHECK(check_imports(object));
  PADLOCK_TRY(auto code, add(object));
  std::vector<std::unique_ptr<ir::HostExecutable>> executables;
  for (std::vector<ir::KernelAbi>& variants : kernels) {
    std::unique_ptr<Executable> made;
    for (ir::KernelAbi& abi : variants | std::views::reverse) {
      PADLOCK_TRY(const ir::HostEntry entry, code->find(abi.name));
      made = std::make_unique<Executable>(std::move(abi), entry, code, std::move(made));
    }
    executables.push_back(std::move(made));
  }
  return executables;
}

Result<std::shared_ptr<JitLoader::Session>> JitLoader::session() {
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

Result<std::shared_ptr<JitLoader::CodeLibrary>> JitLoader::add(const llvm::SmallVector<char>& object) {
  PADLOCK_TRY(std::shared_ptr<Session> session, this->session());
  auto library = session->jit->createJITDylib(fmt::format("padlock.{}", session->next_library++));
  if (!library) return llvm_error("making a library", library.takeError());
  auto code = std::make_shared<CodeLibrary>(session, *library);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "padlock");
  if (llvm::Error error = session->jit->addObjectFile(*library, std::move(buffer)))
    return llvm_error("adding an object", std::move(error));
  return code;
}

}  // namespace padlock::compiler
