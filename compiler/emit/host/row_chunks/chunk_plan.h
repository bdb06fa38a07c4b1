#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// The memory of a launch's plan: what the vectors of a chunk take (compiler/schedule/model/row_chunks.h), and what the
/// planner knows of columns. First come words of 64 bits, then tables. Offsets are expressions over sizes, in bytes; so
/// is the size to allocate.
class RowChunkPlan {
 public:
  /// Masks are words of one bit per lane on a target with mask registers, else one byte per lane.
  RowChunkPlan(const Kernel& kernel, const RowChunks& chunks, const TargetFeatures& target);

  /// A table whose entries have this many bytes.
  struct Table {
    Expr offset;
    int bytes = 8;
  };
  /// Vectors of a chunk of rows that registers hold, if so few are as good as more.
  static constexpr int kHeld = 4;
  /// Vectors that a trip takes, if they follow each other.
  [[nodiscard]] static int vectors_of_trip(const RowChunks& chunks) { return 2 * chunks.loop.joined; }
  // Words:
  static constexpr std::size_t vectors() { return 0; }  ///< of a chunk; 0: no plan
  /// Number of vectors at the beginning that are full, so that they follow each other: whole trips.
  static constexpr std::size_t full() { return 8; }
  static constexpr std::size_t units() { return 16; }  ///< of a chunk
  static constexpr std::size_t runs() { return 24; }   ///< used by the planner: the last run of columns
  /// 1 if a chunk has whole cache lines and all its vectors are full, in whole trips, and the launch stores past the
  /// caches.
  static constexpr std::size_t streams() { return 32; }
  static constexpr std::size_t lowest(std::size_t load) { return 40 + 16 * load; }  ///< first window, from its base
  static constexpr std::size_t spread(std::size_t load) { return 48 + 16 * load; }
  // Tables with an entry for each vector; `positions` has one more:
  Table positions;             ///< elements from the chunk's first; the last: elements of a chunk
  std::vector<Table> starts;   ///< for each load: window's begin, from the first window
  std::vector<Table> indices;  ///< for each load: indices into the window, as wide as an element
  std::vector<Table>
      masks;  ///< for each guard of a selection; where indices are marked by it, for lanes that registers hold
  // Tables with an entry for each column:
  std::vector<Table> column_sources;  ///< for each load: the column's part of an offset
  std::vector<Table> column_holds;    ///< for each guard: whether its conditions on the column hold, a byte
  // Tables with an entry for each run: columns whose sources are equally far apart, while the same conditions hold:
  Table run_begins;              ///< has one more entry
  std::vector<Table> run_steps;  ///< for each load
  Expr bytes;                    ///< of the whole plan

  /// The guards of selections, then of loads, each once.
  std::vector<PredicateId> guards;
  std::size_t selections = 0;
  /// For each load: the selection that its indices are marked by, which holds wherever the load is needed; or none.
  std::vector<std::optional<std::size_t>> marks;
  /// Returns the load whose indices a selection marks, if there is one.
  [[nodiscard]] std::optional<std::size_t> marked_load(std::size_t selection) const;
  [[nodiscard]] std::size_t guard_index(PredicateId guard) const;

 private:
  void choose_marks(const Kernel& kernel, const RowChunks& chunks, const TargetFeatures& target);
};

/// Emits the kernel's HostPlanner.
void emit_chunk_plan(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan);

}  // namespace padlock::compiler
