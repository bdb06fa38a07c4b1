#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <llvm/Target/TargetMachine.h>

namespace padlock::compiler {

/// Keeps LLVM's target machines between compiles. Making a machine, with what it works out for a CPU, is a twentieth of
/// a compile. No two threads may use one machine. Thread-safe.
class MachinePool {
 public:
  /// Machines that are kept while unused: one for each variant of a kernel. Threads that compile at once use more.
  static constexpr std::size_t kMostIdle = 8;

  /// Returns the machine that came back last, or null.
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

/// Gives a machine back to its pool. Without a pool, deletes it.
struct MachineReturn {
  std::shared_ptr<MachinePool> pool = nullptr;
  void operator()(llvm::TargetMachine* machine) const {
    std::unique_ptr<llvm::TargetMachine> owned(machine);
    if (pool) pool->give_back(std::move(owned));
  }
};
using MachineHandle = std::unique_ptr<llvm::TargetMachine, MachineReturn>;

}  // namespace padlock::compiler
