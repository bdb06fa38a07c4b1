#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/dtype.h"

namespace padlock::compiler {

/// Elements [first, last] of a tensor.
struct Access {
  llvm::Value* pointer = nullptr;
  ir::DType dtype = ir::DType::f32;
  llvm::Value* first = nullptr;  // linear element offsets, i64
  llvm::Value* last = nullptr;
  llvm::Value* guard = nullptr;   // where given, the access happens only if it holds
  llvm::Value* extent = nullptr;  // where given (bounds-check mode), and only if 0 <= first, last < extent
  llvm::Value* name = nullptr;    // with `extent`: index into KernelAbi::accesses
  unsigned align = 1;             // bytes of which the address is known to be a multiple
};

/// How a store goes through the caches.
enum class StoreHint : std::uint8_t {
  none,
  nontemporal,  ///< a host's: past them
  streaming,    ///< a GPU's: evicted first
};

/// Emits loads and stores, with their guards and their bounds checks. May end the builder's block: what follows is
/// emitted where it stands afterwards.
class AccessEmitter {
 public:
  /// `fault`: the launch's AccessFault.
  AccessEmitter(llvm::IRBuilder<>& builder, llvm::Value* fault) : builder_(builder), fault_(fault) {}

  [[nodiscard]] llvm::Value* address(llvm::Value* pointer, llvm::Value* offset, ir::DType dtype);
  /// A value of `type`; 0 where the access does not happen.
  [[nodiscard]] llvm::Value* load(const Access& access, llvm::Type* type);
  /// With a hint the address is a multiple of the value's size.
  void store(const Access& access, llvm::Value* value, StoreHint hint);

 private:
  llvm::BasicBlock* block(const char* name);
  void store_streaming(llvm::Value* address, llvm::Value* value);
  llvm::BasicBlock* check(const Access& access, llvm::BasicBlock* skip);
  void report(const Access& access, llvm::Value* coordinate);

  llvm::IRBuilder<>& builder_;
  llvm::Value* fault_;
};

}  // namespace padlock::compiler
