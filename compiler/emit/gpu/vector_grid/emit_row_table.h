#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/rows/emit_row_dispatch.h"

namespace padlock::compiler {

/// Finds what the segments of a row need: its case, and where the loads of that case start from. Where rows are short
/// (RowTable) a warp's vectors lie in few of them, and each vector, and each trip over
/// elements of edges, would find out the same by divisions and tests: so each thread of a warp does it for one row,
/// once, in memory that the warp shares.
class RowTableEmitter {
 public:
  /// `thread`: its number in the block, an index. All borrowed.
  RowTableEmitter(const VectorContext& vector, RowEmitter& rows, llvm::Value* thread);

  /// Returns what the sizes of its launches hold; empty where a kernel has no such table.
  [[nodiscard]] static std::vector<abi::Guard> guards(const ProvenKernel& kernel);
  /// Returns the words of shared memory that the tables of a block take: 0 where there is none.
  [[nodiscard]] static int block_words(const KernelContext& context);

  /// Emits the table, for all of a warp's threads; `row_of(slot)` emits the row of a vector's first element.
  void fill(llvm::function_ref<llvm::Value*(llvm::Value* slot)> row_of);
  /// Emits what is known of a row, in which thread's vector number `number`, an i32, lies.
  void find(llvm::Value* row, llvm::Value* number);
  /// Emits the row that was found: `emit_case` emits the code of each case, without values. The builder stands after
  /// it.
  void emit_row(RowEmitter::EmitCase emit_case);

 private:
  /// First the case, then the bases: offsets.
  using Record = std::vector<llvm::Value*>;

  [[nodiscard]] llvm::Value* record_at(llvm::Value* first, llvm::Value* number);
  [[nodiscard]] llvm::FixedVectorType* record_type() const;
  [[nodiscard]] llvm::Align record_align() const;
  [[nodiscard]] llvm::Value* place_of(llvm::Value* row, llvm::Value* number);
  [[nodiscard]] Record compute(llvm::Value* row);
  void store(const Record& record, llvm::Value* place);
  [[nodiscard]] Record load(llvm::Value* place);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  RowEmitter& rows_;
  const RowTable& short_;
  llvm::Value *first_slot_, *lane_, *table_;
  Record found_;
};

}  // namespace padlock::compiler
