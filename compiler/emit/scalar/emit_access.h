#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/dtype.h"

namespace padlock::compiler {

/// Elements [first + displacement, first + displacement + elements) of a tensor.
struct Access {
  llvm::Value* pointer = nullptr;
  ir::DType dtype = ir::DType::f32;
  llvm::Value* first = nullptr;   // linear element offset, i64; or i32, of which no bit is a sign
  std::int64_t displacement = 0;  // is added to the address
  llvm::Value* origin = nullptr;  // where given, the element that `pointer` points to, an offset of either width
  int elements = 1;
  llvm::Value* mask = nullptr;  // where given, which elements are accessed, i1 each
  // With it, and with `extent`: the first and the last that are, in [0, elements).
  llvm::Value *first_accessed = nullptr, *last_accessed = nullptr;
  llvm::Value* guard = nullptr;   // where given, the access happens only if it holds
  llvm::Value* extent = nullptr;  // where given (bounds-check mode), i64, and only if all of it is below
  llvm::Value* name = nullptr;    // with `extent`: index into KernelAbi::accesses
  unsigned align = 1;             // bytes of which the address is known to be a multiple
  bool fetches_line = false;      // a GPU's load, of an integer of at most 8 bytes, asks for the line around it
  bool proves_align = false;      // with `extent`: that it is such a multiple is tested, too, in elements
};

/// How a store goes through the caches.
enum class StoreHint : std::uint8_t {
  none,
  nontemporal,  ///< a host's: past them
  evict_first,  ///< a GPU's: evicted first
};

/// Emits loads and stores, with their guards and their bounds checks. May end the builder's block: what follows is
/// emitted where it stands afterwards.
class AccessEmitter {
 public:
  /// `fault`: the launch's AccessFault.
  AccessEmitter(llvm::IRBuilder<>& builder, llvm::Value* fault) : builder_(builder), fault_(fault) {}

  [[nodiscard]] llvm::Value* address(const Access& access);
  /// A value of `type`; 0 where the access does not happen.
  [[nodiscard]] llvm::Value* load(const Access& access, llvm::Type* type);
  /// With a hint the address is a multiple of the value's size.
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
