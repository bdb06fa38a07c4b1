#pragma once

#include <optional>

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/tiles.h"
#include "compiler/schedule/model/vector_permutes.h"

namespace padlock::compiler {

class PassEdits;
class PassLog;

/// How a GPU's threads share an output.
struct BlockOptions {
  int threads = 256;                         ///< of a block; each thread takes `unroll` vectors of the flattened output
  bool tiles = true;                         ///< use tiles through shared memory if rows are read across
  TileSize tile_size = TileSize::by_output;  ///< size of the tiles
  BoxKind boxes = BoxKind::none;             ///< use these boxes, or no cover if they do not apply
  /// Make vectors element by element, or no cover if that does not apply: this schedule of the kernel has its segments.
  /// Borrowed.
  const Schedule* segmented = nullptr;

  /// Returns whether rows are covered whole, without cases and segments.
  [[nodiscard]] bool takes_whole_rows() const { return boxes != BoxKind::none || segmented != nullptr; }
};

/// The parts of a target's config that concern the loops.
struct ScheduleOptions {
  bool split = true;      ///< split the innermost axis, so that its interior has no predicate
  int vector_bytes = 16;  ///< of the widest element type that one vector holds
  int unroll = 1;         ///< vectors that a thread takes in one trip of the main loop
  StoreKind store = StoreKind::plain;
  bool plans = true;                        ///< of a host: take short rows by row chunks, if they apply
  VectorPermutes permutes = {};             ///< of a host, for its row chunks
  std::optional<BlockOptions> blocks = {};  ///< of a GPU
  const PassEdits* edits = nullptr;         ///< borrowed; set by tests alone
  PassLog* log = nullptr;                   ///< borrowed
};

}  // namespace padlock::compiler
