#pragma once

#include <cstdint>
#include <string>

#include "python/core/small_vector.h"
#include "python/core/tensors/dlpack.h"
#include "python/core/tensors/element_type.h"

// The program of one kind of pad, for all extents, strides, amounts and fills.
namespace padlock::python {

enum class PadMode : std::uint8_t { constant, edge, reflect, symmetric, wrap };

/// The layout of an input, as far as it changes the program.
enum class PadLayout : std::uint8_t { dense, dense_rows, strided };

using Amounts = SmallVector<std::int64_t, 8>;

struct PadRequest {
  Amounts low, high, interior;  // one for each axis; an empty interior is none
  PadMode mode = PadMode::constant;
  Bits fill;
};

struct PadKind {
  DLDataType type{};  // the type by which elements move
  int axes = 0;       // without the axis of an element's halves
  bool halves = false;
  bool two_fills = false;  // the halves' fills differ
  PadLayout layout = PadLayout::dense;
};

/// Returns the text. Its parameters: x, then the fill `v` (and `w`) of a constant pad, then `l0`, `h0`, ... of the
/// padded axes.
[[nodiscard]] std::string pad_text(const PadRequest& request, const PadKind& kind);
/// Returns whether the pad leaves the axis as it is.
[[nodiscard]] bool is_untouched(const PadRequest& request, int axis);

}  // namespace padlock::python
