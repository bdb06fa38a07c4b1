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

// Executes a schedule element by element without generating code, and records every read and write. It shows whether a
// counter-example of the prover is real.
namespace padlock::compiler {

/// Rows [row_first, row_last) x columns [column_first, column_last) of the output, which one thread computes.
struct Task {
  std::int64_t row_first = 0, row_last = 0;
  std::int64_t column_first = 0, column_last = 0;
};

/// The writer of an element: a thread of a grid's block; for tasks, task number `block`.
struct Writer {
  std::int64_t block = 0;
  int thread = 0;

  friend auto operator<=>(const Writer&, const Writer&) = default;
};

/// An action that a correct kernel never takes.
struct Event {
  /// load: outside the view or the storage; store: outside the result; disjoint: outside the task, or where another
  /// writer was; cover: not written by its task, or by none; align: a vector that should be aligned and is not; width:
  /// a value that overflows; extent: a result's is negative.
  ObligationKind kind = ObligationKind::load;
  std::vector<std::int64_t> row;  ///< outer coordinates; empty if the kernel has one axis, or the event has no place
  std::optional<std::int64_t> column;  ///< of the output element
  std::string text;                    ///< as the prover prints it
  std::vector<Writer> writers = {};    ///< for disjoint: both writers of the element
};

/// The choices of an execution.
struct Execution {
  LoopStrategyKind strategy =
      LoopStrategyKind::scalar;      ///< for every run whose tests allow it; other runs fall back, as the code does
  std::int64_t shift = 0, peel = 0;  ///< for every run that can have them
  std::int64_t phase = 0;            ///< for a grid of vectors
  int index_bits = 64;               ///< of emitted integers, which wrap: 64 or 32
  bool reads_none = false;           ///< every index from data is out of range; else each is that of the last element
  /// The rows whose every element must be written; absent: all.
  std::optional<std::pair<std::int64_t, std::int64_t>> rows = {};
};

struct Trace {
  std::vector<Event> events;  ///< each kind once
  std::int64_t chunks = 0;    ///< computed vectors or elements
  std::int64_t vectors = 0;   ///< of these, with more than one lane
  std::int64_t loads = 0;     ///< elements read
  std::int64_t writes = 0;    ///< elements written; each write counts
};

/// Returns everything that a launch covers. `sizes`: one for each symbol of the program.
[[nodiscard]] Task whole_launch(const Schedule& schedule, std::span<const std::int64_t> sizes);

/// Executes the tasks one after another. Error: resource_exhausted beyond some millions of elements.
[[nodiscard]] Result<Trace> interpret(const Schedule& schedule, std::span<const std::int64_t> sizes,
                                      std::span<const Task> tasks, const Execution& execution);

/// Executes a launch as the threads of a GPU take the vectors of the flattened output (emit_vector_grid.cpp).
/// Exactly one thread must write each element. Error: as above.
[[nodiscard]] Result<Trace> interpret_grid(const Schedule& schedule, std::span<const std::int64_t> sizes,
                                           const Execution& execution);

}  // namespace padlock::compiler
