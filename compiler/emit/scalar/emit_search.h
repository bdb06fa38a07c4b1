#pragma once

#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/kernel/kernel.h"

namespace padlock::compiler {

/// Keeps the last result of a search in memory of the function, with the numbers that all entries that were looked at
/// tell from it as they told that one: for each of them the loop takes the same way, whether or not the entries ascend.
struct SearchMemo {
  llvm::Value *least, *end, *result;  // slots of i64; numbers in [least, end) have the result

  /// Makes a memo without numbers where the function of `builder` begins.
  [[nodiscard]] static SearchMemo make(llvm::IRBuilder<>& builder);
};

/// Emits a search's loop for a number, i64. `looked_at` emits the entry at `middle`, i64, when the search's variable
/// has its value. Returns the final `low`, i64. With a memo: of all searches with the same entries.
[[nodiscard]] llvm::Value* emit_search(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Search& search,
                                       llvm::Value* wanted, llvm::function_ref<llvm::Value*()> looked_at,
                                       const SearchMemo* memo = nullptr);

}  // namespace padlock::compiler
