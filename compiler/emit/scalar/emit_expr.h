#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "abi/kernel_abi.h"
#include "compiler/schedule/index/index_width.h"
#include "ir/expr/expr.h"

namespace padlock::compiler {

// Names that all emitters use.
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

/// The sizes that a kernel takes, each once, in the order of first use.
class SizeTable {
 public:
  std::size_t index(const abi::SizeArgument& size);
  [[nodiscard]] std::vector<abi::SizeArgument> take() && { return std::move(sizes_); }

 private:
  using Key = std::tuple<std::uint32_t, abi::SizeArgument::Encoding, std::uint32_t>;  // Expr::id, encoding, and input
  std::vector<abi::SizeArgument> sizes_;
  std::map<Key, std::size_t> ids_;
};

/// Emits Exprs as code of one function. The launcher evaluates expressions over symbols alone; they arrive as sizes.
/// The emitted code is arithmetic on coordinates.
///
/// A size may be anything that fits 64 bits, so there are two modes. An *address*, an element's offset in a tensor, is
/// computed modulo 2^64 (2^32): any part may wrap, and the sum is right. An *exact* value is compared or divided. Its
/// constant part is clamped or, under a mod, reduced before it is added. (Compared with coordinates below 2^47, a clamp
/// at 2^62 changes nothing.) Exact parts of an address have the width of an index.
class ExprEmitter {
 public:
  /// `sizes`: the launch's size array, a value of the block `entry`. Sizes are loaded at the end of `entry`. `widths`:
  /// of the kernel; borrowed. `index`: i64, or i32 if all indices fit it; `offset`: the same for elements' offsets.
  /// `for_gpu`: coordinates may be out of their ranges, since some expressions are computed before their coordinates
  /// are tested.
  ExprEmitter(ir::ExprContext& exprs, IndexWidths& widths, SizeTable& table, llvm::BasicBlock* entry,
              llvm::Value* sizes, llvm::IntegerType* index, llvm::IntegerType* offset, bool for_gpu)
      : exprs_(exprs),
        widths_(widths),
        table_(table),
        entry_(entry),
        sizes_(sizes),
        index_(index),
        offset_(offset),
        for_gpu_(for_gpu),
        outside_(for_gpu) {}

  [[nodiscard]] ir::ExprContext& exprs() { return exprs_; }
  /// Sets a coordinate's value from here on. Forgets what was emitted for other values.
  void set_coordinate(ir::Expr coordinate, llvm::Value* value);

  /// Says whether, from here on, coordinates are in their ranges wherever the code's values are used. Divisions then
  /// need no care of signs.
  void set_inside(bool inside) { outside_ = for_gpu_ && !inside; }

  /// Returns an element's offset.
  [[nodiscard]] llvm::Value* address(llvm::IRBuilder<>& builder, ir::Expr e) { return address(builder, e, offset_); }
  /// Returns an element's offset in a type of this width.
  [[nodiscard]] llvm::Value* address(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type) {
    emitted_.clear();
    return emit(builder, e, Encoding::wrap, type);
  }
  /// Returns an element's offset in an input, counted from the launch's origin there.
  [[nodiscard]] llvm::Value* address_from_origin(llvm::IRBuilder<>& builder, ir::Expr e, std::uint32_t input);
  /// Returns an index.
  [[nodiscard]] llvm::Value* exact(llvm::IRBuilder<>& builder, ir::Expr e) { return exact(builder, e, index_); }
  /// Returns an exact offset. Its coordinates are offsets, too.
  [[nodiscard]] llvm::Value* exact_offset(llvm::IRBuilder<>& builder, ir::Expr e) { return exact(builder, e, offset_); }
  /// Returns a size, exact, as i64.
  [[nodiscard]] llvm::Value* word(ir::Expr e) {
    return load_size(e, Encoding::saturate, llvm::Type::getInt64Ty(entry_->getContext()));
  }
  /// Returns a size that may differ between launches of a kernel.
  [[nodiscard]] llvm::Value* of_launch(const abi::SizeArgument& size, llvm::Type* type) {
    return load_word(table_.index(size), type);
  }
  /// Emits here, for all later code, the parts of an index or an offset that mention none of `varying`. The other
  /// coordinates keep their values.
  void hoist_exact(llvm::IRBuilder<>& builder, ir::Expr e, std::span<const ir::Expr> varying) {
    hoist(builder, e, widths_.wraps(e) ? Encoding::wrap : Encoding::saturate, index_, varying);
  }
  void hoist_address(llvm::IRBuilder<>& builder, ir::Expr e, std::span<const ir::Expr> varying) {
    hoist(builder, e, Encoding::wrap, offset_, varying);
  }
  /// Uses an index's value that was emitted elsewhere, for all later code.
  void give_exact(ir::Expr e, llvm::Value* value) {
    hoisted_[{e.id(), widths_.wraps(e) ? Encoding::wrap : Encoding::saturate, index_->getBitWidth()}] = value;
  }
  /// x div d and x mod d for an index x that is not negative and a positive size d. The host needs this once a task,
  /// and divides; a GPU has no instruction to divide.
  struct Division {
    llvm::Value* quotient;
    llvm::Value* remainder;
  };
  [[nodiscard]] Division divide(llvm::IRBuilder<>& builder, llvm::Value* x, ir::Expr d);

