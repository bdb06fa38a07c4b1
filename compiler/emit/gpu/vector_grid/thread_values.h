#pragma once

#include <vector>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_access.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/schedule/model/row_columns.h"

namespace padlock::compiler {

/// The emitters of one thread's code, all borrowed.
struct VectorContext {
  KernelContext& context;
  llvm::IRBuilder<>& builder;
  const LaunchFields& fields;
  ExprEmitter& exprs;
  /// Memory that a block's threads share: its warps' lists of edges (compiler/emit/gpu/vector_grid/edge_list.h), or a
  /// tile's arrays. It begins as 0 where threads run in a loop.
  llvm::Value* shared = nullptr;
  /// Memory of a grid's table of rows, or null.
  llvm::Value* table = nullptr;
  /// Null on a GPU. A device that runs a block's threads in a loop calls the code once for each interval, after all
  /// threads have ended the one before. Interval 0 has the vectors or a tile's loads, 1 the edges or a tile's stores.
  /// Before the vectors of a grid with a table comes an interval for the table.
  llvm::Value* interval = nullptr;

  [[nodiscard]] const Schedule& schedule() const { return context.schedule; }
  [[nodiscard]] const VectorGrid& grid() const { return *context.schedule.grid(); }
  [[nodiscard]] const TransposeTile& tile() const { return *context.tile; }
  [[nodiscard]] int lanes() const { return schedule().boxes() != nullptr ? schedule().boxes()->lanes : grid().lanes; }
  [[nodiscard]] ir::DType result_type(std::size_t result) const { return schedule().kernel.result(result).dtype; }
  [[nodiscard]] llvm::BasicBlock* block(const char* name) const { return new_block(builder, name); }
  [[nodiscard]] llvm::ConstantInt* index(std::int64_t value) const { return context.index(value); }
  [[nodiscard]] llvm::Value* exact(ir::Expr e) const { return exprs.exact(builder, e); }
  [[nodiscard]] llvm::Value* holds(const std::vector<ir::Expr>& tests) const {
    return compiler::holds(builder, exprs, tests);
  }
  void set(ir::Expr coordinate, llvm::Value* value) const { exprs.set_coordinate(coordinate, value); }
  /// Returns the access of elements of a tensor. The address is a multiple of their size, if any is known to be.
  [[nodiscard]] Access access_of(llvm::Value* pointer, ir::DType dtype, llvm::Value* first, int elements = 1) const {
    const bool is_aligned = context.target.aligned_elements;
    return {.pointer = pointer,
            .dtype = dtype,
            .first = first,
            .elements = elements,
            .align = is_aligned ? static_cast<unsigned>(elements * ir::byte_size(dtype)) : 1};
  }
  /// Returns how vectors of results are stored.
  [[nodiscard]] StoreHint store_hint() const {
    const bool evicts_first = schedule().store == StoreKind::nontemporal && context.target.takes_words;
    return evicts_first ? StoreHint::evict_first : StoreHint::none;
  }
  /// Returns the row of the output that is `row` rows after the launch's first. Both are indices.
  [[nodiscard]] llvm::Value* row_of_output(llvm::Value* row) const;
  /// Returns the number of output elements that a launch writes, in this type.
  [[nodiscard]] llvm::Value* launched_elements(llvm::Type* type) const;
  /// Adds to a store into a result what its test needs, unless the store is proved to be inside.
  [[nodiscard]] Access checked(Access store, std::size_t result) const;
  /// Emits the wait for the grids before this one, if the kernel waits. All accesses of global memory come after the
  /// wait. Computation without them comes before it, while those grids end.
  void wait_for_earlier_grids() const;
  /// Emits what comes before a barrier of the block, and what comes after. Where threads run one after the other, each
  /// thread first runs up to the barrier and returns there.
  void in_turn(llvm::function_ref<void()> before, llvm::function_ref<void()> after) const;
  /// Emits code for where a condition holds; the builder stands after it.
  template <class Emit>
  void when(llvm::Value* condition, Emit&& emit) const {
    emit_if(builder, condition, std::forward<Emit>(emit));
  }
};

/// Lanes [first, end) of a vector, indices.
struct LaneRange {
  llvm::Value *first, *end;

  /// Narrows the range to the lanes for which a predicate holds, in a row whose outer coordinates the expressions have.
  /// Lane 0 is at `column`, maybe outside the row. A condition holds from some column on, up to some column, for the
  /// whole row or for none of it (column_condition); leaves out those that mention a coordinate of `without`. Returns
  /// whether the conditions of the whole row hold; elsewhere no lane is left.
  [[nodiscard]] llvm::Value* narrow(const VectorContext& vector, int column_axis, PredicateId predicate,
                                    llvm::Value* column, llvm::ArrayRef<ir::Expr> without = {});
};
/// Emits whether a condition that no column changes holds; `rest` is that of its form.
[[nodiscard]] llvm::Value* holds_in_row(const VectorContext& vector, const Condition& condition, ir::Expr rest);

/// Lanes of a vector, as runs [first, end) of them, i32.
struct LaneRuns {
  std::vector<std::pair<llvm::Value*, llvm::Value*>> runs = {};

