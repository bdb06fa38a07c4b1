#pragma once

#include <vector>

#include "compiler/llvm/emit/emit_access.h"
#include "compiler/llvm/emit/kernel_function.h"

namespace padlock::compiler {

/// The emitters of one thread's code, all borrowed: `exprs` for its coordinates, `wide` for elements of tensors.
struct VectorContext {
  KernelContext& context;
  llvm::IRBuilder<>& builder;
  const LaunchFields& fields;
  ExprEmitter& exprs;
  ExprEmitter& wide;
  /// Memory of a block: how many edges its tile has, then their slots.
  llvm::Value* edges = nullptr;
  /// Null on a GPU. A device that runs a block's threads in a loop calls the code twice: with 0 for what stands before
  /// the barrier, then, when all threads are done with it, with 1 for what stands after it.
  llvm::Value* part = nullptr;

  [[nodiscard]] const Schedule& schedule() const { return context.schedule; }
  [[nodiscard]] const VectorGrid& grid() const { return *context.schedule.grid; }
  [[nodiscard]] int lanes() const { return grid().lanes; }
  [[nodiscard]] ir::DType result_type(std::size_t result) const {
    return schedule().kernel.program->value(schedule().kernel.results[result]).dtype;
  }
  [[nodiscard]] llvm::BasicBlock* block(const char* name) const {
    return llvm::BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
  }
  /// An index as an element of a tensor.
  [[nodiscard]] llvm::Value* element(llvm::Value* index) const {
    return builder.CreateSExt(index, builder.getInt64Ty());
  }
};

/// Emits a body for lanes of one vector of a grid: lanes [from, to), in one segment of one row. What other lanes get is
/// any value; nothing is loaded that lies outside the tensors.
class StreamBody {
 public:
  StreamBody(const VectorContext& vector, std::size_t body, BodyArguments arguments);

  /// Says which lanes are needed, the first of them at `column`. All are indices.
  void set_lanes(llvm::Value* column, llvm::Value* from, llvm::Value* to);

  /// Emits whether the granules of all loads lie in their tensors.
  [[nodiscard]] llvm::Value* granules_are_inside();
  /// Emits the loads of a vector all of whose lanes are needed, where that holds: values that nothing has been done
  /// with.
  [[nodiscard]] std::vector<llvm::Value*> load();
  /// Returns the types of what `load` returns.
  [[nodiscard]] std::vector<llvm::Type*> loaded_types() const;
  /// Emits the results, a vector each, from what was loaded.
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::ArrayRef<llvm::Value*> loaded);

  /// Emits loads and results where granules may lie outside their tensors; what needs outer coordinates, for one lane.
  [[nodiscard]] std::vector<llvm::Value*> compute_lanes();

 private:
  /// Around the lanes of a load.
  struct Pair {
    llvm::Value* element = nullptr;  // of the first lane in memory
    llvm::Value* shift = nullptr;    // bytes, i32
    llvm::Value *first = nullptr, *last = nullptr;
    llvm::Value* inside = nullptr;  // whether both lie in the tensor
  };
  [[nodiscard]] const BodyLoad& load_at(std::size_t i) const { return body_.loads[i]; }
  [[nodiscard]] bool reversed(std::size_t i) const { return load_at(i).kind == LoadKind::reversed; }
  [[nodiscard]] llvm::Type* type_of(std::size_t load, int lanes) const;
  [[nodiscard]] unsigned granule_bytes(std::size_t load) const;
  Access access_of(std::size_t load, llvm::Value* element, int elements = 1);
  Pair pair_of(std::size_t load);
  std::vector<llvm::Value*> load_granules(std::size_t load, const Pair& pair);
  llvm::Value* from_granules(std::size_t load, llvm::ArrayRef<llvm::Value*> granules);
  llvm::Value* gathered(std::size_t load, llvm::Value* lane);
  llvm::Value* gather(std::size_t load);
  llvm::Value* gather_needed(std::size_t load);
  llvm::Value* load_lanes(std::size_t load);
  llvm::Value* load_element(std::size_t load);
  std::vector<llvm::Value*> compute(int lanes, llvm::ArrayRef<llvm::Value*> values);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  std::size_t index_;
  const Body& body_;
  AccessEmitter accesses_;
  BodyArguments arguments_;
  llvm::Value *column_ = nullptr, *from_ = nullptr, *to_ = nullptr;
  std::vector<Pair> pairs_;  // of all loads, once asked for
};

}  // namespace padlock::compiler
