#include <cstdint>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "tests/compiler/seeded/seeded_bugs.h"

// Bugs in code that the prover does not read. They are seeded by the names of instructions.
namespace padlock::compiler {
namespace {

void add_to_operand(llvm::Instruction& instruction, unsigned operand, std::int64_t number) {
  llvm::IRBuilder<> builder(&instruction);
  llvm::Value* value = instruction.getOperand(operand);
  instruction.setOperand(operand, builder.CreateAdd(value, llvm::ConstantInt::getSigned(value->getType(), number)));
}

/// The odometer of rows never carries.
void lose_carry(llvm::Instruction& instruction) {
  if (instruction.getName().starts_with("carry") && instruction.getOpcode() == llvm::Instruction::ZExt)
    instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), 0));
}

/// A group of rows in which a condition fails takes one more.
void lengthen_group(llvm::Instruction& instruction) {
  auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  if (select == nullptr || !select->getName().starts_with("failing_rows")) return;
  add_to_operand(*select, 1, 1);
}

/// A division multiplies by one less.
void shorten_multiplier(llvm::Instruction& instruction) {
  if (instruction.getName().starts_with("multiplied") && instruction.getOpcode() == llvm::Instruction::Mul)
    add_to_operand(instruction, 1, -1);
}

/// It shifts by one more.
void shift_late(llvm::Instruction& instruction) {
  if (instruction.getName().starts_with("quotient") && instruction.getOpcode() == llvm::Instruction::LShr)
    add_to_operand(instruction, 1, 1);
}

/// It takes every dividend for one that is not negative.
void drop_sign(llvm::Instruction& instruction) {
  if (instruction.getName().starts_with("sign") && instruction.getOpcode() == llvm::Instruction::AShr)
    instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), 0));
}

auto* edit_of(Mutation mutation) {
  switch (mutation) {
    case Mutation::row_carry_lost:
      return lose_carry;
    case Mutation::row_group_long:
      return lengthen_group;
    case Mutation::division_multiplier_short:
      return shorten_multiplier;
    case Mutation::division_shift_late:
      return shift_late;
    case Mutation::division_sign_dropped:
      return drop_sign;
    default:
      return static_cast<void (*)(llvm::Instruction&)>(nullptr);
  }
}

}  // namespace

bool is_of_code(Mutation mutation) { return edit_of(mutation) != nullptr; }

void edit_code(llvm::Module& module, Mutation mutation) {
  auto* const edit = edit_of(mutation);
  if (edit == nullptr) return;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) edit(instruction);
}

}  // namespace padlock::compiler