  /// Emit whether any lane is there; whether all are.
  [[nodiscard]] llvm::Value* any(llvm::IRBuilder<>& builder) const;
  [[nodiscard]] llvm::Value* all(llvm::IRBuilder<>& builder, int lanes) const;
};

/// Emits the values that a thread computes by a body: of a grid's vector that lies in one segment of one row, or of one
/// element.
class ThreadValues {
 public:
  /// `column`: of the first element, an index.
  ThreadValues(const VectorContext& vector, std::size_t body, BodyArguments arguments, llvm::Value* column);

  /// Emits a vector's loads, from which `compute` makes the results. Where a granule lies outside its tensor, goes to
  /// `outside` instead. The builder stands where all values are loaded. For a body that loads in the walks of a sum,
  /// returns the results.
  [[nodiscard]] std::vector<llvm::Value*> load(llvm::function_ref<void()> outside);
  /// Returns the results, a vector each, from what was loaded.
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::ArrayRef<llvm::Value*> loaded);
  /// Emits loads and results of a vector that lies in one segment, of a body whose loads are contiguous or invariant,
  /// and without sums. Waits for earlier grids before the loads.
  [[nodiscard]] std::vector<llvm::Value*> compute_vector();
  /// Emits loads and results of one element.
  [[nodiscard]] std::vector<llvm::Value*> compute_element();

  /// Emits one load of a vector, of which some lanes are needed (null: all). Returns as many values as `loaded_values`
  /// says. `vector_from` makes of them the vector, or the scalar that all lanes share.
  [[nodiscard]] std::vector<llvm::Value*> load_lanes(std::size_t load, llvm::function_ref<void()> outside,
                                                     const LaneRuns* needed);
  [[nodiscard]] std::size_t loaded_values(std::size_t load) const;
  [[nodiscard]] llvm::Value* vector_from(std::size_t load, llvm::ArrayRef<llvm::Value*> loaded);

  /// Emits one load of the element. Returns null if the load is done in the walks of a sum, or after its data.
  [[nodiscard]] llvm::Value* load_element(std::size_t load);
  /// Emits the results of `lanes` lanes from the values of all loads: vectors, or scalars that all lanes share.
  [[nodiscard]] std::vector<llvm::Value*> compute(int lanes, llvm::ArrayRef<llvm::Value*> values);

 private:
  [[nodiscard]] const BodyLoad& load_at(std::size_t i) const { return body_.loads[i]; }
  /// Return whether a load, or an index, must wait for others of the element: inside a sum, or by data.
  [[nodiscard]] static bool is_late(const BodyLoad& load) { return load.scope >= 0 || load.by_data; }
  [[nodiscard]] bool is_late(const BodyNode& index) const {
    return index.scope >= 0 || vector_.schedule().kernel.graph.has_column_data(index.index);
  }
  [[nodiscard]] bool reversed(std::size_t i) const { return load_at(i).kind == LoadKind::reversed; }
  [[nodiscard]] llvm::Type* type_of(std::size_t load, int lanes) const;
  [[nodiscard]] unsigned vector_bytes(std::size_t load) const;
  /// Returns whether a vector that is not aligned comes from two granules instead of element by element.
  [[nodiscard]] bool takes_granules(std::size_t load) const;
  [[nodiscard]] llvm::Type* granule_type(std::size_t load) const;
  Access access_of(std::size_t load, llvm::Value* element, int elements = 1);
  llvm::Value* element_of(std::size_t load, llvm::Value* column);
  llvm::Value* general_element(std::size_t load);
  llvm::Value* first_in_memory(std::size_t load);
  llvm::Value* past_vector(std::size_t load, llvm::Value* element);
  void leave_unless(llvm::Value* condition, llvm::function_ref<void()> outside);
  std::vector<llvm::Value*> load_apart(std::size_t load, llvm::Value* element);
  llvm::Value* joined(std::size_t load, llvm::ArrayRef<llvm::Value*> lanes);
  std::vector<llvm::Value*> load_elements(std::size_t load, llvm::Value* element, llvm::Value* past,
                                          const LaneRuns* needed, llvm::function_ref<void()> outside);
  std::vector<llvm::Value*> load_granules(std::size_t load, llvm::Value* element, llvm::Value* past,
                                          const LaneRuns* needed, llvm::function_ref<void()> outside);
  [[nodiscard]] std::size_t words_around(std::size_t load) const;
  llvm::Value* from_words(std::size_t load, llvm::ArrayRef<llvm::Value*> loaded);
  llvm::Value* gather(std::size_t load);
  llvm::Value* load_here(std::size_t load);
  std::vector<llvm::Value*> emit_indices();
  [[nodiscard]] std::vector<llvm::Value*> compute_from(int lanes, llvm::function_ref<llvm::Value*(std::size_t)> load);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  std::size_t index_;
  const Body& body_;
  AccessEmitter accesses_;
  BodyArguments arguments_;
  llvm::Value* column_;
  std::vector<llvm::Value*> indices_ = {};  // values of index nodes, in their order
};

}  // namespace padlock::compiler
