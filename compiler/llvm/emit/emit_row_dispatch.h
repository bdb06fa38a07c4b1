#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/llvm/emit/kernel_function.h"
#include "compiler/schedule/loop_strategy.h"

namespace padlock::compiler {

/// Emits what any target does with one row of a task: it chooses the row's case, and says what the bodies of its
/// segments are told.
class RowEmitter {
 public:
  /// All borrowed.
  RowEmitter(KernelContext& context, llvm::IRBuilder<>& builder, ExprEmitter& exprs)
      : context_(context), builder_(builder), exprs_(exprs) {}

  /// Loads the input pointers where the builder stands.
  void load_buffers(const LaunchFields& fields);
  /// Where the runs of the segments begin and end in columns [first, last).
  void set_columns(llvm::Value* first, llvm::Value* last);
  /// The outer coordinates of a row, by division.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row);

  /// The row whose outer coordinates the expressions have, in the columns set last: `leaf(row case)` emits what is done
  /// in each case. The builder stands after it.
  template <class SpecializedDomain>
  void emit_row(SpecializedDomain&& leaf) {
    row_offset_ = emit_row_offset();
    llvm::BasicBlock* next = block("next");
    emit_case(0, next, leaf);
    builder_.SetInsertPoint(next);
  }
  /// For a segment of that row; of so many rows, where they are taken together.
  [[nodiscard]] BodyArguments arguments_of(const SegmentCall& call, llvm::Value* rows = nullptr);
  /// In a case: how many rows from this one on, along the last outer axis, are of the same case at least, with the same
  /// steps from row to row.
  [[nodiscard]] llvm::Value* rows_alike(const ScheduledCase& which);

  /// Whether the columns set last have nothing of a segment.
  [[nodiscard]] llvm::Value* is_empty(const SegmentCall& call);

  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }
  [[nodiscard]] llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  llvm::Value* emit_row_offset();

  template <class SpecializedDomain>
  void emit_case(int index, llvm::BasicBlock* next, SpecializedDomain& leaf) {
    const ScheduledCase& row = context_.schedule.cases[static_cast<std::size_t>(index)];
    if (!row.is_test()) {
      leaf(row);
      builder_.CreateBr(next);
      return;
    }
    llvm::BasicBlock* holds = block("holds");
    llvm::BasicBlock* fails = block("fails");
    builder_.CreateCondBr(emit_predicate(builder_, exprs_, kernel().graph, row.test), holds, fails);
    for (const bool held : {true, false}) {
      builder_.SetInsertPoint(held ? holds : fails);
      path_.emplace_back(row.test, held);
      emit_case(held ? row.holds : row.fails, next, leaf);
      path_.pop_back();
    }
  }
  std::optional<Int128> even_growth(const Condition& condition);
  llvm::Value* rows_holding(PredicateId predicate);
  llvm::Value* rows_failing(PredicateId predicate);

  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  llvm::Value* row_offset_ = nullptr;
  std::vector<std::pair<PredicateId, bool>> path_;  // the tests that led to the case, and whether they held
  std::vector<llvm::Value*> buffers_;
  std::map<std::uint32_t, llvm::Value*> runs_;  // where they begin and end, by Expr::id
};

/// The contract as far as it is known before code: sizes are collected while it is emitted.
[[nodiscard]] abi::KernelAbi contract_of(const Schedule& schedule);

}  // namespace padlock::compiler
