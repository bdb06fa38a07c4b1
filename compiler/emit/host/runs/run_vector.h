#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/scalar/emit_access.h"

namespace padlock::compiler {

/// Emits a body for one vector of neighbouring elements of a run: its loads, its operations and its stores. Values that
/// all vectors share are loaded where the builder stands when the emitter is made.
class RunVector {
 public:
  /// Borrows all but `arguments`.
  RunVector(KernelContext& context, std::size_t body, llvm::IRBuilder<>& builder, const LaunchFields& fields,
            ExprEmitter& exprs, BodyArguments arguments);

  /// Start of a row: pointers into the results and into contiguous loads. Element numbers are null unless other code
  /// needs them.
  struct Row {
    llvm::Value* offset = nullptr;
    std::vector<llvm::Value*> bases;           ///< for each load
    std::vector<llvm::Value*> outputs, loads;  ///< pointers; null if a load is not contiguous
  };

  /// Emits all results at coordinates [column, column + lanes), plus `displacement`. It is added to addresses, where it
  /// becomes part of the instruction.
  void emit(llvm::Value* column, const VectorLoop& loop, int displacement = 0) {
    store(column, loop, displacement, compute(column, loop, displacement));
  }
  /// Emits all vectors of a trip, the first at `column`.
  void emit_trip(llvm::Value* column, const VectorLoop& loop);
  /// Emits the results at coordinates [column, limit) of such a vector, at least one.
  void emit_masked(llvm::Value* column, llvm::Value* limit, const VectorLoop& loop);

  /// For boxes of few rows, whose first row is set. Emits the column up to which blocks lie in the storage, in a run
  /// that ends at `to`. Also emits what groups the blocks, which is the same for all boxes.
  [[nodiscard]] llvm::Value* begin_few_rows(const Turn& turn, llvm::Value* to, llvm::Value* rows);
  /// Emits the box of a turn at `column`. Row g of the box is `row_at(g)`.
  void emit_box(const Turn& turn, llvm::Value* column, llvm::function_ref<Row(int g)> row_at);

  /// For boxes of rows of few columns; the first of all rows is set. `begin_interleave` emits values that all boxes
  /// share. `emit_interleave` emits the box whose first row is number `row`.
  void begin_interleave(const Interleave& interleave);
  void emit_interleave(const Interleave& interleave, llvm::Value* row);
  /// Emits whether to prefetch what later boxes load and store: if the result is too large for the caches.
  [[nodiscard]] llvm::Value* pays_to_fetch(const Turn& turn);
  /// Fetches the blocks of a later box's columns, for the line that begins with the row that is set.
  void prefetch_blocks(const Turn& turn, llvm::Value* column);
  /// Fetches what a later box writes, for the row that is set.
  void prefetch_box(llvm::Value* column);

  /// Computes before the rows, where the builder stands, what prefetches need in rows that are written past the caches.
  void plan_prefetches();
  /// Prefetches, in a loop of such a row, the loads of this row or of a later row.
  void prefetch_loads(llvm::Value* column, const VectorLoop& loop);
  /// Prefetches the lines at both ends of a later row that are written through the caches, so that their stores do not
  /// wait.
  void prefetch_stores();
  /// Prefetches, after such a row, the gap between it and the next row if that pays. Emits nothing if there is no gap.
  void prefetch_gaps();
  [[nodiscard]] bool fetches_gaps() const {
    return std::ranges::any_of(gaps_, [](llvm::Value* gap) { return gap != nullptr; });
  }

  /// Emits by how many elements the first result at `column` is past a boundary of `lanes` elements, a power of two.
  /// (If the address is not a multiple of the element size, this is only a shift: no element reaches a boundary.)
  [[nodiscard]] llvm::Value* misalignment(llvm::Value* column, int lanes);
  /// Emits whether all results at this column are at multiples of a vector's size.
  [[nodiscard]] llvm::Value* stores_are_aligned(llvm::Value* column);

  [[nodiscard]] const BodyArguments& arguments() const { return arguments_; }
  /// Emit the start of the first row, and the bytes from each row's pointers to the next row's, in the same order. The
  /// builder stands before all loops.
  [[nodiscard]] Row first_row();
  [[nodiscard]] Row row_steps();
  /// Sets the row's start from here on. The builder stands where that row is emitted.
  void set_row(const Row& row);
  /// Computes before the rows, where the builder stands, what the sums of this column have in common. From there on
  /// only this column may be emitted.
  void hoist_from_sums(llvm::Value* column);

