#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/emit/host/row_chunks/chunk_plan.h"

// The vectors of row chunks, but for permutations.
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
[[nodiscard]] std::vector<Value*> interleave(IRBuilder<>& builder, const InterleavedColumns& columns,
                                             std::vector<Value*> loaded, int vectors);

/// The masks of a chunk's selections, and what is chosen by them. A target without registers of masks selects by the
/// sign of a lane as wide as what it selects.
class SelectionMasks {
 public:
  /// Borrows them all.
  SelectionMasks(IRBuilder<>& builder, const TargetFeatures& target, const RowChunks& rows)
      : builder_(builder), target_(target), rows_(rows) {}

  /// Emits the loads of a node's masks from the plan, unless a node before it has the same.
  void load(const RowChunkPlan& plan, Value* memory, const BodyNode& node);
  /// Returns a node's masks, one for each vector.
  [[nodiscard]] const std::vector<Value*>& of(const BodyNode& node) const {
    return masks_.at({node.guard, bits(node)});
  }
  /// Emits `value` where the mask holds, else `other`.
  [[nodiscard]] Value* choose(Value* mask, Value* value, Value* other);

 private:
  [[nodiscard]] unsigned bits(const BodyNode& node) const;

  IRBuilder<>& builder_;
  const TargetFeatures& target_;
  const RowChunks& rows_;
  std::map<std::pair<PredicateId, unsigned>, std::vector<Value*>> masks_;  // of each vector
};

/// Asks for each line of a result that a chunk some trips later will write, where this trip's vectors of so many bytes
/// are stored at element `at` after `vectors`. Vectors that cross lines and are stored again in part keep their places
/// in a core's queue of stores until all their lines have come: rows of 66 bytes of 64 took 1.25 to 1.9 times as long
/// as a copy on a Xeon (the latter where the core's other thread was busy, which halves the queue), and as long as a
/// copy with this; with 512 and 2048 bytes as with 1024.
void prefetch_stores(IRBuilder<>& builder, llvm::Type* element, const std::vector<Value*>& vectors, int vector_bytes,
                     Value* at);

}  // namespace padlock::compiler
