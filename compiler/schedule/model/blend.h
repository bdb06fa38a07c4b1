#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// How a thread makes a vector of a row that lies in one or several of its segments: each lane comes from the segment
/// of its column. Segments that load the same neighbours share the load. No load is made that no lane of the vector
/// needs. So threads of a warp at ends of rows take the path of the other threads. A column that is a segment of its
/// own, as where the gradient of an edge adds up what repeats it, is computed as an element (see
/// beyond_blended_columns).
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
  /// Segments of one column, with sums, of one body. A vector has at most one: where it would have several, it is an
  /// edge.
  std::vector<std::size_t> lone_columns = {};

  /// Returns the segment whose load most segments have. Most vectors have it alone.
  [[nodiscard]] std::size_t main_segment() const;
  bool operator==(const Blend&) const = default;
};

/// Returns a value that is at most 0 for rows whose lone columns are blended: rows of few vectors, all of which are
/// whole. In long rows few vectors have such a column, and the rest of a warp would wait for it; where
/// a vector lies in two rows, it is an edge anyway. (An H200, gradients of edges, beside element by element: f16 of 56
/// x 56 by 1 and by 8 1.6 and 1.9 times as fast, of 120 x 120 1.07 and 1.3, of 224 x 224 .98, of 100 x 100 .83; f32 of
/// 28 x 28 1.1, of 120 x 120 .9.)
[[nodiscard]] ir::Expr beyond_blended_columns(ir::ExprContext& exprs, ir::Expr columns, int lanes);

/// Returns whether all segments of a grid's row that load anything load the same neighbours: a pad with fills, or a
/// crop.
[[nodiscard]] bool loads_one_place(const Schedule& schedule, const ScheduledCase& row);

/// Returns the blend of the rows of a grid's case. Nothing if their segments do not load from different places, or if
/// lanes of one segment would cost the others too much.
[[nodiscard]] std::optional<Blend> blend_of(const Schedule& schedule, const ScheduledCase& row);

}  // namespace padlock::compiler
