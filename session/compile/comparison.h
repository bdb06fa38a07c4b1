#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace padlock::session {

enum class ElementMatch : std::uint8_t {
  equal,  ///< the same bits, or close enough
  differs,
  if_open,  ///< two NaNs of different bits: equal only where the language leaves them open (BoundProgram::nan_is_open)
};

/// Compares two elements as bits of `dtype`. `ulp`: how many representable values floats may be apart (0: none; +0 and
/// -0 are then different values). A NaN is close to no number.
[[nodiscard]] ElementMatch match_elements(ir::DType dtype, std::uint64_t expected, std::uint64_t actual,
                                          std::uint64_t ulp);

}  // namespace padlock::session
