#include "runtime/cuda/module.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/fake_cubin.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

TEST_CASE("a module has its functions, and is unloaded when it is dropped") {
  const Fake fake;
  const auto context = fake.primary();
  {
    Module module = *Module::load_ptx(*context, kPtx, "p");
    const auto add = module.function("add");
    REQUIRE(add);
    CHECK(add->name() == "add");
    CHECK(&add->context() == context.get());
    const FunctionFacts facts = *function_facts(*add);
    CHECK(facts.registers == 32);
    CHECK(facts.max_block_threads == 1024);
    CHECK(facts.local_bytes == 0);
    CHECK(facts.shared_bytes == 0);
    module = *Module::load_ptx(*context, kPtx, "q");
    CHECK(fake->live().modules == 1);
    const Module moved = std::move(module);
    CHECK(fake->live().modules == 1);
  }
  CHECK(fake->live().modules == 0);
}

TEST_CASE("a function that the module has not is an error with its name") {
  const Fake fake;
  const auto context = fake.primary();
  const Module module = *Module::load_ptx(*context, kPtx, "p");
  const Error error = error_of(module.function("no_entry"));
  CHECK(error.code == Code::not_found);
  CHECK(contains(error.message, "cuModuleGetFunction of no_entry on cuda:0 failed: CUDA_ERROR_NOT_FOUND"));
}

TEST_CASE("a module that does not load is an error with the compiler's log") {
  const Fake fake;
  const auto context = fake.primary();
  fake->refuse_modules(CUresult::invalid_ptx, "ptxas application ptx input, line 7; error : Unknown symbol 'x'\n \n");
  const Error error = error_of(Module::load_ptx(*context, kPtx, "pad_relu"));
  CHECK(error.code == Code::internal);
  CHECK(error.to_string() ==
        "cuModuleLoadDataEx on cuda:0 failed: CUDA_ERROR_INVALID_PTX: as the fake driver was told\n"
        "  while loading module pad_relu\n"
        "  ptxas application ptx input, line 7; error : Unknown symbol 'x'");
  fake->refuse_modules(CUresult::unsupported_ptx_version, "");
  const Error version = error_of(Module::load_ptx(*context, kPtx, "p"));
  CHECK(version.code == Code::unavailable);
  CHECK(version.context == std::vector<std::string>{"while loading module p"});
}

TEST_CASE("a log longer than its buffer is cut") {
  const Fake fake;
  const auto context = fake.primary();
  fake->refuse_modules(CUresult::invalid_ptx, std::string(100000, 'x'));
  const Error error = error_of(Module::load_ptx(*context, kPtx, "p"));
  REQUIRE(error.context.size() == 2);
  CHECK(error.context[1] == std::string(8191, 'x'));
}

TEST_CASE("a module that is linked first is the same, and nothing of the link stays") {
  const Fake fake;
  const auto context = fake.primary();
  fake->forget_calls();
  const Module module = *Module::link_ptx(*context, kPtx, "p");
  CHECK(module.function("add"));
  CHECK(std::ranges::count(fake->calls(), "cuLinkComplete") == 1);
  CHECK(fake->live().modules == 1);
  CHECK(fake->live().links == 0);
  CHECK(fake->made().links == 1);
}

