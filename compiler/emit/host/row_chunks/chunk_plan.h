#pragma once

#include <cstddef>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// The memory of a launch's plan: what the vectors of a chunk take (compiler/schedule/model/row_chunks.h), and what the
/// planner knows of columns. Words of 64 bits, then tables. Offsets are expressions over sizes, in bytes; so is what
/// the launch allocates.
class RowChunkPlan {
 public:
  /// `bit_masks`: masks are words of a bit a lane, else a byte a lane.
  RowChunkPlan(const Kernel& kernel, const RowChunks& chunks, bool bit_masks);

  /// A table with so many bytes an entry.
  struct Table {
    Expr offset;
    int bytes = 8;
  };
  /// Vectors of a chunk of rows that registers hold, where that is as good as more.
  static constexpr int kHeld = 4;
  /// Vectors of a trip that takes those which follow each other.
  [[nodiscard]] static int vectors_of_trip(const RowChunks& chunks) { return 2 * chunks.loop.joined; }
  // Words:
  static constexpr std::size_t vectors() { return 0; }  ///< of a chunk; 0: no plan
  /// The first of them, all full, so that they follow each other: whole trips.
  static constexpr std::size_t full() { return 8; }
  static constexpr std::size_t units() { return 16; }  ///< of a chunk
  static constexpr std::size_t runs() { return 24; }   ///< while it is made: the last run of columns
  static constexpr std::size_t lowest(std::size_t load) { return 32 + 16 * load; }  ///< first window, from its base
  static constexpr std::size_t spread(std::size_t load) { return 40 + 16 * load; }
  // An entry for each vector, and one more of `positions`:
  Table positions;             ///< elements from the chunk's first; the last: of a chunk
  std::vector<Table> starts;   ///< of its window, from the first; of each load
  std::vector<Table> indices;  ///< into its window, as many bits as an element; of each load
  std::vector<Table> masks;    ///< of each guard of a selection
  // An entry for each column:
  std::vector<Table> column_sources;  ///< the column's part of an offset; of each load
  std::vector<Table> column_holds;    ///< whether the conditions on the column hold, a byte; of each guard
  // An entry for each run of columns whose sources are as far apart, while the same conditions hold:
  Table run_begins;              ///< and one more
  std::vector<Table> run_steps;  ///< of each load
  Expr bytes;                    ///< of all

  /// The predicates of selections, then of loads, each once.
  std::vector<PredicateId> guards;
  std::size_t selections = 0;
  [[nodiscard]] std::size_t guard_index(PredicateId guard) const;
};

/// Emits the kernel's HostPlanner.
void emit_chunk_plan(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan);

}  // namespace padlock::compiler
