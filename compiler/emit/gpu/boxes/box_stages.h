#pragma once

#include <vector>

#include "compiler/emit/gpu/boxes/bulk_copies.h"

namespace padlock::compiler {

/// Emits an expression of a box exactly, with the steps of the launch.
[[nodiscard]] inline llvm::Value* exact_at_launch(const VectorContext& vector, Expr e) {
  return vector.exact(at_launch(vector.exprs.exprs(), *vector.schedule().boxes(), e));
}

/// Location of a stage for the coordinates of one box.
struct StagedRun {
  llvm::Value* tensor = nullptr;
  ir::DType dtype = ir::DType::f32;
  llvm::Value* origin = nullptr;  ///< offset of the element at byte `place` of shared memory; may be before the first
  llvm::Value* place = nullptr;   ///< a byte of shared memory, i32; a multiple of kStageVectorBytes
  llvm::Value* zero = nullptr;    ///< the byte of shared memory where element 0 would be
  // For tests of accesses:
  llvm::Value* storage = nullptr;  ///< elements of the tensor's storage, i64
  llvm::Value* name = nullptr;     ///< of the access
};

/// Returns the access of `elements` elements of a stage's tensor, from `element` on.
[[nodiscard]] Access global_access(const VectorContext& vector, const StagedRun& run, llvm::Value* element,
                                   int elements);

/// Emits the copies of runs into the stages of a box. Either all stages are runs, or all are turned.
class BoxStages {
 public:
  /// `thread`: its number in the block, an index.
  BoxStages(const VectorContext& vector, SharedMemory& memory, llvm::Value* thread)
      : vector_(vector),
        builder_(vector.builder),
        memory_(memory),
        bulk_(vector, memory),
        accesses_(builder_, vector.fields.fault),
        thread_(thread) {}

  /// Emits the place of each stage, for a box whose origins the expressions have. Reads no memory.
  void locate();
  /// Emits this thread's share of the copies, before a barrier of the block.
  void copy();
  /// Emits the wait for copies in bulk, after that barrier.
  void wait();
  [[nodiscard]] const StagedRun& at(std::size_t stage) const { return runs_[stage]; }

 private:
  /// The elements of a run that are copied, counted from its origin.
  struct Copied {
    llvm::Value *begin, *end;                                ///< the needed elements
    llvm::Value *vectors = nullptr, *vectors_end = nullptr;  ///< the elements that are copied in vectors
  };
  [[nodiscard]] bool in_bulk() const { return vector_.context.target.copies_in_bulk && !copied_.empty(); }
  void add_run(StagedRun run);
  void copy_in_bulk();
  void copy_vectors(const StagedRun& run, const Copied& copied);
  void copy_elements(const StagedRun& run, llvm::Value* first, llvm::Value* end);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SharedMemory& memory_;
  BulkCopies bulk_;
  AccessEmitter accesses_;
  llvm::Value* thread_;
  std::vector<StagedRun> runs_;
  std::vector<Copied> copied_;
};

}  // namespace padlock::compiler
