#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/scalar/emit_access.h"

namespace padlock::compiler {

/// Emits a body for one vector of neighbouring elements of a run: its loads, its operations and its stores. Values that
/// are the same for every vector are loaded where the builder stands when the emitter is made.
class RunVector {
 public:
  /// All are borrowed but the arguments.
  RunVector(KernelContext& context, std::size_t body, llvm::IRBuilder<>& builder, const LaunchFields& fields,
            ExprEmitter& exprs, BodyArguments arguments);

  /// Says where a row starts: in the results and in what is loaded contiguously by pointers, and by its elements'
  /// numbers where something else asks for these (else null).
  struct Row {
    llvm::Value* offset = nullptr;
    std::vector<llvm::Value*> bases;           ///< of each load
    std::vector<llvm::Value*> outputs, loads;  ///< pointers; null where a load is not contiguous
  };

  /// Emits all results at coordinates [column, column + lanes), moved by a displacement that is added to addresses,
  /// where it becomes part of the instruction.
  void emit(llvm::Value* column, const VectorLoop& loop, int displacement = 0) {
    store(column, loop, displacement, compute(column, loop, displacement));
  }
  /// Emits those at coordinates [column, limit) of such a vector, of which there is one or more.
  void emit_masked(llvm::Value* column, llvm::Value* limit, const VectorLoop& loop);

  /// For boxes of few rows, the first of which is set: emits up to which column of a run that ends at `to` blocks lie
  /// in the storage; and what groups them, which is the same for all boxes.
  [[nodiscard]] llvm::Value* begin_few_rows(const Turn& turn, llvm::Value* to, llvm::Value* rows);
  /// Emits the box of a turn whose first row and column are these: number g of its rows is the row `row_at(g)`.
  void emit_box(const Turn& turn, llvm::Value* column, llvm::function_ref<Row(int g)> row_at);

  /// Emits, before the boxes of rows of few columns, what is the same for all; and a box: number `row` is its first
  /// row. The first of all rows is set.
  void begin_interleave(const Interleave& interleave);
  void emit_interleave(const Interleave& interleave, llvm::Value* row);
  /// Emits whether what later boxes load and store should be fetched: where the result is too large for the caches.
  [[nodiscard]] llvm::Value* pays_to_fetch(const Turn& turn);
  /// Fetches the blocks of a later box's columns, of the line that begins with the row that is set.
  void prefetch_blocks(const Turn& turn, llvm::Value* column);
  /// Fetches what a later box writes, for the row that is set.
  void prefetch_box(llvm::Value* column);

  /// Computes what prefetches need in rows that are written past the caches, where the builder stands, before the rows.
  void plan_prefetches();
  /// Prefetches, in a loop of such a row, the loads of this row or of a later one.
  void prefetch_loads(llvm::Value* column, const VectorLoop& loop);
  /// Fetches the lines at both ends of a later row that are written through the caches, so that those stores do not
  /// wait.
  void prefetch_stores();
  /// After such a row: fetches what lies between it and the next one, where that is worth it. Nothing is emitted where
  /// nothing lies there.
  void prefetch_gaps();
  [[nodiscard]] bool fetches_gaps() const {
    return std::ranges::any_of(gaps_, [](llvm::Value* gap) { return gap != nullptr; });
  }

  /// Emits by how many elements the first result at `column` is past a boundary of `lanes` elements, a power of two.
  /// (An address that is not a multiple of the element size never reaches one; then this is only a shift.)
  [[nodiscard]] llvm::Value* misalignment(llvm::Value* column, int lanes);
  /// Emits whether all results are at multiples of a vector's size at this column.
  [[nodiscard]] llvm::Value* stores_are_aligned(llvm::Value* column);

  [[nodiscard]] const BodyArguments& arguments() const { return arguments_; }
  /// Emits the start of the first row, and how many bytes on the next one's pointers are, in the same order; where the
  /// builder stands, before all loops.
  [[nodiscard]] Row first_row();
  [[nodiscard]] Row row_steps();
  /// Sets where the row starts from here on. The builder stands where it is that row's turn.
  void set_row(const Row& row);
  /// Computes where the builder stands, before the rows, what the sums of this column have in common. From there on
  /// nothing else may be emitted than this column.
  void hoist_from_sums(llvm::Value* column);

 private:
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::Value* column, const VectorLoop& loop, int displacement);
  void store(llvm::Value* column, const VectorLoop& loop, int displacement, const std::vector<llvm::Value*>& values);
  [[nodiscard]] const BodyArguments::Load& argument(int load) const {
    return arguments_.loads[static_cast<std::size_t>(load)];
  }
  /// The offset of a load at innermost coordinate 0.
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
  /// The access of a load whose vector begins at a column; without the vector's displacement.
  Access vector_of(int index, llvm::Value* column, int lanes);
  /// Returns whether a load goes over the row by its pointer, and whether its elements are counted, too.
  [[nodiscard]] bool moves_pointer(std::size_t load) const;
  [[nodiscard]] bool counts_elements(std::size_t load) const;
  /// Lets an access have the elements alone that the vector's mask leaves; `reversed`: those are its last.
  void mask(Access& access, bool reversed);
  /// The address of a result's element at this column.
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
  BodyValues values_;
  llvm::Value* block_bytes_ = nullptr;           // by which blocks are regrouped, where they are
  llvm::Value* box_row_ = nullptr;               // of rows of few columns: those that are taken begin with it
  const std::vector<int>* box_loads_ = nullptr;  // then: the loads that go on from row to row
  std::vector<llvm::Value*> turned_;             // of a box's row: of each load that is turned, else null
  int displacement_ = 0;                         // of the vector that is being emitted
  llvm::Value* accessed_ = nullptr;              // of its elements, where not all
  std::vector<Access> row_outputs_, row_loads_;  // of the row that was set, else none: their pointers and origins
  std::vector<llvm::Value*> steps_;
  std::vector<llvm::Value*> ahead_;  // elements of a load by which fetching is ahead of loading
  std::vector<llvm::Value*> gaps_;   // columns up to which a row's gap is fetched; null: of no row
  BodyValues::Invariants invariants_;
};

}  // namespace padlock::compiler
