#include "python/core/xla/program_handler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "python/core/kernel.h"
#include "python/core/launch.h"
#include "python/core/xla/handler.h"

namespace padlock::python {
namespace {

/// Programs by their texts, kept as long as the process: XLA's own programs hold the texts alone.
KernelObject& kernel_of(std::string_view text) {
  static auto& kept = *new std::map<std::string, std::unique_ptr<KernelObject>, std::less<>>();
  const auto found = kept.find(text);
  if (found != kept.end()) return *found->second;
  auto made = std::make_unique<KernelObject>(std::string(text), std::vector<std::string>(), "", false);
  return *kept.emplace(text, std::move(made)).first->second;
}

/// The arguments of a program, in the order of its parameters.
struct Given {
  std::vector<DLTensor> tensors;
  std::vector<std::uint64_t> scalars;
  std::vector<padlock_named_value> dims;
  CallKey key;
};

DLTensor tensor_of(const xla::Buffer& buffer, const Parameter& parameter, const xla::Place& place) {
  if (xla::bits_of_type(buffer.type) != parameter.type.bits)
    fail(PADLOCK_INVALID_ARGUMENT, "'" + parameter.name + "': expected elements of " +
                                       std::to_string(parameter.type.bits) + " bits, found XLA's type " +
                                       std::to_string(buffer.type));
  return xla::tensor_of(buffer, parameter.type, place);
}

Given given_to(const KernelObject& kernel, const xla::Frame& frame, const xla::Place& place) {
  const std::span<const std::int64_t> scalars = xla::integers(frame.attributes, "scalars");
  const std::span<const std::int64_t> sizes = xla::integers(frame.attributes, "sizes");
  const auto [scalar_count, dim_count] = kernel.counts();
  const auto tensor_count = static_cast<std::size_t>(frame.arguments.size);
  if (kernel.parameters().size() != tensor_count + scalar_count + dim_count || scalars.size() != scalar_count ||
      sizes.size() != dim_count || frame.results.size != 1)
    fail(PADLOCK_INTERNAL, "XLA's call has other arguments than its program");
  const auto& to = *static_cast<const xla::Buffer*>(frame.results.list[0]);
  Given given;
  for (std::size_t i = 0; i < tensor_count; ++i) {
    const auto& from = *static_cast<const xla::Buffer*>(frame.arguments.list[i]);
    given.tensors.push_back(tensor_of(from, kernel.parameters()[i], place));
    given.key.add(given.tensors.back());
  }
  for (const std::int64_t bits : scalars) {
    given.scalars.push_back(static_cast<std::uint64_t>(bits));
    given.key.add(bits);
  }
  for (std::size_t i = 0; i < dim_count; ++i) {
    if (sizes[i] < 0 || sizes[i] >= to.rank) fail(PADLOCK_INTERNAL, "XLA's call names an axis that its result lacks");
    const Parameter& parameter = kernel.parameters()[tensor_count + scalar_count + i];
    given.dims.push_back({parameter.name.c_str(), to.extents[sizes[i]]});
    given.key.add(given.dims.back().value);
  }
  return given;
}

void run_program(const xla::Frame& frame, const xla::Place& place) {
  KernelObject& kernel = kernel_of(xla::text(frame.attributes, "program"));
  const Given given = given_to(kernel, frame, place);
  std::vector<const DLTensor*> views;
  std::vector<void*> inputs;
  for (const DLTensor& tensor : given.tensors) {
    views.push_back(&tensor);
    inputs.push_back(tensor.data);
  }
  const std::shared_ptr<BoundCall> call =
      kernel.bound(given.key, views.data(), views.size(), given.scalars, given.dims, place.device);
  const auto& to = *static_cast<const xla::Buffer*>(frame.results.list[0]);
  if (!std::ranges::equal(call->results[0].extents, std::span(to.extents, static_cast<std::size_t>(to.rank))))
    fail(PADLOCK_INVALID_ARGUMENT, "expected a result of other extents than the call's");
  void* result = to.data;
  launch_memory(*call, inputs.data(), inputs.size(), &result, place.stream);
}

}  // namespace

nb::object xla_program_handler(bool on_gpu) { return xla::handler_of<&run_program>(on_gpu); }

}  // namespace padlock::python
