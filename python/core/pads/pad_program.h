#pragma once

#include <cstdint>
#include <string>

#include "python/core/small_vector.h"
#include "python/core/tensors/dlpack.h"
#include "python/core/tensors/element_type.h"

// The program of one kind of pad: for all extents, strides, amounts and fills.
namespace padlock::python {

enum class PadMode : std::uint8_t { constant, edge, reflect, symmetric, wrap };

/// How the elements of an input lie in memory, as far as it makes another program.
enum class PadLayout : std::uint8_t { dense, dense_rows, strided };

using Amounts = SmallVector<std::int64_t, 8>;

struct PadRequest {
  Amounts low, high, interior;  // one an axis; interior may be empty: none
  PadMode mode = PadMode::constant;
  Bits fill;
};

struct PadKind {
  DLDataType type{};  // that elements move as
  int axes = 0;       // of the tensor, without the one of an element's halves
  bool halves = false;
  bool two_fills = false;  // the halves' fills differ
  PadLayout layout = PadLayout::dense;
};

/// The text. Its parameters: x, then the fill `v` (and `w`) of a constant pad, then `l0`, `h0`, ... of the axes that
/// are padded.
[[nodiscard]] std::string pad_text(const PadRequest& request, const PadKind& kind);
/// Returns whether the axis keeps its elements as they are.
[[nodiscard]] bool is_untouched(const PadRequest& request, int axis);

}  // namespace padlock::python