 private:
  using Encoding = abi::SizeArgument::Encoding;
  llvm::Value* exact(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type) {
    emitted_.clear();
    return emit_exact(builder, e, type);
  }
  llvm::Value* emit(llvm::IRBuilder<>& builder, ir::Expr e, Encoding fit, llvm::IntegerType* type);
  void hoist(llvm::IRBuilder<>& builder, ir::Expr e, Encoding fit, llvm::IntegerType* type,
             std::span<const ir::Expr> varying);
  /// Returns an exact value. If a sum wraps, all of it is computed modulo 2^64.
  llvm::Value* emit_exact(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type) {
    return emit(builder, e, widths_.wraps(e) ? Encoding::wrap : Encoding::saturate, type);
  }
  llvm::Value* emit_operation(llvm::IRBuilder<>& builder, ir::Expr e, Encoding fit, llvm::IntegerType* type);
  llvm::Value* emit_sum(llvm::IRBuilder<>& builder, ir::Expr e, Encoding fit, llvm::IntegerType* type);
  llvm::Value* emit_product(llvm::IRBuilder<>& builder, ir::Expr e, Encoding fit, llvm::IntegerType* type);
  llvm::Value* emit_whole(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type);
  llvm::Value* emit_floordiv(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type);
  llvm::Value* emit_mod(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type);
  llvm::Value* emit_minmax(llvm::IRBuilder<>& builder, ir::Expr e, llvm::IntegerType* type);
  llvm::Value* load_size(ir::Expr e, Encoding fit, llvm::Type* type);
  llvm::Value* load_word(std::size_t index, llvm::Type* type);
  llvm::Value* multiplied_quotient(llvm::IRBuilder<>& builder, llvm::Value* x, ir::Expr d);
  /// Returns the quotient for any sign, rounded down.
  llvm::Value* floor_quotient(llvm::IRBuilder<>& builder, llvm::Value* x, ir::Expr d, bool has_sign);
  /// Returns whether the dividend of a floordiv or mod may be negative.
  [[nodiscard]] bool has_sign(ir::Expr e) { return outside_ || !widths_.divides_nonnegative(e); }
  template <class Divide>
  llvm::Value* divide(llvm::IRBuilder<>& builder, ir::Expr e, llvm::Value* dividend, llvm::Value* divisor,
                      Divide&& divide);

  ir::ExprContext& exprs_;
  IndexWidths& widths_;
  SizeTable& table_;
  llvm::BasicBlock* entry_;
  llvm::Value* sizes_;
  llvm::IntegerType *index_, *offset_;
  bool for_gpu_, outside_;
  std::map<std::uint32_t, llvm::Value*> coordinates_;                // by Expr::id
  std::map<std::pair<std::size_t, unsigned>, llvm::Value*> loaded_;  // by index in the table, and bits
  // Values emitted for the current root: expressions are DAGs, where a reflected coordinate occurs twice at each level.
  // Only within a root, whose code has no branches, do values surely dominate their uses.
  using Key = std::tuple<std::uint32_t, Encoding, unsigned>;  // Expr::id and bits
  std::map<Key, llvm::Value*> emitted_;
  std::map<Key, llvm::Value*> hoisted_;
};

}  // namespace padlock::compiler
