#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/llvm/emit_expr.h"
#include "compiler/llvm/emit_host.h"
#include "compiler/prover/proven_kernel.h"

// Shared between the functions of a kernel: the entry, which deals out rows and columns, and the bodies, which it calls
// for each segment.
namespace padlock::compiler {

/// What all functions of one kernel share.
struct KernelContext {
  llvm::Module& module;
  const ProvenKernel& proven;
  const Schedule& schedule;  // of `proven`
  const TargetFeatures& target;
  bool bounds_check;
  ir::KernelAbi& abi;
  SizeTable& sizes;
  IndexWidths& widths;

  [[nodiscard]] ir::ExprContext& exprs() const { return schedule.kernel.program->exprs(); }
  /// Position of a tensor among the launch's buffers, inputs first.
  [[nodiscard]] std::size_t buffer_of_input(ir::ValueId value) const;
  [[nodiscard]] std::size_t buffer_of_result(std::size_t result) const { return abi.inputs.size() + result; }
  [[nodiscard]] std::size_t index_of_scalar(ir::ValueId value) const;
  [[nodiscard]] bool checks_load(std::size_t body, std::size_t load) const {
    return bounds_check || proven.load_is_checked(static_cast<int>(body), static_cast<int>(load));
  }
  [[nodiscard]] bool checks_stores(std::size_t body) const {
    return bounds_check || proven.stores_are_checked(static_cast<int>(body));
  }
  /// Whether a body is told names and extents of what it loads.
  [[nodiscard]] bool checks_any_load(std::size_t body) const {
    for (std::size_t i = 0; i < schedule.bodies[body].loads.size(); ++i)
      if (checks_load(body, i)) return true;
    return false;
  }
};

/// Attributes of every function: the target's CPU, no calls made up by LLVM, nothing unwinds.
void set_attributes(llvm::Function& function, const TargetFeatures& target);

/// The parts of a launch, loaded where the builder stands: of a HostLaunch, or of a GPU kernel's
/// ir::ParameterWords.
struct LaunchFields {
  LaunchFields(llvm::IRBuilder<>& builder, llvm::Value* launch, const KernelContext& context);
  llvm::Value* buffers;
  llvm::Value* sizes;
  llvm::Value* scalars;
  llvm::Value* fault;

  [[nodiscard]] llvm::Value* buffer(llvm::IRBuilder<>& builder, std::size_t index) const;

 private:
  unsigned space_;  // of the buffers
};

/// Whether all conditions of a predicate hold, as i1.
[[nodiscard]] llvm::Value* emit_predicate(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph,
                                          PredicateId predicate);

/// A body: void(launch, begin, end, row, (thread), [tensor, base, (access, extent)] per load, outer coordinates).
/// `row` is the element offset of the row in the output, `thread` the one of the team that shares the run.
[[nodiscard]] llvm::Function* emit_body(KernelContext& context, std::size_t index);

}  // namespace padlock::compiler
