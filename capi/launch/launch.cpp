#include <fmt/format.h>

#include "capi/error.h"
#include "capi/launch/call.h"
#include "ir/binding/symbol_binding.h"
#include "support/stack_array.h"

namespace padlock::capi {
namespace {

Status launch(const padlock_call* call, std::span<const void* const> inputs, std::span<void* const> results,
              void* stream) {
  if (call == nullptr || call->kernel.get() == nullptr) {
    PADLOCK_CHECK(require(call, "a call"));
    return failed_precondition("expected a call of a kernel, found one that was bound for its sizes alone");
  }
  if ((inputs.data() == nullptr && !inputs.empty()) || (results.data() == nullptr && !results.empty()))
    return invalid_argument("expected the pointers of a launch, found NULL");
  return call->bound.launch(
      session::LaunchPointers{.inputs = inputs, .outputs = results, .scalars = call->scalars, .stream = stream});
}

std::unexpected<Error> differs(const char* what, const std::string& name, std::size_t axis, std::int64_t bound,
                               std::int64_t found) {
  auto error =
      invalid_argument(fmt::format("{} of axis {} of '{}' is {}, {} was bound", what, axis, name, found, bound));
  error.error().subject.axis = static_cast<int>(axis);
  return error;
}

/// Checks that the tensor agrees with the binding. Strides are not compared for axes with at most one element, nor for
/// empty tensors.
Status check_tensor(const DLTensor* tensor, const ir::Value& value, const session::TensorInfo& bound,
                    const Place& place) {
  PADLOCK_CHECK(require(tensor, "a tensor"));
  PADLOCK_TRY(const ir::ArgumentShape shape, shape_of(*tensor, value, place));
  for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
    if (shape.extents[axis] != bound.extents[axis])
      return differs("extent", bound.name, axis, bound.extents[axis], shape.extents[axis]);
  for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
    if (ir::is_significant(shape, axis))
      if (const auto stride = ir::stride_of(shape, axis); stride != bound.strides[axis])
        return differs("stride", bound.name, axis, bound.strides[axis], stride.value_or(-1));
  return {};
}

template <class Pointer>
Status take_addresses(const padlock_call& call, const DLTensor* const* tensors, std::span<const ir::ValueId> ids,
                      const std::vector<session::TensorInfo>& bound, StackArray<Pointer>& pointers) {
  PADLOCK_CHECK(require(tensors, "the tensors of a launch"));
  const ir::Program& program = call.bound.binding().program();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    PADLOCK_CHECK(check_tensor(tensors[i], program.value(ids[i]), bound[i], call.place));
    pointers[i] = address_of(*tensors[i]);
  }
  return {};
}

Status launch_tensors(const padlock_call* call, const DLTensor* const* inputs, std::size_t input_count,
                      const DLTensor* const* results, std::size_t result_count, void* stream) {
  PADLOCK_CHECK(require(call, "a call"));
  const ir::Program& program = call->bound.binding().program();
  const auto& parameters = program.tensor_parameters();
  if (input_count != parameters.size() || result_count != program.results().size())
    return invalid_argument(fmt::format("expected {} input and {} result tensors, found {} and {}", parameters.size(),
                                        program.results().size(), input_count, result_count));
  StackArray<const void*> sources(input_count);
  StackArray<void*> targets(result_count);
  if (input_count > 0) PADLOCK_CHECK(take_addresses(*call, inputs, parameters, call->bound.inputs(), sources));
  PADLOCK_CHECK(take_addresses(*call, results, program.results(), call->bound.results(), targets));
  return launch(call, sources.span(), targets.span(), stream);
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

padlock_status padlock_call_launch(const padlock_call* call, const void* const* inputs, size_t input_count,
                                   void* const* results, size_t result_count, void* stream, padlock_error** error) {
  return guarded_launch(allocator_of(call), error,
                        [&] { return launch(call, {inputs, input_count}, {results, result_count}, stream); });
}

padlock_status padlock_call_launch_tensors(const padlock_call* call, const DLTensor* const* inputs, size_t input_count,
                                           const DLTensor* const* results, size_t result_count, void* stream,
                                           padlock_error** error) {
  return guarded_launch(allocator_of(call), error,
                        [&] { return launch_tensors(call, inputs, input_count, results, result_count, stream); });
}

padlock_status padlock_call_synchronize(const padlock_call* call, void* stream, padlock_error** error) {
  return guarded_launch(allocator_of(call), error, [&]() -> padlock::Status {
    PADLOCK_CHECK(require(call, "a call"));
    return call->bound.synchronize(stream);
  });
}

}  // extern "C"
