#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/executable.h"
#include "support/error.h"

namespace padlock::compiler {

/// Loads objects with host entries into this process. Thread-safe; what it loaded may outlive it.
class JitLoader {
 public:
  JitLoader();
  ~JitLoader();

  /// One executable for each kernel, of which `kernels` has the contracts of the variants, the one that assumes nothing
  /// first. The object is checked to import nothing. Errors: internal, LLVM's.
  [[nodiscard]] Result<std::vector<std::unique_ptr<ir::HostExecutable>>> load(
      const llvm::SmallVector<char>& object, std::vector<std::vector<ir::KernelAbi>> kernels);

 private:
  struct Session;
  class CodeLibrary;
  class Executable;
  Result<std::shared_ptr<Session>> session();
  Result<std::shared_ptr<CodeLibrary>> add(const llvm::SmallVector<char>& object);

  std::mutex mutex_;                  // guards session_
  std::shared_ptr<Session> session_;  // shared with executables
};

}  // namespace padlock::compiler
