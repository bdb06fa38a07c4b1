#include "tests/activation/wrong_constant.h"

#include <cmath>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace padlock::activation {
namespace {

bool is(ir::DType dtype, const llvm::Type* type) {
  return dtype == ir::DType::f64 ? type->isDoubleTy() : type->isFloatTy();
}

/// Calls `visit` with each operand that is a number of the type, or a vector of one such number.
template <class Visit>
void visit_constants(llvm::User& user, ir::DType dtype, const Visit& visit) {
  for (llvm::Use& use : user.operands()) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
    if (constant == nullptr || !is(dtype, constant->getType()->getScalarType())) continue;
    const llvm::Constant* one = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(one);
    if (number == nullptr) continue;
    visit(use, dtype == ir::DType::f64 ? number->getValueAPF().convertToDouble()
                                       : double{number->getValueAPF().convertToFloat()});
  }
}

/// The same of all instructions, and of the places that they load constants from.
template <class Visit>
void for_each_constant(llvm::Module& module, ir::DType dtype, const Visit& visit) {
  for (llvm::GlobalVariable& place : module.globals()) visit_constants(place, dtype, visit);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) visit_constants(instruction, dtype, visit);
}

}  // namespace

void ConstantsOfCode::emitted(llvm::Module& module) const {
  for_each_constant(module, dtype_, [&](const llvm::Use&, double value) {
    if (value != 0 && std::isfinite(value)) constants_.insert(value);
  });
}

void WrongConstant::emitted(llvm::Module& module) const {
  for_each_constant(module, dtype_, [&](llvm::Use& use, double value) {
    if (value == right_) use.set(llvm::ConstantFP::get(use->getType(), wrong_));
  });
}

}  // namespace padlock::activation
