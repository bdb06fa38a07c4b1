#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

/// Emits what any target does with one row of a task: it chooses the row's case and makes the arguments of the bodies
/// of its segments.
class RowEmitter {
 public:
  /// All borrowed.
  RowEmitter(KernelContext& context, llvm::IRBuilder<>& builder, ExprEmitter& exprs)
      : context_(context), builder_(builder), exprs_(exprs) {}

  /// Loads the input pointers where the builder stands. Borrows the fields, which outlive the emitter.
  void load_buffers(const LaunchFields& fields);
  /// Emits where the runs of the segments begin and end in columns [first, last).
  void set_columns(llvm::Value* first, llvm::Value* last);
  /// Emits the outer coordinates of a row, by division; or those of the axes that number it, the last one innermost.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row);
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row, std::span<const int> axes);
  /// Gives the expressions those coordinates, in that type.
  void set_row(llvm::Value* row, llvm::Type* type);
  void set_row(llvm::Value* row, llvm::Type* type, std::span<const int> axes);

  using EmitCase = llvm::function_ref<std::vector<llvm::Value*>(const ScheduledCase& row_case)>;
  /// Emits the row whose outer coordinates the expressions have, its data first, in the columns set last: `emit_case`
  /// emits the code of each case, and returns as many values. Returns those of the row's case; the builder stands after
  /// it.
  std::vector<llvm::Value*> emit_row(EmitCase emit_case);
  /// Emits what a body loads, and from where, for a segment of the row whose outer coordinates the expressions have.
  void set_loads(const SegmentCall& call, BodyArguments& arguments);
  /// Returns the body's arguments for a segment of that row; for `rows` rows, where they are taken together.
  [[nodiscard]] BodyArguments arguments_of(const SegmentCall& call, llvm::Value* rows = nullptr);
  /// The same for columns [begin, end) of that row instead of those set last.
  [[nodiscard]] BodyArguments arguments_of(const SegmentCall& call, llvm::Value* begin, llvm::Value* end,
                                           llvm::Value* rows);
  /// In a case: emits a lower bound of how many rows from this one on, along the last outer axis, are of the same case
  /// with the same steps from row to row.
  [[nodiscard]] llvm::Value* rows_with_same_case(const ScheduledCase& which);

  /// In a case: the element offset of the row in the output, and what its loads start from.
  [[nodiscard]] llvm::Value* row_offset() const { return row_offset_; }
  [[nodiscard]] std::vector<llvm::Value*> bases_of(const std::vector<LoadSource>& sources);

  /// Return the columns at which the run of a segment begins and ends, in the columns set last.
  [[nodiscard]] llvm::Value* run_begin(const SegmentCall& call) const { return runs_.at(call.run_begin.id()); }
  [[nodiscard]] llvm::Value* run_end(const SegmentCall& call) const { return runs_.at(call.run_end.id()); }
  /// Emits whether the columns set last have nothing of a segment.
  [[nodiscard]] llvm::Value* is_empty(const SegmentCall& call);

  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  void set_row_data();
  llvm::Value* emit_row_offset();
  llvm::Value* base_of(const LoadSource& source);
  void set_storage(ir::ValueId tensor, BodyArguments::Load& load);
  llvm::Value* origin_of(ir::ValueId tensor);
  void set_row_values(std::size_t body, BodyArguments& arguments);

  void emit_tree(int root, llvm::BasicBlock* next, EmitCase emit_case, Ways& ways);
  std::optional<Int128> even_step(const Condition& condition);
  llvm::Value* rows_holding(PredicateId predicate);
  llvm::Value* rows_failing(PredicateId predicate);

  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  llvm::Value* row_offset_ = nullptr;
  std::vector<std::pair<PredicateId, bool>> path_;  // the tests that led to the case, and whether they held
  const LaunchFields* fields_ = nullptr;
  std::vector<llvm::Value*> buffers_;
  std::map<std::uint32_t, llvm::Value*> runs_;  // where they begin and end, by Expr::id
};

/// The contract as far as it is known before code: sizes are collected while it is emitted.
[[nodiscard]] abi::KernelAbi contract_of(const Schedule& schedule);

}  // namespace padlock::compiler
