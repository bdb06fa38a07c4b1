#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/shared_memory.h"

namespace padlock::compiler {

/// Bytes of global memory that one instruction copies to shared memory.
struct BulkCopy {
  Access from;         ///< the first vector of kStageVectorBytes, aligned to them
  llvm::Value* to;     ///< a byte of shared memory, i32, aligned likewise
  llvm::Value* bytes;  ///< a multiple of kStageVectorBytes, at least 0; i32
};

/// Emits copies that one thread of a block starts, and that end at any time until a thread has waited for them.
///
/// On a GPU a barrier object (PTX ISA, mbarrier) at the first byte of shared memory is told how many bytes are to come.
/// A device that runs threads one after the other keeps there how many it was told, and how many came.
class BulkCopies {
 public:
  BulkCopies(const VectorContext& vector, SharedMemory& memory)
      : vector_(vector), builder_(vector.builder), memory_(memory), accesses_(builder_, vector.fields.fault) {}

  /// Emits the start, by one thread, before a barrier of the block.
  void start(const std::vector<BulkCopy>& copies);
  /// Emits the wait, after that barrier.
  void wait();

 private:
  void start_on_gpu(const std::vector<BulkCopy>& copies, llvm::Value* bytes);
  void run(const std::vector<BulkCopy>& copies, llvm::Value* bytes);
  void emit_ptx(const char* code, llvm::ArrayRef<llvm::Value*> operands);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SharedMemory& memory_;
  AccessEmitter accesses_;
};

}  // namespace padlock::compiler
