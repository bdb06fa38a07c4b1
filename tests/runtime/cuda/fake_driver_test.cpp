// Tests that the fake driver notices what it must; otherwise tests with it show nothing.

#include "tests/runtime/cuda/fake_driver.h"

#include <doctest/doctest.h>

#include "tests/runtime/cuda/fake_fixture.h"
#include "tests/runtime/cuda/fake_memory.h"
#include "tests/runtime/cuda/fake_ptx.h"

namespace padlock::runtime::cuda {
namespace {

TEST_CASE("what is not given back is counted, and what the context cleaned up too") {
  const Fake fake;
  const auto driver = *fake.load();
  CUcontext context = nullptr;
  CUdeviceptr address = 0;
  CUevent event = nullptr;
  REQUIRE(driver->call(driver->cuDevicePrimaryCtxRetain, {}, &context, 0));
  fake->set_context_stack({context});
  REQUIRE(driver->call(driver->cuMemAlloc_v2, {}, &address, std::size_t{8}));
  REQUIRE(driver->call(driver->cuEventCreate, {}, &event, 0U));
  CHECK(fake->live() == FakeCounts{.contexts = 1, .allocations = 1, .events = 1});
  REQUIRE(driver->call(driver->cuDevicePrimaryCtxRelease_v2, {}, 0));
  CHECK(fake->live() == FakeCounts{});
  CHECK(fake->orphaned() == FakeCounts{.allocations = 1, .events = 1});
  CHECK(error_of(driver->call(driver->cuEventCreate, {}, &event, 0U)).message.find("CONTEXT_IS_DESTROYED") !=
        std::string::npos);
  fake->reset();
}

TEST_CASE("what is freed twice, or popped from an empty stack, is noted") {
  const Fake fake;
  const auto driver = *fake.load();
  CUcontext context = fake->create_context(0);
  fake->set_context_stack({context});
  CUdeviceptr address = 0;
  REQUIRE(driver->call(driver->cuMemAlloc_v2, {}, &address, std::size_t{8}));
  REQUIRE(driver->call(driver->cuMemFree_v2, {}, address));
  CHECK_FALSE(driver->call(driver->cuMemFree_v2, {}, address));
  REQUIRE(driver->call(driver->cuCtxPopCurrent_v2, {}, &context));
  CHECK_FALSE(driver->call(driver->cuCtxPopCurrent_v2, {}, &context));
  CHECK_FALSE(driver->call(driver->cuDevicePrimaryCtxRelease_v2, {}, 0));
  CHECK(fake->take_misuses() == std::vector<std::string>{"cuMemFree_v2: memory", "cuCtxPopCurrent_v2: an empty stack",
                                                         "cuDevicePrimaryCtxRelease_v2: a primary context that nobody "
                                                         "retains"});
  fake->reset();
}

TEST_CASE("before cuInit nothing works") {
  const Fake fake;
  const auto driver = *fake.load();
  fake->reset();
  int count = 0;
  CHECK(contains(error_of(driver->call(driver->cuDeviceGetCount, {}, &count)).message, "CUDA_ERROR_NOT_INITIALIZED"));
}

TEST_CASE("memory ends where its bytes end, or begins where a page begins") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{256}, std::size_t{5000}}) {
    const FakeMemory flush = FakeMemory::map(bytes, 1 << 20, true, 1);
    CHECK((reinterpret_cast<std::uintptr_t>(flush.data) + bytes) % 4096 == 0);
    CHECK(flush.data[bytes - 1] == std::byte{0xA5});
    flush.unmap();
    const FakeMemory aligned = FakeMemory::map(bytes, 1 << 20, true, 256);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned.data) % 256 == 0);
    aligned.unmap();
    const FakeMemory front = FakeMemory::map(bytes, 0, false, 256);
    CHECK(reinterpret_cast<std::uintptr_t>(front.data) % 4096 == 0);
    front.unmap();
  }
}

TEST_CASE("touching just outside of memory is trapped") {
  struct Touch {
    volatile std::byte* where;
    bool returned = false;
  };
  const auto touches = [](std::byte* where) {
    Touch touch{where};
    const bool finished = run_trapping_faults(
        [](void* state) {
          auto& self = *static_cast<Touch*>(state);
          *self.where = std::byte{1};
          self.returned = true;
        },
        &touch);
    CHECK(finished == touch.returned);
    return finished;
  };
  const FakeMemory end = FakeMemory::map(100, 1 << 20, true, 1);
  CHECK(touches(end.data));
  CHECK(touches(end.data + 99));
  CHECK_FALSE(touches(end.data + 100));
  const FakeMemory front = FakeMemory::map(100, 1 << 20, false, 256);
  CHECK_FALSE(touches(front.data - 1));
  CHECK(touches(front.data));
  end.unmap();
  front.unmap();
}

