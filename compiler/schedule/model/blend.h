#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// How a thread makes a vector of a row that lies in any of its segments, or in several: each lane is of the segment
/// that has its column. Segments that load the same neighbours share that load, and no load is made that none of the
/// vector's lanes needs. Threads of a warp that are at the ends of rows so go the way of those that are not.
struct Blend {
  /// A load of one segment, which stands for the like ones of all that `segments` names.
  struct Load {
    std::size_t segment = 0, load = 0;
    std::vector<std::size_t> segments = {};  // in ascending order
    bool operator==(const Load&) const = default;
  };
  std::vector<int> bodies;                      ///< one for each segment of the row
  std::vector<std::vector<std::size_t>> takes;  ///< for each segment which of `loads` its body's are
  std::vector<Load> loads;
  bool operator==(const Blend&) const = default;
};

/// Returns how the rows of a case of a grid's are blended; nothing where their segments do not load from different
/// places, or would do too much for lanes that are other segments'.
[[nodiscard]] std::optional<Blend> blend_of(const Schedule& schedule, const ScheduledCase& row);

}  // namespace padlock::compiler
