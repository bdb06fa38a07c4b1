#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/permuted/vector_permutes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/segments.h"

namespace padlock::compiler {

class PassEdits;

/// The parts of a target's config that concern the loops.
struct ScheduleOptions {
  bool split = true;      ///< split the innermost axis, so that its interior has no predicate
  int vector_bytes = 16;  ///< of the widest element type that one vector holds
  int unroll = 1;         ///< vectors that a thread takes in one trip of the main loop
  StoreKind store = StoreKind::plain;
  VectorPermutes permutes = {};   ///< of the target; for short rows of the host
  int threads = 0;                ///< of a GPU's block, each of which takes `unroll` vectors of the flattened output
  bool tiles_transposes = false;  ///< threads: go by tiles through shared memory where rows are read across
  TileSize tile_size = TileSize::by_output;  ///< of those tiles
  const PassEdits* edits = nullptr;          ///< borrowed; of a test
};

// The passes that make a schedule of a kernel, besides those with a file of their own; compiler/pipeline.h has their
// order.

/// Makes a schedule without code, with the extents of a launch. `config` is the text that it keeps.
[[nodiscard]] Schedule begin_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

/// Gives each segment of the cases straight-line code and the streams of its loads. Segments whose code differs in
/// addresses alone share a body; neighbours that do the same become one.
void make_bodies(Schedule& schedule, const std::vector<RowCase>& cases);

/// Makes the body of these roots, and the streams of its loads. `vector_sums`: sums may be vectors, where neighbouring
/// columns add up the same rows.
[[nodiscard]] std::pair<Body, std::vector<Stream>> make_body(const Kernel& kernel, const std::vector<NodeId>& roots,
                                                             bool vector_sums);

/// Finds, on the host, the row recurrence of each load's address (compiler/schedule/row_recurrence.h).
void set_row_steps(Schedule& schedule);

}  // namespace padlock::compiler
