#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <llvm/Target/TargetMachine.h>

namespace padlock::compiler {

/// Keeps LLVM's target machines between compiles: making one, and what it works out for a CPU, is a twentieth of a
/// compile, and no two threads may use the same. Thread-safe.
class MachinePool {
 public:
  /// Machines that are kept while none is in use: one for each variant of a kernel. Threads that compile at once have
  /// more.
  static constexpr std::size_t kMostIdle = 8;

  /// The last one that came back, or null.
  [[nodiscard]] std::unique_ptr<llvm::TargetMachine> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto machine = std::move(idle_.back());
    idle_.pop_back();
    return machine;
  }
  void give_back(std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

/// Gives a machine back to its pool, or deletes it where it has none.
struct MachineReturn {
  std::shared_ptr<MachinePool> pool = nullptr;
  void operator()(llvm::TargetMachine* machine) const {
    std::unique_ptr<llvm::TargetMachine> owned(machine);
    if (pool) pool->give_back(std::move(owned));
  }
};
using MachineHandle = std::unique_ptr<llvm::TargetMachine, MachineReturn>;

}  // namespace padlock::compiler
