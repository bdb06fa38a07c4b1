#include "python/core/launch.h"

#include <string>
#include <vector>

#include "python/core/failure.h"
#include "python/core/results.h"

namespace padlock::python {
namespace {

/// Above this a launch takes longer than another thread takes to get the GIL.
constexpr std::int64_t kBytesToRelease = 64 << 10;

using Pointers = SmallVector<void*, 8>;

/// Returns the stream for a call on tensors like this one: the library's current one.
void* stream_of(const Tensor* like) {
  if (like == nullptr || is_on_host(like->view())) return nullptr;
  if (like->family().table == nullptr) return like->stream();
  void* stream = nullptr;
  const DLDevice device = like->view().device;
  check_python(like->family().table->current_stream(device.device_type, device.device_id, &stream) == 0);
  return stream;
}

/// Returns true for tensors on a GPU whose library does not tell its current stream: a launch cannot be ordered before
/// the library's own work.
bool lacks_stream(const Tensor* like) {
  return like != nullptr && !is_on_host(like->view()) && like->family().table == nullptr && !like->family().is_cupy;
}

/// Launches on the current stream of `like`, or waits until the results are there.
void launch_like(const BoundCall& bound, void** inputs, std::size_t input_count, void** results, const Tensor* like) {
  launch_memory(bound, inputs, input_count, results, stream_of(like));
  if (!lacks_stream(like)) return;
  padlock_error* error = nullptr;
  padlock_status status = PADLOCK_OK;
  {
    const nb::gil_scoped_release released;
    status = padlock_call_synchronize(bound.call.get(), nullptr, &error);
  }
  if (status != PADLOCK_OK) fail(Error(error));
}

/// Returns the tensors given for results; empty if none are.
std::vector<nb::object> outs(nb::handle out, std::size_t count) {
  if (out.is_none()) return {};
  std::vector<nb::object> given;
  if (PyTuple_Check(out.ptr()) || PyList_Check(out.ptr()))
    for (const nb::handle one : out) given.push_back(nb::borrow(one));
  else
    given.push_back(nb::borrow(out));
  if (given.size() != count)
    fail(PADLOCK_INVALID_ARGUMENT,
         "out: expected " + std::to_string(count) + " tensors, found " + std::to_string(given.size()));
  return given;
}

/// Converts an array to the library that gave its inputs by __dlpack__; it keeps the written memory.
nb::object handed_over(nb::object made, const Tensor* like) {
  if (like == nullptr || like->family().reader != Reader::dlpack || !is_on_host(like->view())) return made;
  const nb::handle input(like->object());
  if (!nb::hasattr(input, "__array_namespace__")) return made;
  const nb::object space = input.attr("__array_namespace__")();
  try {
    return space.attr("from_dlpack")(made);
  } catch (const nb::python_error&) {
    return space.attr("asarray")(made);  // the library does not take this type by DLPack
  }
}

/// One result, the usual case.
nb::object launch_one(BoundCall& bound, Pointers& inputs, std::size_t input_count, nb::handle out, const Tensor* like,
                      TorchState& torch) {
  if (out.is_none()) {
    Made made = make_result(bound, 0, like);
    launch_like(bound, inputs.data(), input_count, &made.data, like);
    return handed_over(std::move(made.object), like);
  }
  Tensor given;
  if (!given.read(out.ptr(), torch))
    fail(PADLOCK_INVALID_ARGUMENT, "out: expected a plain tensor, found one that torch gives another meaning");
  check_given(bound.results[0], given, like);
  void* data = given.data();
  launch_like(bound, inputs.data(), input_count, &data, like);
  return nb::borrow(out);
}

}  // namespace

void launch_memory(const BoundCall& bound, void** inputs, std::size_t input_count, void** results, void* stream) {
  padlock_error* error = nullptr;
  const auto go = [&] {
    return padlock_call_launch(bound.call.get(), inputs, input_count, results, bound.results.size(), stream, &error);
  };
  padlock_status status = PADLOCK_OK;
  if (bound.bytes < kBytesToRelease) {
    status = go();
  } else {
    const nb::gil_scoped_release released;
    status = go();
  }
  if (status != PADLOCK_OK) fail(Error(error));
}

nb::object launch(const std::shared_ptr<BoundCall>& bound, std::span<Tensor* const> tensors, nb::handle out,
                  const Tensor* like, TorchState& torch) {
  Pointers inputs;
  for (const Tensor* tensor : tensors) inputs.push_back(tensor->data());
  const std::size_t count = bound->results.size();
  if (count == 1 && !PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr()))
    return launch_one(*bound, inputs, tensors.size(), out, like, torch);
  std::vector<nb::object> given = outs(out, count);
  Pointers results;
  std::vector<nb::object> made;
  const std::unique_ptr<Tensor[]> views(given.empty() ? nullptr : new Tensor[count]);
  for (std::size_t i = 0; i < count; ++i) {
    if (given.empty()) {
      Made one = make_result(*bound, i, like);
      results.push_back(one.data);
      made.push_back(std::move(one.object));
      continue;
    }
    if (!views[i].read(given[i].ptr(), torch))
      fail(PADLOCK_INVALID_ARGUMENT, "out: expected plain tensors, found one that torch gives another meaning");
    check_given(bound->results[i], views[i], like);
    results.push_back(views[i].data());
  }
  launch_like(*bound, inputs.data(), tensors.size(), results.data(), like);
  if (given.empty())
    for (nb::object& one : made) one = handed_over(std::move(one), like);
  const std::vector<nb::object>& all = given.empty() ? made : given;
  if (count == 1) return all[0];
  nb::list list;
  for (const nb::object& one : all) list.append(one);
  return nb::tuple(list);
}

}  // namespace padlock::python
