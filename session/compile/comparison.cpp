#include "session/compile/comparison.h"

#include "ir/reference/numeric.h"
#include "support/int128.h"

namespace padlock::session {
namespace {

/// Numbers all values of a float type in order; both zeros are 0.
Int128 ordinal(ir::DType dtype, std::uint64_t bits) {
  const std::uint64_t sign = ir::format_of(dtype).sign_mask();
  const Int128 magnitude = bits & ~sign;
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

ElementMatch match_elements(ir::DType dtype, std::uint64_t expected, std::uint64_t actual, std::uint64_t ulp) {
  if (expected == actual) return ElementMatch::equal;
  if (!ir::is_float(dtype)) return ElementMatch::differs;
  const bool expected_nan = ir::is_nan(dtype, expected);
  const bool actual_nan = ir::is_nan(dtype, actual);
  if (expected_nan && actual_nan) return ElementMatch::if_open;
  if (expected_nan || actual_nan || ulp == 0) return ElementMatch::differs;
  const Int128 distance = ordinal(dtype, expected) - ordinal(dtype, actual);
  return (distance < 0 ? -distance : distance) <= Int128{ulp} ? ElementMatch::equal : ElementMatch::differs;
}

}  // namespace padlock::session
