#include "ir/reference/pad_preimage.h"

#include <algorithm>

#include "support/int128.h"

namespace padlock::ir {
namespace {

/// Collects coordinates in [0, padded), in the order of the calls.
class Collector {
 public:
  explicit Collector(std::int64_t padded) : padded_(padded) {}
  void add(Int128 o) {
    if (o >= 0 && o < padded_) found_.push_back(static_cast<std::int64_t>(o));
  }
  [[nodiscard]] std::vector<std::int64_t> take() && { return std::move(found_); }

 private:
  std::int64_t padded_;
  std::vector<std::int64_t> found_;
};

/// The first element is the source of all coordinates before it, the last of all after it.
void add_edge(Collector& found, const PadAxis& axis, std::int64_t padded, Int128 j) {
  const Int128 first = j == 0 ? Int128{0} : std::max<Int128>(axis.low + j, 0);
  const Int128 last = j == axis.extent - 1 ? Int128{padded} - 1 : std::min<Int128>(axis.low + j, Int128{padded} - 1);
  for (Int128 o = first; o <= last; ++o) found.add(o);
}

/// Every lap of `period` has the element once, and a mirrored mode has it once more, at `period` - `gap` - j.
void add_laps(Collector& found, const PadAxis& axis, std::int64_t padded, Int128 j, Int128 period, int gap) {
  const bool mirrored = gap >= 0 && (gap == 1 || (2 * j) % period != 0);
  const Int128 first = -floor_div<Int128>(axis.low + period - 1, period);
  const Int128 last = floor_div<Int128>(Int128{padded} - 1 - axis.low, period);
  for (Int128 lap = first; lap <= last; ++lap) {
    found.add(axis.low + lap * period + j);
    if (mirrored) found.add(axis.low + lap * period + period - gap - j);
  }
}

}  // namespace

std::vector<std::int64_t> pad_preimages(const PadAxis& axis, std::int64_t padded, std::int64_t source) {
  Collector found(padded);
  const Int128 n = axis.extent;
  switch (axis.mode) {
    case PadMode::constant:
      found.add(axis.low + Int128{source} * (Int128{axis.interior} + 1));
      break;
    case PadMode::edge:
      add_edge(found, axis, padded, source);
      break;
    case PadMode::wrap:
      add_laps(found, axis, padded, source, n, -1);
      break;
    case PadMode::symmetric:
      add_laps(found, axis, padded, source, 2 * n, 1);
      break;
    case PadMode::reflect:
      add_laps(found, axis, padded, source, std::max<Int128>(2 * (n - 1), 1), 0);
      break;
  }
  return std::move(found).take();
}

}  // namespace padlock::ir
