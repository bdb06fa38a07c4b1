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
  vector_grid,  ///< neighbouring vectors of the flattened output, whatever its rows are
  tiles,  ///< a square tile through shared memory where the innermost axis is read across rows; else as vector_grid
};

/// Cache hint of GPU stores: none, or evict first, for output that is not read again soon.
enum class CacheHint : std::uint8_t { none, evict_first };

/// One point of a GPU's search space. Data, not code: a config may be slow, never wrong.
struct GpuConfig {
  GridMap map = GridMap::tiles;
  int threads = 256;  ///< of a block: 64, 128, 256 or 512
  int items = 2;      ///< 1, 2 or 4 vectors that a thread of a grid takes at most, all on their way at once
  TileSize tiles = TileSize::by_output;  ///< of a transpose
  bool split = true;                     ///< split the innermost axis at pads, so that its interior has no predicate
  CacheHint cache = CacheHint::none;

  friend bool operator==(const GpuConfig&, const GpuConfig&) = default;

  /// Reads "map=vector_grid,threads=256,..."; keys in any order, a key that is missing keeps its value in `base`.
  /// Errors: invalid_argument, naming the key, what it takes and what was found.
  [[nodiscard]] static Result<GpuConfig> parse(std::string_view text, const GpuConfig& base);
  /// All keys, in declaration order; parse reads it back.
  [[nodiscard]] std::string to_string() const;
  /// The search space, in a fixed order. A search tries what makes the same schedules of a program once.
  [[nodiscard]] static std::vector<GpuConfig> all();
  /// The config of a kernel that was not tuned: tiles where it transposes, else a grid of vectors, which is right for
  /// rows of any length, in blocks of 256 threads that have two vectors of 16 bytes on their way each. Stores that are
  /// evicted first are up to 7 % faster by themselves, but the next kernel, which reads them, takes 8 % longer.
  [[nodiscard]] static GpuConfig standard();
};

/// Makes the schedule of a config. Its text names the map that was chosen.
[[nodiscard]] Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits = nullptr,
                                        PassLog* log = nullptr);
/// Makes what a launch has to choose from under a config: that schedule and, where its tiles are chosen by the output,
/// a grid of vectors for an output that has few rows or
/// columns (Schedule::serves), or that alone, where each is so.
[[nodiscard]] std::vector<Schedule> schedules_for_gpu(Kernel kernel, const GpuConfig& config,
                                                      const PassEdits* edits = nullptr, PassLog* log = nullptr);

}  // namespace padlock::compiler