 private:
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::Value* column, const VectorLoop& loop, int displacement);
  void store(llvm::Value* column, const VectorLoop& loop, int displacement, const std::vector<llvm::Value*>& values);
  /// Stores the vectors of a trip, by pairs.
  void store_pairs(llvm::Value* column, const VectorLoop& loop, const std::vector<std::vector<llvm::Value*>>& vectors);
  [[nodiscard]] const BodyArguments::Load& argument(int load) const {
    return arguments_.loads[static_cast<std::size_t>(load)];
  }
  /// Returns the offset of a load at innermost coordinate 0.
  [[nodiscard]] llvm::Value* base_of(int load);
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  [[nodiscard]] llvm::Value* displaced(llvm::Value* value) {
    return displacement_ == 0 ? value : builder_.CreateAdd(value, context_.index(displacement_));
  }
  [[nodiscard]] ir::DType result_type(std::size_t result) const { return kernel().result(result).dtype; }
  [[nodiscard]] int result_bytes(std::size_t result) const { return ir::byte_size(result_type(result)); }

  enum class Prefetch : std::uint8_t { near, far, write };
  void prefetch(llvm::Value* address, Prefetch how);
  void emit_invariants();
  void give_row_values(const std::vector<llvm::Value*>& values);
  void hoist_from_sums(std::vector<ir::Expr> varying);
  [[nodiscard]] bool loads_invariants() const;
  void prefetch_next_sums();
  void prefetch_terms(int sum);
  Access access_of(int index, llvm::Value* first, llvm::Value* guard = nullptr);
  llvm::Value* emit_load(int index, llvm::Value* column, int lanes);
  llvm::Value* emit_vector(int index, llvm::Type* type, llvm::Value* column, int lanes);
  llvm::Value* emit_strided(int index, llvm::Type* type, llvm::Value* column, int lanes);
  std::vector<llvm::Value*> emit_turned(const TurnedLoad& load, llvm::Value* column, int lanes);
  llvm::Value* block_bytes(const BlockBytes& all, llvm::Value* elements, int blocks);
  llvm::Value* emit_rows(int index, llvm::Type* type, llvm::Value* column);
  void store_rows(const Interleave& interleave, std::size_t result, std::vector<llvm::Value*> columns,
                  llvm::Value* row);
  /// Returns the access of a load whose vector begins at a column, without the vector's displacement.
  Access vector_of(int index, llvm::Value* column, int lanes);
  /// Return whether a load goes over the row by its pointer, and whether its elements are counted, too.
  [[nodiscard]] bool moves_pointer(std::size_t load) const;
  [[nodiscard]] bool counts_elements(std::size_t load) const;
  /// Limits an access to the elements in the vector's mask; `reversed`: the last elements of the access.
  void mask(Access& access, bool reversed);
  /// Returns the address of a result's element at this column.
  llvm::Value* address_of(std::size_t result, llvm::Value* column);
  llvm::Value* low_bits(llvm::Value* address, int bytes);
  llvm::Value* are_aligned(llvm::ArrayRef<std::pair<llvm::Value*, int>> addresses);

  KernelContext& context_;
  std::size_t index_;
  const Body& body_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  AccessEmitter accesses_;
  BodyArguments arguments_;
  std::vector<llvm::Value*> outputs_;
  SearchMemos memos_;
  BodyValues values_;
  llvm::Value* block_bytes_ = nullptr;           // the bytes that regroup blocks, if blocks are regrouped
  llvm::Value* box_row_ = nullptr;               // for rows of few columns: the first row of the box
  const std::vector<int>* box_loads_ = nullptr;  // then: the loads that go on from row to row
  std::vector<llvm::Value*> turned_;             // of a box's row: for each load its turned vector, else null
  int displacement_ = 0;                         // of the vector that is being emitted
  llvm::Value* accessed_ = nullptr;              // its accessed elements, if not all
  std::vector<Access> row_outputs_, row_loads_;  // pointers and origins of the row that was set, else empty
  std::vector<llvm::Value*> steps_;
  std::vector<llvm::Value*> ahead_;  // for each load: elements by which fetching is ahead of loading
  std::vector<llvm::Value*> gaps_;   // columns up to which a row's gap is fetched; null: no gap
  BodyValues::Invariants invariants_;
};

}  // namespace padlock::compiler
