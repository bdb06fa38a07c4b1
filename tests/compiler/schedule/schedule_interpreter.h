#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/prover/core/proof.h"
#include "compiler/schedule/model/schedule.h"

// Executes what a scheduled kernel says, element by element, without generating code: who reads and writes what. It
// shows whether a counter-example of the prover is one.
namespace padlock::compiler {

/// Rows [row_first, row_last) x columns [column_first, column_last) of the output: what one thread computes.
struct Task {
  std::int64_t row_first = 0, row_last = 0;
  std::int64_t column_first = 0, column_last = 0;
};

/// Who writes: a thread of a grid's block. Where tasks are executed, task number `block`.
struct Writer {
  std::int64_t block = 0;
  int thread = 0;

  friend auto operator<=>(const Writer&, const Writer&) = default;
};

/// Something that a right kernel never does.
struct Event {
  /// load: outside of the view, of the storage; store: outside of the result; disjoint: outside of the task, or where
  /// another writer was; cover: not written by its task, or by none; align: a vector that should be and is not; width:
  /// a value that overflows; extent: a result's is negative.
  ObligationKind kind = ObligationKind::load;
  std::vector<std::int64_t> row;       ///< outer coordinates; empty where the kernel has one axis, or it has no place
  std::optional<std::int64_t> column;  ///< of the output element
  std::string text;                    ///< as the prover says it
  std::vector<Writer> writers = {};    ///< disjoint, where an element has two: they
};

/// What is free in an execution.
struct Execution {
  LoopStrategyKind strategy =
      LoopStrategyKind::scalar;      ///< of every run whose tests allow it; the others fall back, as the code does
  std::int64_t shift = 0, peel = 0;  ///< of every run for which they are possible
  std::int64_t phase = 0;            ///< of a grid of vectors
  int index_bits = 64;               ///< of emitted integers: 64 or 32; they wrap
  bool reads_none = false;           ///< no index that is read is in range; else each is that of the last element
  /// The rows in which every element must be written; absent: all.
  std::optional<std::pair<std::int64_t, std::int64_t>> rows = {};
};

struct Trace {
  std::vector<Event> events;  ///< each once
  std::int64_t chunks = 0;    ///< vectors, or elements, that were computed
  std::int64_t vectors = 0;   ///< those of them with more than one lane
  std::int64_t loads = 0;     ///< elements that were read
  std::int64_t writes = 0;    ///< elements that were written, as often as that happened
};

/// The whole of what a launch covers. `sizes`: by symbol of the program.
[[nodiscard]] Task whole_launch(const Schedule& schedule, std::span<const std::int64_t> sizes);

/// Executes the tasks one after another. Error: resource_exhausted where that takes more than some millions of
/// elements.
[[nodiscard]] Result<Trace> interpret(const Schedule& schedule, std::span<const std::int64_t> sizes,
                                      std::span<const Task> tasks, const Execution& execution);

/// Executes a launch as the threads of a GPU take the vectors of the flattened output (compiler/emit/gpu/vector_grid/
/// emit_vector_grid.cpp). Every element must be written, by one thread. Error: as above.
[[nodiscard]] Result<Trace> interpret_grid(const Schedule& schedule, std::span<const std::int64_t> sizes,
                                           const Execution& execution);

}  // namespace padlock::compiler
