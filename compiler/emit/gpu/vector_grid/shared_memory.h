#pragma once

#include <functional>
#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/emit_access.h"

namespace padlock::compiler {

/// Emits accesses of bytes that a launch asks for, and a block's threads share: a box's stages, or a grid's row table.
///
/// A device that runs a block's threads one after the other keeps a stamp for each byte, after all bytes. A stamp is 0,
/// or one more than the interval in which the byte was written, with a mark if a copy in bulk wrote it. These are
/// faults: a byte written twice, or read unwritten, before the barrier or before the wait for such copies, and an
/// access beyond what the launch asked for.
class SharedMemory {
 public:
  /// `bytes`: how many a launch asks for. `memory`: the first of them.
  SharedMemory(const VectorContext& vector, llvm::Value* memory, ir::Expr bytes)
      : vector_(vector),
        builder_(vector.builder),
        accesses_(builder_, vector.fields.fault),
        memory_(memory),
        bytes_(bytes) {}

  /// Emits the number of the first byte (i32); others follow it. On a GPU these are addresses.
  [[nodiscard]] llvm::Value* first();
  /// Stores an integer, or a vector of words, from byte `at` (i32) on, a multiple of its size.
  void store(llvm::Value* at, llvm::Value* value) { store(at, value, 0); }
  /// As a copy in bulk does it, where there are stamps.
  void store_in_bulk(llvm::Value* at, llvm::Value* value) { store(at, value, kInBulk); }
  /// Says whether the copies in bulk have ended (i1), for accesses from here on.
  void set_waited(llvm::Value* waited) { waited_ = waited; }
  /// Loads `count` words of 32 bits that begin at byte `at` (i32), a multiple of 4. Where there are stamps, `may_load`
  /// emits whether all needed bytes are written.
  [[nodiscard]] std::vector<llvm::Value*> load_words(llvm::Value* at, int count,
                                                     const std::function<llvm::Value*()>& may_load);
  /// Emits whether `size` bytes from `at` on were written before this interval. Without stamps: true.
  [[nodiscard]] llvm::Value* is_written(llvm::Value* at, int size);
  [[nodiscard]] bool has_stamps() const { return vector_.interval != nullptr; }

 private:
  static constexpr std::uint32_t kInBulk = 1U << 31;  // the mark of a stamp

  [[nodiscard]] llvm::Value* bytes() const;
  [[nodiscard]] llvm::Value* stamp_of(llvm::Value* at);
  void store(llvm::Value* at, llvm::Value* value, std::uint32_t mark);
  [[nodiscard]] llvm::Value* claim(llvm::Value* at, int size, std::uint32_t mark);
  [[nodiscard]] Access access_of(llvm::Value* at, int size);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  AccessEmitter accesses_;
  llvm::Value* memory_;
  ir::Expr bytes_;
  llvm::Value* waited_ = nullptr;
};

}  // namespace padlock::compiler
