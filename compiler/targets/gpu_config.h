#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "support/error.h"

namespace padlock::compiler {

class PassEdits;
class PassLog;

/// Which part of the output a block computes.
enum class GridMap : std::uint8_t {
  vector_grid,  ///< neighbouring vectors of the flattened output, across rows
  tiles,        ///< a square tile through shared memory if the innermost axis is read across rows; else as vector_grid
};

/// Cache hint of GPU stores: none, or evict first, for output that is not read again soon.
enum class CacheHint : std::uint8_t { none, evict_first };

/// One point of a GPU's search space. Data, not code: a config may be slow, never wrong.
struct GpuConfig {
  GridMap map = GridMap::tiles;
  int threads = 256;  ///< threads per block: 64, 128, 256 or 512
  int items = 2;      ///< 1, 2 or 4: most vectors that a thread of a grid takes, all on their way at once
  TileSize tiles = TileSize::by_output;  ///< size of a transpose's tiles
  bool split = true;                     ///< split the innermost axis at pads, so that its interior has no predicate
  CacheHint cache = CacheHint::none;

  friend bool operator==(const GpuConfig&, const GpuConfig&) = default;

  /// Reads "map=vector_grid,threads=256,..."; keys in any order, a key that is missing keeps its value in `base`.
  /// Errors: invalid_argument, with the key, its values and the value found.
  [[nodiscard]] static Result<GpuConfig> parse(std::string_view text, const GpuConfig& base);
  /// Prints all keys, in declaration order; parse reads them back.
  [[nodiscard]] std::string to_string() const;
  /// Lists the search space, in a fixed order. A search tries configs that make equal schedules of a program once.
  [[nodiscard]] static std::vector<GpuConfig> all();
  /// The config of a kernel that was not tuned: tiles for a transpose, else a grid of vectors, which suits rows of any
  /// length. Blocks have 256 threads, each with two vectors of 16 bytes on their way. Stores that are evicted first are
  /// up to 7 % faster alone, but the next kernel, which reads their output, takes 8 % longer.
  [[nodiscard]] static GpuConfig standard();
};

/// Makes the schedule of a config. The schedule's text names the map that was chosen.
[[nodiscard]] Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits = nullptr,
                                        PassLog* log = nullptr);
/// Makes the schedules that a launch chooses from under a config: first that of schedule_for_gpu. If the output chooses
/// the tiles, a grid of vectors for outputs of few rows or columns follows (Schedule::serves). The grid stands alone if
/// every output is so small.
[[nodiscard]] std::vector<Schedule> schedules_for_gpu(Kernel kernel, const GpuConfig& config,
                                                      const PassEdits* edits = nullptr, PassLog* log = nullptr);

}  // namespace padlock::compiler