TEST_CASE("where the driver lacks a function for it, nothing is linked") {
  for (const char* missing : {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"}) {
    CAPTURE(missing);
    const Fake fake;
    fake->settings.hidden_symbols = {missing};
    const auto context = fake.primary();
    CHECK(Module::link_ptx(*context, kPtx, "p"));
    CHECK(fake->made().links == 0);
    CHECK(fake->made().modules == 1);
  }
}

TEST_CASE("what does not link is an error with the compiler's log, too") {
  const Fake fake;
  const auto context = fake.primary();
  fake->refuse_modules(CUresult::invalid_ptx, "ptxas application ptx input, line 7; error : Unknown symbol 'x'\n");
  const Error error = error_of(Module::link_ptx(*context, kPtx, "pad_relu"));
  CHECK(error.code == Code::internal);
  CHECK(error.to_string() ==
        "cuLinkAddData on cuda:0 failed: CUDA_ERROR_INVALID_PTX: as the fake driver was told\n"
        "  while loading module pad_relu\n"
        "  ptxas application ptx input, line 7; error : Unknown symbol 'x'");
  CHECK(fake->live() == FakeCounts{.contexts = 1});
}

TEST_CASE("what is no PTX is refused by the driver") {
  const Fake fake;
  const auto context = fake.primary();
  CHECK(contains(error_of(Module::load_ptx(*context, "", "p")).to_string(), "Missing .version"));
}

TEST_CASE("an entry is loaded when its function is first asked for, once, by whichever thread, without the others") {
  const Fake fake;
  const auto context = fake.primary();
  for (const ProgramModules::Make make : {Module::load_ptx, Module::link_ptx}) {
    const int before = fake->made().modules;
    const ProgramModules modules(*context, kPtx, make);
    CHECK(modules.has("add"));
    CHECK(modules.has("nothing"));
    CHECK_FALSE(modules.has("no_entry"));
    CHECK(fake->made().modules == before);
    const Function* const add = *modules.function("add");
    CHECK(fake->made().modules == before + 1);
    std::array<const Function*, 8> found{};
    std::vector<std::thread> threads;
    for (const Function*& place : found) threads.emplace_back([&] { place = *modules.function("nothing"); });
    for (std::thread& thread : threads) thread.join();
    CHECK(std::ranges::count(found, found.front()) == std::ssize(found));
    CHECK(found.front()->name() == "nothing");
    CHECK(*modules.function("add") == add);
    CHECK(fake->made().modules == before + 2);
  }
  CHECK(fake->live().modules == 0);
}

TEST_CASE("a cubin is loaded once for all entries, and nothing is assembled") {
  const Fake fake;
  const auto context = fake.primary();
  const std::string broken = kPtx + std::string("}");
  const ProgramModules modules(*context, broken, Module::link_ptx, fake_cubin(kPtx));
  CHECK(fake->made().modules == 0);
  CHECK(modules.function("add"));
  CHECK(modules.function("nothing"));
  CHECK(fake->made().modules == 1);
  CHECK(fake->made().links == 0);
}

TEST_CASE("PTX serves where the driver refuses a cubin, which it is asked once; a lack of memory is an error") {
  const Fake fake;
  const auto context = fake.primary();
  fake->settings.cubin_status = CUresult::no_binary_for_gpu;
  const ProgramModules refused(*context, kPtx, Module::load_ptx, fake_cubin(kPtx));
  CHECK(refused.function("add"));
  CHECK(fake->made().modules == 1);
  fake->settings.cubin_status = CUresult::success;
  CHECK(refused.function("nothing"));
  CHECK(fake->made().modules == 2);

  fake->settings.cubin_status = CUresult::out_of_memory;
  const ProgramModules modules(*context, kPtx, Module::load_ptx, fake_cubin(kPtx));
  CHECK(error_of(modules.function("add")).code == Code::resource_exhausted);
  CHECK(fake->made().modules == 2);
  fake->settings.cubin_status = CUresult::success;
  CHECK(modules.function("add"));
}

TEST_CASE("an entry that does not load is an error with its name, and the next who asks tries again") {
  const Fake fake;
  const auto context = fake.primary();
  const ProgramModules modules(*context, kPtx, Module::load_ptx);
  fake->refuse_modules(CUresult::out_of_memory, "");
  const Error error = error_of(modules.function("nothing"));
  CHECK(error.code == Code::resource_exhausted);
  CHECK(contains(error.to_string(), "while loading module nothing"));
  fake->refuse_modules(CUresult::success, "");
  CHECK(modules.function("nothing"));
  CHECK(error_of(modules.function("no_entry")).message == "the PTX has no entry no_entry");
}

TEST_CASE("an entry is loaded while a stream is captured, and the capture stays valid") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  for (const ProgramModules::Make make : {Module::load_ptx, Module::link_ptx}) {
    const ProgramModules modules(*context, kPtx, make);
    fake->begin_capture(stream.handle());
    CHECK(modules.function("add"));
    CHECK(fake->end_capture(stream.handle()) == 0);
    // What the thread does else is forbidden as before.
    fake->begin_capture(stream.handle());
    CHECK(error_of(Module::load_ptx(*context, kPtx, "p")).code == Code::failed_precondition);
    CHECK(fake->end_capture(stream.handle()) == -1);
  }
}

TEST_CASE("where the driver cannot load beside a capture, that is an error, and works after it") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  for (const bool hidden : {true, false}) {
    CAPTURE(hidden);
    if (hidden) fake->settings.hidden_symbols = {"cuThreadExchangeStreamCaptureMode"};
    const auto own = fake.primary();
    const ProgramModules modules(*own, kPtx, Module::load_ptx);
    if (!hidden) fake->fail({.function = "cuThreadExchangeStreamCaptureMode", .status = CUresult::unknown});
    fake->begin_capture(stream.handle());
    CHECK(error_of(modules.function("add")).code == (hidden ? Code::failed_precondition : Code::unknown));
    CHECK(fake->end_capture(stream.handle()) == (hidden ? -1 : 0));
    CHECK(modules.function("add"));
    fake->settings.hidden_symbols = {};
  }
}

TEST_CASE("without cuFuncGetAttribute a function's facts are not known") {
  const Fake fake;
  fake->settings.hidden_symbols = {"cuFuncGetAttribute"};
  const auto context = fake.primary();
  const Module module = *Module::load_ptx(*context, kPtx, "p");
  const Error error = error_of(function_facts(*module.function("add")));
  CHECK(error.code == Code::unimplemented);
  CHECK(contains(error.message, "has no function cuFuncGetAttribute"));
}

}  // namespace
}  // namespace padlock::runtime::cuda