TEST_CASE("with bounds checks off, memory has no inaccessible pages and copies are not checked") {
  const Fake fake;
  fake->settings.bounds_checks = false;
  fake->settings.flush_end = false;
  const auto driver = *fake.load();
  fake->set_context_stack({fake->create_context(0)});
  CUdeviceptr address = 0;
  REQUIRE(driver->call(driver->cuMemAlloc_v2, {}, &address, std::size_t{8}));
  CHECK(driver->call(driver->cuMemsetD8Async, {}, address, static_cast<unsigned char>(1), std::size_t{16},
                     static_cast<CUstream>(nullptr)));
  fake->settings.bounds_checks = true;
  CHECK_FALSE(driver->call(driver->cuMemsetD8Async, {}, address, static_cast<unsigned char>(1), std::size_t{16},
                           static_cast<CUstream>(nullptr)));
  fake->reset();
}

TEST_CASE("the nth call of a function fails, once, with what it was told") {
  const Fake fake;
  const auto driver = *fake.load();
  fake->fail({.function = "cuDeviceGetCount", .nth = 2, .status = CUresult::not_permitted});
  int count = 0;
  int version = 0;
  CHECK(driver->call(driver->cuDeviceGetCount, {}, &count));
  CHECK(driver->call(driver->cuDriverGetVersion, {}, &version));
  CHECK(contains(error_of(driver->call(driver->cuDeviceGetCount, {}, &count)).message, "CUDA_ERROR_NOT_PERMITTED"));
  CHECK(driver->call(driver->cuDeviceGetCount, {}, &count));
}

TEST_CASE("cuGetProcAddress knows the version of what it is asked for") {
  const Fake fake;
  const auto driver = *fake.load();
  void* address = nullptr;
  auto found = CUdriverProcAddressQueryResult::success;
  const auto ask = [&](const char* symbol, int version) {
    return driver->cuGetProcAddress_v2.address(symbol, &address, version, kProcAddressLegacyStream, &found);
  };
  CHECK(ask("cuMemAlloc", 3020) == CUresult::success);
  CHECK(address == reinterpret_cast<void*>(driver->cuMemAlloc_v2.address));
  CHECK(ask("cuMemAlloc", 2000) == CUresult::not_found);
  CHECK(found == CUdriverProcAddressQueryResult::version_not_sufficient);
  CHECK(address == nullptr);
  CHECK(ask("cuMemAlloc_v2", 3020) == CUresult::not_found);  // the base name is asked for
  CHECK(found == CUdriverProcAddressQueryResult::symbol_not_found);
}

TEST_CASE("a kernel without a twin is noted, and loses the context") {
  const Fake fake;
  const auto driver = *fake.load();
  fake->set_context_stack({fake->create_context(0)});
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(driver->call(driver->cuModuleLoadDataEx, {}, &module, static_cast<const void*>(".version 8.0\n.entry k { }"),
                       0U, static_cast<CUjit_option*>(nullptr), static_cast<void**>(nullptr)));
  REQUIRE(driver->call(driver->cuModuleGetFunction, {}, &function, module, "k"));
  CHECK(driver->call(driver->cuLaunchKernel, {}, function, 1U, 1U, 1U, 1U, 1U, 1U, 0U, static_cast<CUstream>(nullptr),
                     static_cast<void**>(nullptr), static_cast<void**>(nullptr)));
  CHECK(fake->take_misuses() == std::vector<std::string>{"cuLaunchKernel: kernel k has no twin"});
  CHECK_FALSE(driver->call(driver->cuStreamSynchronize, {}, static_cast<CUstream>(nullptr)));
  fake->reset();
}

TEST_CASE("entries of a PTX text") {
  const auto entries = parse_entries(kPtx);
  REQUIRE(entries);
  REQUIRE(entries->size() == 2);
  CHECK((*entries)[0].name == "add");
  CHECK((*entries)[0].parameters == 4);
  CHECK((*entries)[1].name == "nothing");
  CHECK((*entries)[1].parameters == 0);
  CHECK(parse_entries("/* .entry a( */ .version 8.0 // .entry b(")->empty());
  CHECK((*parse_entries(".version 8.0\n.entry c { }"))[0].name == "c");
  CHECK(parse_entries(".version 8.0 .entry a(.param .align 8 .b8 a_0[72], .param .u64 b) { }")->at(0).parameters == 10);
  CHECK(parse_entries(".version 8.0 .entry /* d */ e(.param .b64 x) { }")->at(0).parameters == 1);
  CHECK(parse_entries(".version 8.0 .entry f(.param .align 8 .b8 p[120], .param .b64 q) { }")->at(0).parameters == 16);
  for (const char* const bad : {"", "// only", "/* open", ".target sm_90", ".version 8.0 .entry",
                                ".version 8.0 .entry (", ".version 8.0 .entry a(", ".version 8.0 .entry a"})
    CHECK_FALSE(parse_entries(bad).has_value());
}

}  // namespace
}  // namespace padlock::runtime::cuda
