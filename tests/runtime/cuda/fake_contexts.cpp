#include "tests/runtime/cuda/fake_entry_points.h"

namespace padlock::runtime::cuda {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  PADLOCK_ENTER(enter, cuDevicePrimaryCtxRetain);
  if (device < 0 || device >= fake.settings.devices) return CUresult::invalid_device;
  FakeContext* const primary = fake.primary_context(device);
  if (primary->lost != CUresult::success) return primary->lost;
  ++primary->retained;
  ++fake.made_counts.contexts;
  *context = handle_of<CUcontext>(primary);
  return CUresult::success;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  PADLOCK_ENTER_GIVING_BACK(cuDevicePrimaryCtxRelease_v2);
  FakeContext* const primary = fake.primary_context(device);
  if (primary->retained == 0) return fake.misuse("a primary context that nobody retains", CUresult::invalid_context);
  if (--primary->retained == 0) fake.destroy(*primary);
  return status;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  PADLOCK_ENTER(enter, cuCtxGetCurrent);
  *context = handle_of<CUcontext>(FakeState::current());
  return CUresult::success;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  PADLOCK_ENTER(enter, cuCtxGetDevice);
  if (FakeState::current() == nullptr) return CUresult::invalid_context;
  *device = FakeState::current()->device;
  return CUresult::success;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  PADLOCK_ENTER(enter, cuCtxPushCurrent_v2);
  FakeContext* const found = fake.find_context(context);
  if (found == nullptr) return fake.misuse("a context", CUresult::invalid_context);
  if (found->destroyed) return CUresult::context_is_destroyed;
  FakeState::stack().push_back(found);
  return CUresult::success;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  PADLOCK_ENTER_GIVING_BACK(cuCtxPopCurrent_v2);
  if (FakeState::current() == nullptr) return fake.misuse("an empty stack", CUresult::invalid_context);
  *context = handle_of<CUcontext>(FakeState::current());
  FakeState::stack().pop_back();
  return status;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  PADLOCK_ENTER(enter_context, cuStreamCreate);
  fake.streams.push_back(std::make_unique<FakeStream>(FakeStream{.context = FakeState::current()}));
  ++fake.made_counts.streams;
  *stream = handle_of<CUstream>(fake.streams.back().get());
  return CUresult::success;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  PADLOCK_ENTER_GIVING_BACK(cuStreamDestroy_v2);
  return first_of(remove(fake, fake.streams, stream, "a stream"), status);
}

CUresult cuStreamSynchronize(CUstream stream) {
  PADLOCK_ENTER(enter_unsafe, cuStreamSynchronize);
  if (fake.find_stream(stream) == nullptr) return fake.misuse("a stream");
  fake.clock_milliseconds = std::max(fake.clock_milliseconds, fake.done_milliseconds);
  return CUresult::success;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  PADLOCK_ENTER(enter, cuThreadExchangeStreamCaptureMode);
  std::swap(*mode, FakeState::capture_mode());
  return CUresult::success;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* capture) {
  PADLOCK_ENTER(enter_context, cuStreamIsCapturing);
  FakeStream* const found = fake.find_stream(stream);
  if (found == nullptr) return fake.misuse("a stream");
  *capture = found->capture;
  return CUresult::success;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  PADLOCK_ENTER(enter_context, cuEventCreate);
  fake.events.push_back(std::make_unique<FakeEvent>(FakeEvent{.context = FakeState::current()}));
  ++fake.made_counts.events;
  *event = handle_of<CUevent>(fake.events.back().get());
  return CUresult::success;
}

CUresult cuEventDestroy_v2(CUevent event) {
  PADLOCK_ENTER_GIVING_BACK(cuEventDestroy_v2);
  return first_of(remove(fake, fake.events, event, "an event"), status);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  PADLOCK_ENTER(enter_context, cuEventRecord);
  const auto found = find_handle(fake.events, event);
  if (found == fake.events.end()) return fake.misuse("an event");
  return fake.submit(stream, [&fake, recorded = found->get()] {
    recorded->recorded = true;
    fake.take_time(0);
    recorded->milliseconds = fake.done_milliseconds;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  PADLOCK_ENTER(enter_unsafe, cuEventSynchronize);
  const auto found = find_handle(fake.events, event);
  if (found == fake.events.end()) return fake.misuse("an event");
  fake.clock_milliseconds = std::max(fake.clock_milliseconds, (*found)->milliseconds);
  return CUresult::success;
}

CUresult cuEventQuery(CUevent event) {
  PADLOCK_ENTER(enter_context, cuEventQuery);
  const auto found = find_handle(fake.events, event);
  if (found == fake.events.end()) return fake.misuse("an event");
  return (*found)->milliseconds <= fake.clock_milliseconds ? CUresult::success : CUresult::not_ready;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  PADLOCK_ENTER(enter_context, cuEventElapsedTime);
  const auto first = find_handle(fake.events, start);
  const auto last = find_handle(fake.events, end);
  if (first == fake.events.end() || last == fake.events.end()) return fake.misuse("an event");
  if (!(*first)->recorded || !(*last)->recorded) return CUresult::invalid_handle;
  *milliseconds = static_cast<float>((*last)->milliseconds - (*first)->milliseconds);
  return CUresult::success;
}

}  // namespace padlock::runtime::cuda
