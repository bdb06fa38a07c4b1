#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/dtype.h"

namespace padlock::compiler {

/// Elements [first + displacement, first + displacement + elements) of a tensor.
struct Access {
  llvm::Value* pointer = nullptr;
  ir::DType dtype = ir::DType::f32;
  llvm::Value* first = nullptr;   // linear element offset, i64; or i32, unsigned
  std::int64_t displacement = 0;  // added to the address
  llvm::Value* origin = nullptr;  // if given: the element that `pointer` points to, an offset of either width
  int elements = 1;
  llvm::Value* mask = nullptr;  // if given: which elements are accessed, i1 each
  // With a mask and `extent`: the first and the last accessed element, in [0, elements).
  llvm::Value *first_accessed = nullptr, *last_accessed = nullptr;
  llvm::Value* guard = nullptr;      // if given: the access happens only if it holds
  llvm::Value* otherwise = nullptr;  // the value of a load that does not happen; null: 0
  llvm::Value* extent = nullptr;     // if given (bounds-check mode), i64: the access happens only if all of it is below
  llvm::Value* name = nullptr;       // with `extent`: index into KernelAbi::accesses
  unsigned align = 1;                // bytes; the address is known to be a multiple
  bool fetches_line = false;         // a GPU's load of an integer of at most 8 bytes asks for the line around it
  bool in_word = false;              // a plain load of fewer than 32 bits gives a word, whose other bits are 0
  bool proves_align = false;         // with `extent`: also tests that the address is such a multiple, in elements
};

/// How a store goes through the caches.
enum class StoreHint : std::uint8_t {
  none,
  nontemporal,  ///< a host's: past them
  evict_first,  ///< a GPU's: evicted first
};

/// Emits loads and stores, with their guards and their bounds checks. May end the builder's block: the builder then
/// stands where later code belongs.
class AccessEmitter {
 public:
  /// `fault`: the launch's AccessFault.
  AccessEmitter(llvm::IRBuilder<>& builder, llvm::Value* fault) : builder_(builder), fault_(fault) {}

  [[nodiscard]] llvm::Value* address(const Access& access);
  /// Returns a value of `type`; `otherwise` or 0 if the access does not happen.
  [[nodiscard]] llvm::Value* load(const Access& access, llvm::Type* type);
  /// Precondition with a hint: the address is a multiple of the value's size.
  void store(const Access& access, llvm::Value* value, StoreHint hint);

 private:
  llvm::Value* load_with_line(llvm::Value* address, llvm::Type* type);
  void store_streaming(llvm::Value* address, llvm::Value* value);
  llvm::BasicBlock* check(const Access& access, llvm::BasicBlock* skip);
  llvm::Value* is_aligned(const Access& access);
  void report(const Access& access, llvm::Value* coordinate);

  llvm::IRBuilder<>& builder_;
  llvm::Value* fault_;
};

}  // namespace padlock::compiler
