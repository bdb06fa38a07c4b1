#include <fmt/format.h>

#include <span>
#include <vector>

#include "capi/error.h"
#include "capi/launch/call.h"
#include "session/compile/comparison.h"

namespace padlock::capi {
namespace {

/// Returns whether the language leaves the bits of a NaN open in this element.
Result<bool> is_open(const padlock_call& call, std::size_t result, std::span<const std::int64_t> coordinates,
                     const void* const* inputs) {
  std::vector<runtime::UserBuffer> buffers;
  for (std::size_t i = 0; i < call.bound.inputs().size(); ++i)
    buffers.emplace_back(inputs[i], call.bound.inputs()[i].storage_bytes);
  return call.bound.nan_is_open(result, coordinates, {.inputs = buffers, .outputs = {}, .scalars = call.scalars});
}

Status match(const padlock_call& call, std::size_t result, const std::int64_t* coordinates, std::uint64_t expected,
             std::uint64_t actual, std::uint64_t ulp, std::span<const void* const> inputs, std::int32_t* matches) {
  PADLOCK_CHECK(check_index(result, call.bound.results().size()));
  const session::TensorInfo& tensor = call.bound.results()[result];
  if (!tensor.extents.empty()) PADLOCK_CHECK(require(coordinates, "coordinates"));
  for (std::size_t axis = 0; axis < tensor.extents.size(); ++axis)
    if (coordinates[axis] < 0 || coordinates[axis] >= tensor.extents[axis])
      return std::unexpected(Error{Code::out_of_range, Blame::user,
                                   fmt::format("expected a coordinate of axis {} in [0, {}), found {}", axis,
                                               tensor.extents[axis], coordinates[axis])});
  session::ElementMatch found = session::match_elements(tensor.dtype, expected, actual, ulp);
  if (found == session::ElementMatch::if_open) {
    if (call.kernel.get() == nullptr)
      return failed_precondition("expected a call of a kernel, found one for its sizes alone");
    if (inputs.size() != call.bound.inputs().size())
      return invalid_argument(fmt::format("expected {} inputs, found {}", call.bound.inputs().size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (call.bound.inputs()[i].storage_bytes > 0) PADLOCK_CHECK(require(inputs[i], "an input"));
    PADLOCK_TRY(const bool open, is_open(call, result, {coordinates, tensor.extents.size()}, inputs.data()));
    found = open ? session::ElementMatch::equal : session::ElementMatch::differs;
  }
  *matches = found == session::ElementMatch::equal ? 1 : 0;
  return {};
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Status;

extern "C" {

padlock_status padlock_call_matches(const padlock_call* call, size_t result, const int64_t* coordinates,
                                    uint64_t expected, uint64_t actual, uint64_t ulp, const void* const* inputs,
                                    size_t input_count, int32_t* matches, padlock_error** error) {
  if (matches != nullptr) *matches = 0;
  return guarded(call, "a call", error, [&]() -> Status {
    PADLOCK_CHECK(require(matches, "a place for the answer"));
    if (input_count > 0) PADLOCK_CHECK(require(inputs, "the inputs"));
    return match(*call, result, coordinates, expected, actual, ulp, {inputs, input_count}, matches);
  });
}

}  // extern "C"
