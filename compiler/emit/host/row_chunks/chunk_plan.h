#pragma once

#include <cstddef>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// The memory of a plan: what the vectors of a chunk take, for the row chunks of one case
/// (compiler/schedule/model/row_chunks.h). Words of 64 bits, then tables of a vector's lanes.
class RowChunkPlan {
 public:
  explicit RowChunkPlan(const RowChunks& rows);

  static constexpr std::size_t kAlign = 64;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The predicates of selections, each once.
  [[nodiscard]] const std::vector<PredicateId>& guards() const { return guards_; }

  // Offsets in bytes:
  static constexpr std::size_t rows() { return 0; }  ///< of a chunk
  [[nodiscard]] std::size_t position(int vector) const { return word(1 + static_cast<std::size_t>(vector)); }
  /// Start of the first window of a load, in elements from its row's base.
  [[nodiscard]] std::size_t lowest(std::size_t load) const { return word(load_words(load)); }
  [[nodiscard]] std::size_t spread(std::size_t load) const { return word(load_words(load) + 1); }
  /// Start of a vector's window, in elements from the first window.
  [[nodiscard]] std::size_t start(std::size_t load, int vector) const {
    return word(load_words(load) + 2 + static_cast<std::size_t>(vector));
  }
  /// Offsets of the lanes' elements from their row's base, one vector after the other, each with as many bits as an
  /// element.
  [[nodiscard]] std::size_t sources(std::size_t load) const { return sources_[load]; }
  /// Masks of the lanes, a byte each: -1 if the predicate holds, else 0.
  [[nodiscard]] std::size_t mask(std::size_t guard) const { return masks_[guard]; }

 private:
  static std::size_t word(std::size_t index) { return 8 * index; }
  [[nodiscard]] std::size_t load_words(std::size_t load) const { return 1 + vectors_ + load * (2 + vectors_); }

  std::size_t vectors_;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> sources_, masks_;
  std::vector<PredicateId> guards_;
};

/// Emits i1 plan(launch, plan): fills the plan for the sizes of the launch; false where no row fits a chunk.
[[nodiscard]] llvm::Function* emit_chunk_plan(KernelContext& context, const RowChunks& rows, const std::string& name);

}  // namespace padlock::compiler
