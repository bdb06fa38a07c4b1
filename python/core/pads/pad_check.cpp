#include "python/core/pads/pad_check.h"

#include <algorithm>
#include <array>
#include <string>

#include "python/core/failure.h"

namespace padlock::python {
namespace {

using Int128 = __int128;

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;  // limit of a program's symbol
constexpr Int128 kMostBytes = Int128{1} << 47;

std::string text_of(Int128 number) {
  if (number < 0) return "-" + text_of(-number);
  std::string text(1, static_cast<char>('0' + static_cast<int>(number % 10)));
  return number < 10 ? text : text_of(number / 10) + text;
}

/// One axis of a request.
struct Axis {
  int number;
  std::int64_t extent, stride, low, high, interior;

  Axis(const Tensor& x, const PadRequest& request, int axis)
      : number(axis),
        extent(x.view().shape[axis]),
        stride(x.view().strides != nullptr && extent > 1 ? x.view().strides[axis] : 0),
        low(request.low[static_cast<std::size_t>(axis)]),
        high(request.high[static_cast<std::size_t>(axis)]),
        interior(request.interior.empty() ? 0 : request.interior[static_cast<std::size_t>(axis)]) {}

  [[nodiscard]] Int128 result() const {
    return Int128{extent} + low + high + Int128{interior} * std::max<std::int64_t>(extent - 1, 0);
  }
  [[noreturn]] void refuse(const std::string& message) const {
    nb::dict values;
    values["extent"] = extent;
    values["low"] = low;
    values["high"] = high;
    if (interior != 0) values["interior"] = interior;
    fail(PADLOCK_FAILED_PRECONDITION, "axis " + std::to_string(number) + ": " + message, number, values);
  }
  void check_limit(const char* what, std::int64_t value, std::int64_t least) const {
    if (value >= least && value <= kMostElements) return;
    refuse(std::string("expected ") + what + " from " + std::to_string(least) + " to " + std::to_string(kMostElements) +
           ", found " + std::to_string(value));
  }
  void check() const {
    check_limit("an extent", extent, 0);
    check_limit("a stride", stride, 0);
    check_limit("an amount before", low, -kMostElements);
    check_limit("an amount behind", high, -kMostElements);
    check_limit("an interior", interior, 0);
    if (result() >= 0) return;
    refuse("expected a result of 0 elements or more, found " + text_of(result()) + " (an extent of " +
           std::to_string(extent) + " with " + std::to_string(low) + " before and " + std::to_string(high) +
           " behind)");
  }
};

constexpr const char* name_of(PadMode mode) {
  constexpr std::array kNames = {"constant", "edge", "reflect", "symmetric", "wrap"};
  return kNames[static_cast<std::size_t>(mode)];
}

}  // namespace

void check_request(const Tensor& x, const PadRequest& request) {
  Int128 bytes = x.view().dtype.bits / 8;
  bool is_empty = false;
  for (int axis = 0; axis < x.view().ndim; ++axis) {
    const Axis one(x, request, axis);
    one.check();
    is_empty = is_empty || one.result() == 0;
    bytes = std::min(bytes * one.result(), kMostBytes * kMostElements);
  }
  for (int axis = 0; axis < x.view().ndim; ++axis) {
    const Axis one(x, request, axis);
    if (request.mode != PadMode::constant && one.extent == 0 && one.result() > 0)
      one.refuse(std::string("expected an element to fill in by mode ") + name_of(request.mode) +
                 ", found an extent of 0, with " + std::to_string(one.low) + " before and " + std::to_string(one.high) +
                 " behind");
  }
  if (!is_empty && bytes >= kMostBytes)
    fail(PADLOCK_FAILED_PRECONDITION,
         "expected a result of less than " + text_of(kMostBytes) + " bytes, found extents and amounts that make more");
}

}  // namespace padlock::python
