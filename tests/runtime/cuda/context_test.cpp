#include "runtime/cuda/context.h"

#include <doctest/doctest.h>

#include <thread>

#include "runtime/cuda/event.h"
#include "runtime/cuda/memory.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

using Calls = std::vector<std::string>;

TEST_CASE("an owned context is retained, and released when it is dropped") {
  const Fake fake;
  {
    const auto context = fake.primary();
    CHECK(context->ordinal() == 0);
    CHECK(fake->live() == FakeCounts{.contexts = 1});
    const auto again = fake.primary();
    CHECK(again->handle() == context->handle());
    CHECK(fake->live() == FakeCounts{.contexts = 2});
    CHECK(fake->context_stack().empty());
  }
  CHECK(fake->live() == FakeCounts{});
}

TEST_CASE("a context outlives whoever looked for the driver") {
  const Fake fake;
  auto driver = *fake.load();
  const auto context = *Context::retain_primary(driver, 0);
  driver.reset();
  CHECK(Stream::create(*context));
}

TEST_CASE("a scope makes the context current, and the stack is as it was") {
  Fake fake;
  const auto context = fake.primary();
  const CUcontext other = fake.make_callers_context();
  fake->forget_calls();
  {
    const auto scope = ContextScope::enter(*context);
    REQUIRE(scope);
    CHECK(fake->context_stack() == std::vector{other, context->handle()});
    CHECK(fake->calls() == Calls{"cuCtxGetCurrent", "cuCtxPushCurrent_v2"});
    fake->forget_calls();
    {
      const auto inner = ContextScope::enter(*context);
      CHECK(fake->context_stack() == std::vector{other, context->handle()});
    }
    CHECK(fake->calls() == Calls{"cuCtxGetCurrent"});
    CHECK(fake->context_stack() == std::vector{other, context->handle()});
  }
  CHECK(fake->context_stack() == std::vector{other});
}

TEST_CASE("a borrowed context is the caller's current one, and stays the caller's") {
  Fake fake;
  fake->settings.devices = 2;
  const auto driver = *fake.load();
  const Error none = error_of(Context::borrow_current(driver));
  CHECK(none.code == Code::failed_precondition);
  CHECK(none.message == "expected a current CUDA context on this thread, found none");

  const CUcontext callers = fake.make_callers_context(1);
  const auto context = *Context::borrow_current(driver);
  CHECK(context->handle() == callers);
  CHECK(context->ordinal() == 1);
  // On another thread, where it is not current and must not stay so.
  std::thread([&] {
    CHECK(DeviceBuffer::allocate(*context, 64, "x"));
    CHECK(fake->context_stack().empty());
  }).join();
  CHECK(fake->context_stack() == std::vector{callers});
  // Even with another one current.
  const CUcontext other = fake.make_callers_context(0);
  CHECK(DeviceBuffer::allocate(*context, 64, "x"));
  CHECK(fake->context_stack() == std::vector{callers, other});
}

TEST_CASE("a borrowed context that its owner destroyed is a lost device") {
  const Fake fake;
  const auto driver = *fake.load();
  const CUcontext callers = fake->create_context(0);
  fake->set_context_stack({callers});
  const auto context = *Context::borrow_current(driver);
  fake->set_context_stack({});
  fake->destroy_context(callers);
  const Error error = error_of(DeviceBuffer::allocate(*context, 64, "x"));
  CHECK(is_device_lost(error));
  CHECK(contains(error.message, "cuCtxPushCurrent on cuda:0 failed: CUDA_ERROR_CONTEXT_IS_DESTROYED"));
}

TEST_CASE("an owned stream is destroyed, a borrowed one is left alone") {
  const Fake fake;
  const auto context = fake.primary();
  Stream owned = *Stream::create(*context);
  fake->forget_calls();
  {
    const Stream borrowed = Stream::borrow(*context, owned.handle());
    CHECK(borrowed.handle() == owned.handle());
    CHECK(fake->calls().empty());
    CHECK(borrowed.synchronize());
    CHECK(Stream::borrow(*context, nullptr).synchronize());
  }
  CHECK(fake->live().streams == 1);
  Stream moved = std::move(owned);
  CHECK(fake->live().streams == 1);
  moved = *Stream::create(*context);
  CHECK(fake->live().streams == 1);
  CHECK(moved.synchronize());
}

TEST_CASE("what is no stream of the context is the caller's error") {
  const Fake fake;
  const auto context = fake.primary();
  int nothing = 0;
  const Error error = error_of(Stream::borrow(*context, &nothing).synchronize("k"));
  CHECK(error.code == Code::invalid_argument);
  CHECK(error.blame == Blame::user);
  CHECK(contains(error.message, "CUDA_ERROR_INVALID_HANDLE"));
  CHECK(fake->take_misuses() == std::vector<std::string>{"cuStreamIsCapturing: a stream"});
}

TEST_CASE("events measure between what the stream has") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  const Event start = *Event::create(*context);
  Event end = *Event::create(*context);
  CHECK(error_of(end.milliseconds_since(start)).code == Code::invalid_argument);  // not recorded
  REQUIRE(start.record(stream));
  REQUIRE(end.record(stream));
  REQUIRE(end.synchronize());
  CHECK(*end.milliseconds_since(start) == 0.0F);
  CHECK(fake->live().events == 2);
  end = *Event::create(*context);
  CHECK(fake->live().events == 2);
}

}  // namespace
}  // namespace padlock::runtime::cuda
