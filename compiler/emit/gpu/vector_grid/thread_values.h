#pragma once

#include <vector>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_access.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

/// The emitters of one thread's code, all borrowed.
struct VectorContext {
  KernelContext& context;
  llvm::IRBuilder<>& builder;
  const LaunchFields& fields;
  ExprEmitter& exprs;
  /// Memory that a block's threads share: its list of edges (compiler/emit/gpu/vector_grid/edge_list.h), or a
  /// tile's arrays. It begins as 0 where threads are run in a loop.
  llvm::Value* shared = nullptr;
  /// Null on a GPU. A device that runs a block's threads in a loop calls the code for each interval, when all threads
  /// are done with the one before: 0 for the vectors and 1 for the edges, or for a tile's loads and its stores.
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
  /// Returns the access of elements of a tensor. The address is a multiple of their size, where that is known of any.
  [[nodiscard]] Access access_of(llvm::Value* pointer, ir::DType dtype, llvm::Value* first, int elements = 1) const {
    const bool is_aligned = context.target.aligned_elements;
    return {.pointer = pointer,
            .dtype = dtype,
            .first = first,
            .elements = elements,
            .align = is_aligned ? static_cast<unsigned>(elements * ir::byte_size(dtype)) : 1};
  }
  /// How vectors of results are stored.
  [[nodiscard]] StoreHint store_hint() const {
    const bool evicts_first = schedule().store == StoreKind::nontemporal && context.target.takes_words;
    return evicts_first ? StoreHint::evict_first : StoreHint::none;
  }
  /// Returns the row of the output that is so many after the launch's first. Both are indices.
  [[nodiscard]] llvm::Value* row_of_output(llvm::Value* row) const;
  /// Elements of the output that a launch writes, in that type.
  [[nodiscard]] llvm::Value* launched_elements(llvm::Type* type) const;
  /// Adds to a store into a result what its test needs, if it is not proved to be inside.
  [[nodiscard]] Access checked(Access store, std::size_t result) const;
  /// Emits the wait for the grids before this one, where the kernel waits: all accesses of global memory come after it,
  /// and what can be computed without them before it, while those grids end.
  void wait_for_earlier_grids() const;
  /// Emits what is done before a barrier of the block and what after it. Where threads are run one after the other,
  /// each goes up to the barrier first: it returns there.
  void in_turn(llvm::function_ref<void()> before, llvm::function_ref<void()> after) const;
  /// Emits code for where a condition holds; the builder stands after it.
  template <class Emit>
  void when(llvm::Value* condition, Emit&& emit) const {
    emit_if(builder, condition, std::forward<Emit>(emit));
  }
};

/// Lanes of a vector, as runs [first, end) of them, i32.
struct Lanes {
  std::vector<std::pair<llvm::Value*, llvm::Value*>> runs = {};

  /// Emits whether there are any; whether all are there; whether one is.
  [[nodiscard]] llvm::Value* any(llvm::IRBuilder<>& builder) const;
  [[nodiscard]] llvm::Value* all(llvm::IRBuilder<>& builder, int lanes) const;
  [[nodiscard]] llvm::Value* has(llvm::IRBuilder<>& builder, int lane) const;
};

/// Emits the values that a thread makes by a body: of a vector of a grid that lies in one segment of one row, or of one
/// element.
class ThreadValues {
 public:
  /// `column`: of the first element, an index.
  ThreadValues(const VectorContext& vector, std::size_t body, BodyArguments arguments, llvm::Value* column);

  /// Emits the loads of a vector: values that nothing has been done with, of which `compute` makes the results, or
  /// nothing where a granule lies outside of its tensor: that goes to `outside`. The builder stands where all are
  /// loaded. Of a body that adds up in walks, which load, these are the results.
  [[nodiscard]] std::vector<llvm::Value*> load(llvm::function_ref<void()> outside);
  /// Returns the results, a vector each, from what was loaded.
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::ArrayRef<llvm::Value*> loaded);
  /// Emits loads and results of one element.
  [[nodiscard]] std::vector<llvm::Value*> compute_element();

  /// Emits one load of a vector of which some lanes are needed (null: all), as many values as `loaded_values` says; and
  /// makes the vector of them, or the scalar that all lanes share.
  [[nodiscard]] std::vector<llvm::Value*> load_lanes(std::size_t load, llvm::function_ref<void()> outside,
                                                     const Lanes* needed);
  [[nodiscard]] std::size_t loaded_values(std::size_t load) const;
  [[nodiscard]] llvm::Value* vector_from(std::size_t load, llvm::ArrayRef<llvm::Value*> loaded);

  /// Emits one load of that element; null if it is done in the walks of a sum, or after its data.
  [[nodiscard]] llvm::Value* load_element(std::size_t load);
  /// Emits the results of so many lanes from what all loads gave: vectors, or scalars that all lanes share.
  [[nodiscard]] std::vector<llvm::Value*> compute(int lanes, llvm::ArrayRef<llvm::Value*> values);

 private:
  [[nodiscard]] const BodyLoad& load_at(std::size_t i) const { return body_.loads[i]; }
  /// Return whether a load, or an index, waits for others of the element: in a sum, or where data says.
  [[nodiscard]] static bool is_late(const BodyLoad& load) { return load.scope >= 0 || load.by_data; }
  [[nodiscard]] bool is_late(const BodyNode& index) const {
    return index.scope >= 0 || vector_.schedule().kernel.graph.has_column_data(index.index);
  }
  [[nodiscard]] bool reversed(std::size_t i) const { return load_at(i).kind == LoadKind::reversed; }
  [[nodiscard]] llvm::Type* type_of(std::size_t load, int lanes) const;
  [[nodiscard]] unsigned vector_bytes(std::size_t load) const;
  /// Returns whether a vector that is not aligned is taken from two granules, not element by element.
  [[nodiscard]] bool takes_granules(std::size_t load) const;
  [[nodiscard]] llvm::Type* granule_type(std::size_t load) const;
  Access access_of(std::size_t load, llvm::Value* element, int elements = 1);
  llvm::Value* element_of(std::size_t load, llvm::Value* column);
  llvm::Value* general_element(std::size_t load);
  llvm::Value* first_in_memory(std::size_t load);
  llvm::Value* past_vector(std::size_t load, llvm::Value* element);
  std::vector<llvm::Value*> load_elements(std::size_t load, llvm::Value* element, llvm::Value* past,
                                          const Lanes* needed);
  std::vector<llvm::Value*> load_granules(std::size_t load, llvm::Value* element, llvm::Value* past,
                                          const Lanes* needed, llvm::function_ref<void()> outside);
  llvm::Value* from_granules(std::size_t load, llvm::ArrayRef<llvm::Value*> loaded);
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
  std::vector<llvm::Value*> indices_ = {};  // the values of index nodes, in their order
};

}  // namespace padlock::compiler
