#pragma once

#include <map>
#include <vector>

#include "compiler/llvm/kernel_function.h"
#include "compiler/walk.h"

namespace padlock::compiler {

/// Emits what a function of any target does with one row of a task: it chooses the row's case and calls the bodies of
/// its segments.
class RowEmitter {
 public:
  /// `function`: what is emitted into, whose first argument is the launch. `sizes_block`: see ExprEmitter. All
  /// borrowed.
  RowEmitter(KernelContext& context, const std::vector<llvm::Function*>& bodies, llvm::IRBuilder<>& builder,
             llvm::Function& function, ExprEmitter& exprs);

  /// Loads the input pointers where the builder stands.
  void load_buffers(const LaunchFields& fields);
  /// Where the runs of the segments begin and end in columns [first, last).
  void set_columns(llvm::Value* first, llvm::Value* last);
  /// The row whose outer coordinates the expressions have, in the columns set last. `thread`: of the team that shares
  /// the row, null where there is none.
  void emit_row(llvm::Value* thread);
  /// The outer coordinates of a row, by division.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row);

  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }
  [[nodiscard]] llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, &function_);
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  llvm::Value* emit_row_offset();
  void emit_case(int index, llvm::BasicBlock* next);
  void emit_call(const SegmentCall& call);

  KernelContext& context_;
  const std::vector<llvm::Function*>& bodies_;
  llvm::IRBuilder<>& builder_;
  llvm::Function& function_;
  ExprEmitter& exprs_;
  llvm::Value* row_offset_ = nullptr;
  llvm::Value* thread_ = nullptr;
  std::vector<llvm::Value*> buffers_;
  std::map<std::uint32_t, llvm::Value*> runs_;  // where they begin and end, by Expr::id
};

/// The contract as far as it is known before code: sizes are collected while it is emitted.
[[nodiscard]] ir::KernelAbi contract_of(const Schedule& schedule);

}  // namespace padlock::compiler
