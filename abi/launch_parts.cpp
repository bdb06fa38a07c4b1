#include "abi/launch_parts.h"

#include <algorithm>

namespace padlock::abi {
namespace {

/// Elements [first, last] of an input.
struct Window {
  Int128 first = 0, last = 0;
};

/// The range of an outer coordinate over some rows, both ends included.
struct Coordinates {
  std::int64_t first = 0, last = 0;
};

/// Divides the rows of one output.
class RowSplitter {
 public:
  explicit RowSplitter(const PartSizes& sizes) : sizes_(sizes), coordinates_(sizes.extents.size()) {}

  std::optional<std::vector<RowRange>> split() && {
    if (!count_rows()) return std::nullopt;
    if (rows_ > 0 && !split(0, rows_)) return std::nullopt;
    return std::move(ranges_);
  }

 private:
  /// Computes the rows per index of each axis, and in all. Returns false if they do not fit in 64 bits.
  bool count_rows() {
    row_steps_.resize(sizes_.extents.size());
    for (std::size_t axis = sizes_.extents.size(); axis-- > 0;) {
      row_steps_[axis] = rows_;
      const auto rows = checked_mul(rows_, sizes_.extents[axis]);
      if (!rows || *rows < 0) return false;
      rows_ = *rows;
    }
    return true;
  }

  /// Recursion halves the rows, roughly, so its depth is at most the number of binary digits of all extents.
  bool split(std::int64_t first, std::int64_t end) {
    const std::size_t axis = find_coordinates(first, end - 1);
    if (const auto origins = find_origins(end - first)) {
      if (ranges_.size() == kMostParts) return false;
      ranges_.push_back({.first_row = first, .rows = end - first, .origins = *origins});
      return true;
    }
    if (end - first == 1) return false;
    const std::int64_t cut = cut_of(first, end, row_steps_[axis]);
    return split(first, cut) && split(cut, end);
  }

  /// Returns the multiple of `step` at or before the middle, or else the next one. It lies before `end`, because the
  /// axis has different indices in the first row and the last.
  static std::int64_t cut_of(std::int64_t first, std::int64_t end, std::int64_t step) {
    const std::int64_t cut = (first + (end - first) / 2) / step * step;
    return cut > first ? cut : (first / step + 1) * step;
  }

  /// Computes the coordinates of these rows, and returns the outermost axis with several values. Axes inside it may
  /// take any value.
  std::size_t find_coordinates(std::int64_t first, std::int64_t last) {
    std::size_t axis = 0;
    for (; axis < coordinates_.size(); ++axis) {
      const std::int64_t extent = sizes_.extents[axis], step = row_steps_[axis];
      coordinates_[axis] = {first / step % extent, last / step % extent};
      if (coordinates_[axis].first != coordinates_[axis].last) break;
    }
    for (std::size_t inner = axis + 1; inner < coordinates_.size(); ++inner)
      coordinates_[inner] = {0, sizes_.extents[inner] - 1};
    return axis;
  }

  /// Returns the first element of each input for these rows; nullopt if they need too many elements.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find_origins(std::int64_t rows) const {
    if (Int128{rows} * sizes_.columns > sizes_.most_elements) return std::nullopt;
    std::vector<std::optional<Window>> windows(sizes_.spans.size());
    for (const ReachSizes& reach : sizes_.reaches) {
      auto window = window_of(reach);
      if (!window) return std::nullopt;
      window->first = std::max<Int128>(window->first, 0);
      window->last = std::min<Int128>(window->last, Int128{sizes_.spans[reach.input]} - 1);
      if (window->first > window->last) continue;  // these rows read nothing of the storage
      std::optional<Window>& all = windows[reach.input];
      all = all ? Window{std::min(all->first, window->first), std::max(all->last, window->last)} : *window;
    }
    std::vector<std::int64_t> origins;
    for (const std::optional<Window>& window : windows) {
      if (window && window->last - window->first >= sizes_.most_elements) return std::nullopt;
      origins.push_back(window ? static_cast<std::int64_t>(window->first) : 0);
    }
    return origins;
  }

  /// Returns the elements of a reach for rows with these coordinates, whether or not they lie in the storage; nullopt
  /// beyond 128 bits.
  [[nodiscard]] std::optional<Window> window_of(const ReachSizes& reach) const {
    Window window{reach.least, reach.most};
    for (std::size_t axis = 0; axis < coordinates_.size(); ++axis) {
      const auto first = checked_mul<Int128>(reach.steps[axis], coordinates_[axis].first);
      const auto last = checked_mul<Int128>(reach.steps[axis], coordinates_[axis].last);
      if (!first || !last) return std::nullopt;
      const auto lower = checked_add(window.first, std::min(*first, *last));
      const auto upper = checked_add(window.last, std::max(*first, *last));
      if (!lower || !upper) return std::nullopt;
      window = {*lower, *upper};
    }
    return window;
  }

  const PartSizes& sizes_;
  std::int64_t rows_ = 1;
  std::vector<std::int64_t> row_steps_;   // rows per index of each outer axis
  std::vector<Coordinates> coordinates_;  // of the current rows
  std::vector<RowRange> ranges_;
};

}  // namespace

std::optional<std::vector<RowRange>> split_rows(const PartSizes& sizes) { return RowSplitter(sizes).split(); }

std::int64_t block_count(std::int64_t elements, std::int64_t lanes, std::int64_t block_elements) {
  return (elements + lanes - 1 + block_elements - 1) / block_elements;
}

}  // namespace padlock::abi
