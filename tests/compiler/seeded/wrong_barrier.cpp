#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "tests/compiler/seeded/seeded_bugs.h"

// Bugs of what orders a block's threads, in code that runs them one after the other. A thread goes beyond the barrier,
// or the barrier stands before what others write. Copies in bulk: a thread does not wait for them, one is a vector
// short, or the barrier object is told of a vector less than comes.
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

/// Takes a vector from a number of bytes, wherever it is used.
void take_vector(llvm::Instruction& bytes) {
  llvm::IRBuilder<> builder(bytes.getNextNode());
  llvm::Value* less = builder.CreateSub(&bytes, builder.getInt32(16));
  bytes.replaceUsesWithIf(less, [&](llvm::Use& use) { return use.getUser() != less; });
}

void edit_bulk(llvm::Function& function, Mutation mutation) {
  std::vector<llvm::Instruction*> waited, copied, told;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    if (each.getName().starts_with("waited")) waited.push_back(&each);
    if (each.getName().starts_with("copied")) copied.push_back(&each);
    if (each.getName().starts_with("told")) told.push_back(&each);
  }
  if (mutation == Mutation::bulk_wait_dropped)
    for (llvm::Instruction* each : waited) each->replaceAllUsesWith(llvm::ConstantInt::getFalse(each->getContext()));
  if (mutation == Mutation::bulk_bytes_short && !copied.empty()) take_vector(*copied.front());
  if (mutation == Mutation::bulk_bytes_untold && !told.empty()) take_vector(*told.back());
}

}  // namespace

void edit_barrier(llvm::Module& module, Mutation mutation) {
  if (judge_of(mutation) != Judge::race) return;
  for (llvm::Function& function : module) {
    if (is_of_bulk(mutation))
      edit_bulk(function, mutation);
    else if (const Barrier found(function); found.barrier != nullptr)
      edit(function, found, mutation);
  }
}

}  // namespace padlock::compiler
