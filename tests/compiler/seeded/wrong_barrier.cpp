#include "tests/compiler/seeded/wrong_barrier.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace padlock::compiler {
namespace {

/// The blocks on the way round a barrier, where a function has one.
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

class WrongBarrier final : public PassEdits {
 public:
  explicit WrongBarrier(BarrierBug bug) : bug_(bug) {}

  void emitted(llvm::Module& module) const override {
    for (llvm::Function& function : module)
      if (const Barrier found(function); found.barrier != nullptr) edit(function, found);
  }

 private:
  void edit(llvm::Function& function, const Barrier& found) const {
    for (llvm::BasicBlock& block : function) {
      llvm::Instruction& end = *block.getTerminator();
      const bool chooses = end.getNumSuccessors() == 2 && end.getSuccessor(0) == found.before;
      if (!chooses) {
        end.replaceSuccessorWith(found.barrier, found.after);
      } else if (bug_ == BarrierBug::early) {
        end.setSuccessor(0, found.barrier);
        end.setSuccessor(1, found.before);
      }
    }
  }

  BarrierBug bug_;
};

}  // namespace

const PassEdits* edits_of(BarrierBug bug) {
  static const WrongBarrier dropped(BarrierBug::dropped), early(BarrierBug::early);
  return bug == BarrierBug::dropped ? &dropped : &early;
}

}  // namespace padlock::compiler
