#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// The nodes of row chunks that shuffles of their columns make, for all vectors of a chunk at once.
class InterleavedNodes {
 public:
  /// Borrows the rows.
  explicit InterleavedNodes(const RowChunks& rows);

  /// Returns the columns of such a node; null for any other.
  [[nodiscard]] const InterleavedColumns* find(std::size_t node) const;
  /// Returns whether the node is made with such a node, as what its operands are made of is.
  [[nodiscard]] bool is_within(std::size_t node) const { return within_[node]; }

 private:
  std::map<std::size_t, const InterleavedColumns*> columns_;  // by their node
  std::vector<bool> within_;                                  // of each node
};

/// Emits the shuffles; returns so many vectors of rows, in order.
[[nodiscard]] std::vector<llvm::Value*> interleave(llvm::IRBuilder<>& builder, const InterleavedColumns& columns,
                                                   std::vector<llvm::Value*> loaded, int vectors);

}  // namespace padlock::compiler
