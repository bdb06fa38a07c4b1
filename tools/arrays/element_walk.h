#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace padlock::tools {

/// The order of elements in memory or in a file.
enum class ElementOrder : std::uint8_t { row_major, column_major };

/// Walks the coordinates of an array in an order of memory, and keeps each element's offset under given strides.
/// Offsets come from adding strides; nothing is multiplied.
class ElementWalk {
 public:
  /// Precondition: as many strides as extents, all >= 0.
  ElementWalk(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides, ElementOrder order);

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  /// Returns the coordinates in the order of the axes.
  [[nodiscard]] std::vector<std::int64_t> coordinates() const;
  void next();

 private:
  struct Axis {
    std::int64_t extent, stride;
    std::int64_t coordinate = 0;
    std::int64_t start = 0;  // offset at this coordinate if all inner ones are 0
  };
  void carry();

  std::vector<Axis> axes_;  // outermost in memory first
  ElementOrder order_;
  std::int64_t offset_ = 0;
  bool done_ = false;
};

}  // namespace padlock::tools
