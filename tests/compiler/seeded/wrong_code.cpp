#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "tests/compiler/seeded/seeded_bugs.h"

// Bugs in code that the prover does not read: found by what the instructions are called.
namespace padlock::compiler {
namespace {

/// The odometer of rows never carries.
void lose_carry(llvm::Instruction& instruction) {
  if (instruction.getName().starts_with("carry") && instruction.getOpcode() == llvm::Instruction::ZExt)
    instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), 0));
}

/// A group of rows in which a condition fails takes one more.
void lengthen_group(llvm::Instruction& instruction) {
  auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  if (select == nullptr || !select->getName().starts_with("failing_rows")) return;
  llvm::IRBuilder<> builder(select);
  select->setTrueValue(builder.CreateAdd(select->getTrueValue(), builder.getInt64(1)));
}

}  // namespace

void edit_code(llvm::Module& module, Mutation mutation) {
  if (mutation != Mutation::row_carry_lost && mutation != Mutation::row_group_long) return;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      mutation == Mutation::row_carry_lost ? lose_carry(instruction) : lengthen_group(instruction);
}

}  // namespace padlock::compiler
