#include "compiler/emit/scalar/emit_index.h"

#include "ir/expr/affine.h"

namespace padlock::compiler {

using llvm::Value;

/// Modulo 2^64 the sum is right whatever its parts are.
Value* emit_index(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const BodyNode& node) {
  return exprs.address(builder, node.index, builder.getInt64Ty());
}

Value* spread_index(llvm::IRBuilder<>& builder, ir::ExprContext& exprs, const Kernel& kernel, const BodyNode& node,
                    Value* first, int lanes) {
  if (lanes == 1) return first;
  const auto form = ir::linear_in(exprs, node.index, kernel.coordinate(kernel.rank() - 1));
  const auto slope = static_cast<std::uint64_t>(static_cast<UInt128>(form->slope));
  std::vector<std::uint64_t> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(slope * static_cast<std::uint64_t>(lane));
  return builder.CreateAdd(builder.CreateVectorSplat(static_cast<unsigned>(lanes), first),
                           llvm::ConstantDataVector::get(builder.getContext(), steps));
}

}  // namespace padlock::compiler
