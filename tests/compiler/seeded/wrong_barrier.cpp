#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "tests/compiler/seeded/seeded_bugs.h"

// Bugs of the barrier between a tile's loads and stores, in code that runs threads one after the other: a thread
// continues with the stores, or the barrier stands before the loads.
namespace padlock::compiler {
namespace {

/// The blocks around a barrier, if a function has one.
struct Barrier {
  llvm::BasicBlock *before = nullptr, *barrier = nullptr, *after = nullptr;

  explicit Barrier(llvm::Function& function) {
    for (llvm::BasicBlock& block : function) {
      if (block.getName() == "before_barrier") before = &block;
      if (block.getName() == "barrier") barrier = &block;
      if (block.getName() == "after_barrier") after = &block;
    }
  }
};

void edit(llvm::Function& function, const Barrier& found, Mutation mutation) {
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction& end = *block.getTerminator();
    const bool chooses = end.getNumSuccessors() == 2 && end.getSuccessor(0) == found.before;
    if (!chooses) {
      end.replaceSuccessorWith(found.barrier, found.after);
    } else if (mutation == Mutation::barrier_early) {
      end.setSuccessor(0, found.barrier);
      end.setSuccessor(1, found.before);
    }
  }
}

}  // namespace

void edit_barrier(llvm::Module& module, Mutation mutation) {
  if (judge_of(mutation) != Judge::race) return;
  for (llvm::Function& function : module)
    if (const Barrier found(function); found.barrier != nullptr) edit(function, found, mutation);
}

}  // namespace padlock::compiler
