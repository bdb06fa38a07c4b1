#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "support/error.h"

namespace padlock::compiler {

class PassEdits;

/// Which part of the output a block computes.
enum class GridMap : std::uint8_t {
  flat,    ///< a run of the flattened output, an element a thread: for rows that are too short for a warp
  rows,    ///< one row, all threads together: for rows of some kilobytes
  stream,  ///< the vectors of the flattened output in turn, for any rows
  tiled,   ///< square tiles through shared memory where the innermost axis is read across rows; else as stream
  tiles,   ///< parts of as many rows as there are teams, for any rows; of one row where the kernel has but one
};

/// How a vector is loaded that is not at a multiple of its size: element by element, or shifted together from the two
/// aligned vectors that it lies in.
enum class MisalignedSource : std::uint8_t { narrow, shift };

/// Cache hint of GPU stores: none, or streaming (evict first), for output that is not read again soon.
enum class CacheHint : std::uint8_t { none, streaming };

/// One point of a GPU's search space. Data, not code: a config may be slow, never wrong.
struct GpuConfig {
  GridMap map = GridMap::tiled;
  int threads = 128;      ///< of a block: 128, 256 or 512
  int team = 8;           ///< 8 or 32 threads that share a row of a tile: few for short rows
  int items = 2;          ///< 1, 2 or 4 vectors (flat: elements) that a thread takes at a time
  int vector_bytes = 16;  ///< 4, 8 or 16: of the widest element type, in one access; flat has none
  MisalignedSource misaligned = MisalignedSource::shift;
  bool split = true;  ///< split the innermost axis at pads, so that its interior has no predicate
  CacheHint cache = CacheHint::none;
  bool persistent = false;  ///< as many blocks as run at once, each taking many tiles, instead of one tile a block

  friend bool operator==(const GpuConfig&, const GpuConfig&) = default;

  /// Reads "map=rows,threads=256,..."; keys in any order, a key that is missing keeps its value in `base`. Errors:
  /// invalid_argument, naming the key, what it takes and what was found.
  [[nodiscard]] static Result<GpuConfig> parse(std::string_view text, const GpuConfig& base);
  /// All keys, in declaration order; parse reads it back.
  [[nodiscard]] std::string to_string() const;
  /// The search space, in a fixed order. What means nothing beside other keys has its default: a team without tiles,
  /// how vectors are loaded where there is none (flat, or not split at pads) or one way (stream).
  [[nodiscard]] static std::vector<GpuConfig> all();
  /// The config of a kernel that was not tuned: tiles where it transposes, else a stream, which is right for rows of
  /// any length, in blocks of 128 threads that have two vectors of 16 bytes on their way each (an H200, f32 to i8).
  [[nodiscard]] static GpuConfig standard();
};

/// Makes the schedule of a config. Its text names the map that was chosen.
[[nodiscard]] Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits = nullptr);

}  // namespace padlock::compiler
