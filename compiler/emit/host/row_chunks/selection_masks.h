#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "compiler/emit/host/row_chunks/chunk_plan.h"

namespace padlock::compiler {

/// The masks of a chunk's selections, and what is chosen by them. A target without registers of masks selects by the
/// sign of a lane as wide as what it selects.
class SelectionMasks {
 public:
  /// Borrows them all.
  SelectionMasks(llvm::IRBuilder<>& builder, const TargetFeatures& target, const RowChunks& rows)
      : builder_(builder), target_(target), rows_(rows) {}

  /// Emits the loads of a node's masks from the plan, unless a node before it has the same.
  void load(const RowChunkPlan& plan, llvm::Value* memory, const BodyNode& node);
  /// Returns a node's masks, one for each vector.
  [[nodiscard]] const std::vector<llvm::Value*>& of(const BodyNode& node) const {
    return masks_.at({node.guard, bits(node)});
  }
  /// Emits `value` where the mask holds, else `other`.
  [[nodiscard]] llvm::Value* choose(llvm::Value* mask, llvm::Value* value, llvm::Value* other);

 private:
  [[nodiscard]] unsigned bits(const BodyNode& node) const;

  llvm::IRBuilder<>& builder_;
  const TargetFeatures& target_;
  const RowChunks& rows_;
  std::map<std::pair<PredicateId, unsigned>, std::vector<llvm::Value*>> masks_;  // of each vector
};

}  // namespace padlock::compiler
