#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

/// Emits what every target does with one row of a task: it chooses the row's case, and makes the arguments of the
/// bodies of its segments.
class RowEmitter {
 public:
  /// Borrows all.
  RowEmitter(KernelContext& context, llvm::IRBuilder<>& builder, ExprEmitter& exprs)
      : context_(context), builder_(builder), exprs_(exprs) {}

  /// Loads the input pointers where the builder stands. Borrows `fields`, which must outlive the emitter.
  void load_buffers(const LaunchFields& fields);
  /// Lets searches of the rows' data begin with what they found last, in memory of the function. For a host's rows, one
  /// after another.
  void remember_searches();
  /// Emits the begin and end of each segment's run in columns [first, last).
  void set_columns(llvm::Value* first, llvm::Value* last);
  /// Emits the outer coordinates of a row by division, or the coordinates of the axes that number it. The last axis is
  /// innermost.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row);
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row, std::span<const int> axes);
  /// Gives the expressions a row's outer coordinates, in this type.
  void set_row(llvm::Value* row, llvm::Type* type);
  void set_row(llvm::Value* row, llvm::Type* type, std::span<const int> axes);
  /// If `moves` holds, gives the expressions the outer coordinates of the row after the one set last.
  void set_next_row(llvm::Value* moves, llvm::Type* type);

  using EmitCase = llvm::function_ref<std::vector<llvm::Value*>(const ScheduledCase& row_case)>;
  /// Gives the expressions what data says of the row at their outer coordinates.
  void set_row_data() {
    if (context_.schedule.row_data_call() != nullptr) row_data_ = emit_row_data({});
  }
  /// Emits the row at the expressions' outer coordinates, whose data is set, in the columns set last. `emit_case` emits
  /// each case's code, and returns equally many values for each. Returns the values of the row's case. The builder
  /// stands after the row.
  std::vector<llvm::Value*> emit_row(EmitCase emit_case);
  /// Sets what a body loads, and from where. The segment is in the row at the expressions' outer coordinates.
  void set_loads(const SegmentCall& call, BodyArguments& arguments);
  /// Returns the body's arguments for a segment of that row; or for `rows` rows that are taken together.
  [[nodiscard]] BodyArguments arguments_of(const SegmentCall& call, llvm::Value* rows = nullptr);
  /// As above, for columns [begin, end) of that row instead of the columns set last.
  [[nodiscard]] BodyArguments arguments_of(const SegmentCall& call, llvm::Value* begin, llvm::Value* end,
                                           llvm::Value* rows);
  /// In a case: emits a lower bound of the number of rows that are alike, from this row on along the last outer axis.
  /// Such rows have the same case, and the same steps from row to row.
  [[nodiscard]] llvm::Value* rows_with_same_case(const ScheduledCase& which);

  /// Returns whether data says which rows have this case, or where its rows are read.
  [[nodiscard]] bool follows_data(const ScheduledCase& which) const;
  /// In such a case: emits how many rows, at most `most`, have it one after another, and are read at equal distances.
  /// They are looked at one by one. The distances are the steps of `arguments_of` from here on.
  [[nodiscard]] llvm::Value* rows_by_data(const ScheduledCase& which, llvm::Value* most);

  /// In a case: the row's element offset in the output, and the starts of its loads.
  [[nodiscard]] llvm::Value* row_offset() const { return row_offset_; }
  [[nodiscard]] std::vector<llvm::Value*> bases_of(const std::vector<LoadSource>& sources);

  /// Return the columns at which a segment's run begins and ends, within the columns set last.
  [[nodiscard]] llvm::Value* run_begin(const SegmentCall& call) const { return runs_.at(call.run_begin.id()); }
  [[nodiscard]] llvm::Value* run_end(const SegmentCall& call) const { return runs_.at(call.run_end.id()); }
  /// Emits whether a segment has none of the columns set last.
  [[nodiscard]] llvm::Value* is_empty(const SegmentCall& call);

  [[nodiscard]] int outer_axes() const { return kernel().rank() - 1; }

 private:
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  using Values = std::vector<llvm::Value*>;
  /// Emits the nodes of the rows' data that `known` has no values of. Returns the values of all. Gives the expressions
  /// the data.
  Values emit_row_data(Values known);
  [[nodiscard]] bool has_data(PredicateId predicate) const;
  [[nodiscard]] std::vector<const LoadSource*> sources_by_data(const ScheduledCase& which) const;
  llvm::Value* emit_is_next(llvm::Value* count, const ScheduledCase& which, const Values& before, const Values& steps,
                            Values& starts);
  llvm::Value* emit_row_offset();
  llvm::Value* base_of(const LoadSource& source);
  void set_storage(ir::ValueId tensor, BodyArguments::Load& load);
  llvm::Value* origin_of(ir::ValueId tensor);
  void set_row_values(std::size_t body, BodyArguments& arguments);

  void set_coordinates(std::span<const int> axes, llvm::Type* type);
  void emit_tree(int root, llvm::BasicBlock* next, EmitCase emit_case, Ways& ways);
  std::optional<Int128> even_step(const Condition& condition);
  llvm::Value* rows_holding(PredicateId predicate);
  llvm::Value* rows_failing(PredicateId predicate);

  KernelContext& context_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  llvm::Value* row_offset_ = nullptr;
  Values digits_;                                   // of the row set last, by axis of its order
  std::vector<std::pair<PredicateId, bool>> path_;  // the tests that led to the case, and whether they held
  const LaunchFields* fields_ = nullptr;
  std::vector<llvm::Value*> buffers_;
  std::map<std::uint32_t, llvm::Value*> runs_;  // begins and ends of runs, by Expr::id
  SearchMemos memos_;
  Values row_data_;                                           // the nodes of the rows' data, in this row
  std::map<const LoadSource*, llvm::Value*> measured_steps_;  // of loads that data says, in the case emitted last
};

/// Returns the contract as far as it is known before code: sizes are collected while code is emitted.
[[nodiscard]] abi::KernelAbi contract_of(const Schedule& schedule);

}  // namespace padlock::compiler
