#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// How a thread makes a vector of a row that lies in one or several of its segments: each lane comes from the segment
/// of its column. Segments that load the same neighbours share the load. No load is made that no lane of the vector
/// needs. So threads of a warp at ends of rows take the path of the other threads.
struct Blend {
  /// A load of one segment. It stands for the equal loads of all `segments`.
  struct Load {
    std::size_t segment = 0, load = 0;
    std::vector<std::size_t> segments = {};  // in ascending order
    bool operator==(const Load&) const = default;
  };
  std::vector<int> bodies;                      ///< one for each segment of the row
  std::vector<std::vector<std::size_t>> takes;  ///< for each segment, the indices in `loads` of its body's loads
  std::vector<Load> loads;
  /// Indices in `loads`. A vector makes at most one load of a group: where it would need several, it is an edge.
  std::vector<std::vector<std::size_t>> groups;

  /// Returns the segment whose load most segments have. Most vectors have it alone.
  [[nodiscard]] std::size_t main_segment() const;
  bool operator==(const Blend&) const = default;
};

/// Returns whether all segments of a grid's row that load anything load the same neighbours: a pad with fills, or a
/// crop.
[[nodiscard]] bool loads_one_place(const Schedule& schedule, const ScheduledCase& row);

/// Returns the blend of the rows of a grid's case. Nothing if their segments do not load from different places, or if
/// lanes of one segment would cost the others too much.
[[nodiscard]] std::optional<Blend> blend_of(const Schedule& schedule, const ScheduledCase& row);

}  // namespace padlock::compiler
