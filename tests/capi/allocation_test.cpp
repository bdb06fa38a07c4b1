// Memory: a launch allocates nothing, handles use the caller's allocator, and a lack of memory is an error.
#include "tests/allocation_count.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>

#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

using padlock::testing::allocation_count;
using padlock::testing::allocation_failed;
using padlock::testing::fail_allocation;
using padlock::testing::live_allocations;

struct Launch {
  explicit Launch(const padlock_call* bound) : call(bound) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(static_cast<std::int64_t>(i));
  }
  padlock_status operator()(padlock_error** error = nullptr) const {
    return padlock_call_launch(call, inputs, 1, results, 1, nullptr, error);
  }
  const padlock_call* call;
  std::vector<float> x = std::vector<float>(16 * 16), z = std::vector<float>(16 * 16);
  const void* const inputs[1] = {x.data()};
  void* const results[1] = {z.data()};
};

TEST_CASE("a launch and a look-up allocate nothing, a binding the same few each time") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const Kernel kernel = compile(program);
  const PadReluSizes sizes(16, 16, 0);
  const Call call = bind(kernel, sizes);
  const Launch launch(call);
  REQUIRE(launch() == PADLOCK_OK);

  const auto allocations_of = [](const auto& work) {
    const long before = allocation_count();
    for (int i = 0; i < 10; ++i) work();
    return allocation_count() - before;
  };
  padlock_status status = PADLOCK_OK;
  CHECK(allocations_of([&] { status |= launch(); }) == 0);
  Tensor z({16, 16});
  const DLTensor z_view = z.view(launch.results[0]);
  DLTensor x_view = sizes.tensor;
  x_view.data = const_cast<void*>(launch.inputs[0]);
  const DLTensor* const inputs[] = {&x_view};
  const DLTensor* const results[] = {&z_view};
  status |= padlock_call_launch_tensors(call, inputs, 1, results, 1, nullptr, nullptr);
  const padlock_compile_options options = sized<padlock_compile_options>();
  CHECK(allocations_of([&] {
          padlock_kernel* found = nullptr;
          status |= padlock_program_compile(program, &options, &found, nullptr);
          padlock_kernel_release(found);
        }) == 0);
  CHECK(allocations_of([&] {
          padlock_call* bound = nullptr;
          status |= padlock_kernel_bind(kernel, &sizes.options, &bound, nullptr);
          padlock_call_release(bound);
        }) <= 10 * 24);
  CHECK(status == PADLOCK_OK);
  CHECK(wrong_elements(launch.z.data(), 16, 16, 0) == 0);
}

/// A caller's allocator. It counts live blocks and can be made to fail.
struct Caller {
  std::mutex mutex;
  std::map<void*, std::pair<std::size_t, std::size_t>> blocks;
  long until_failure = -1;
  long count = 0;
  bool wrong = false;

  [[nodiscard]] padlock_allocator allocator() {
    return {.user = this,
            .allocate = [](void* user, std::size_t bytes, std::size_t alignment) -> void* {
              auto& self = *static_cast<Caller*>(user);
              const std::lock_guard lock(self.mutex);
              ++self.count;
              if (self.until_failure >= 0 && self.until_failure-- == 0) return nullptr;
              void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
              self.blocks.emplace(memory, std::pair(bytes, alignment));
              return memory;
            },
            .release =
                [](void* user, void* memory, std::size_t bytes, std::size_t alignment) {
                  auto& self = *static_cast<Caller*>(user);
                  const std::lock_guard lock(self.mutex);
                  const auto found = self.blocks.find(memory);
                  self.wrong |= found == self.blocks.end() || found->second != std::pair(bytes, alignment);
                  self.blocks.erase(memory);
                  std::free(memory);
                }};
  }
};

/// Everything that generates no code, once; the first failure ends it. Each handle is let go.
padlock_status all_steps(const padlock_context_options& options) {
  Context context;
  Program program;
  Kernel kernel;
  Call call;
  Devices devices;
  Cache cache;
  Tuner tuner;
  Text stage, report, json;
  std::int64_t refuted = 0;
  Error error;
  padlock_compile_options reference = sized<padlock_compile_options>();
  reference.device = "reference";
  const PadReluSizes sizes(16, 16, 0);
  const std::function<padlock_status()> steps[] = {
      [&] { return padlock_context_create(&options, context.out(), error.out()); },
      [&] { return padlock_program_parse(context, kPadRelu, std::strlen(kPadRelu), program.out(), error.out()); },
      [&] { return padlock_devices_list(context, devices.out(), error.out()); },
      [&] { return padlock_cache_open(context, "/nowhere/tuning.db", cache.out(), error.out()); },
      [&] { return padlock_tuner_create(program, nullptr, tuner.out(), error.out()); },
      [&] { return padlock_program_emit(program, nullptr, "ir", stage.out(), error.out()); },
      [&] { return padlock_program_prove(program, nullptr, 0, &refuted, report.out(), json.out(), error.out()); },
      [&] { return padlock_program_compile(program, &reference, kernel.out(), error.out()); },
      [&] { return padlock_kernel_bind(kernel, &sizes.options, call.out(), error.out()); },
      [&] { return Launch(call)(error.out()); }};
  for (const auto& step : steps)
    if (const padlock_status status = step(); status != PADLOCK_OK) {
      // There is an error object even if there was no memory for it.
      CHECK(padlock_error_status(error) == status);
      return status;
    }
  return PADLOCK_OK;
}

TEST_CASE("handles are of the caller's memory; each time that it gives none is an error, and nothing is left") {
  Caller caller;
  padlock_context_options options = sized<padlock_context_options>();
  options.allocator = caller.allocator();
  REQUIRE(all_steps(options) == PADLOCK_OK);
  const long count = caller.count;
  CHECK(count >= 10);
  for (long index = 0; index < count; ++index) {
    CAPTURE(index);
    caller.until_failure = index;
    CHECK(all_steps(options) == PADLOCK_RESOURCE_EXHAUSTED);
    CHECK(caller.blocks.empty());
  }
  caller.until_failure = -1;
  CHECK(all_steps(options) == PADLOCK_OK);
  CHECK(caller.blocks.empty());
  CHECK_FALSE(caller.wrong);
}

/// Runs `work` with its first allocation failing, then its second, ... until none is left to fail.
void fail_each(const char* what, const std::function<padlock_status()>& work) {
  CAPTURE(what);
  REQUIRE(work() == PADLOCK_OK);
  for (long index = 0;; ++index) {
    CAPTURE(index);
    const long before = live_allocations();
    fail_allocation(index);
    const padlock_status status = work();
    const bool failed = allocation_failed();
    fail_allocation(-1);
    if (!failed) {
      CHECK(status == PADLOCK_OK);
      break;
    }
    CHECK(status == PADLOCK_RESOURCE_EXHAUSTED);
    CHECK(live_allocations() == before);
    CHECK(work() == PADLOCK_OK);
  }
}

TEST_CASE("where operator new fails inside, it is an error, nothing is left, and the next call works") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const Kernel kernel = compile(program);
  const Kernel reference = compile(program, "reference");
  const PadReluSizes sizes(16, 16, 0);
  const Call call = bind(kernel, sizes), slow_call = bind(reference, sizes);
  const Launch launch(call), slow_launch(slow_call);
  const auto bind_to = [&sizes](padlock_kernel* to) {
    padlock_call* bound = nullptr;
    const padlock_status status = padlock_kernel_bind(to, &sizes.options, &bound, nullptr);
    padlock_call_release(bound);
    return status;
  };
  fail_each("bind", [&] { return bind_to(kernel); });
  fail_each("bind on the reference", [&] { return bind_to(reference); });
  fail_each("bind for sizes", [&] {
    padlock_call* bound = nullptr;
    const padlock_status status = padlock_program_bind(program, &sizes.options, &bound, nullptr);
    padlock_call_release(bound);
    return status;
  });
  fail_each("launch", [&] { return launch(); });
  fail_each("launch on the reference", [&] { return slow_launch(); });
  fail_each("look-up", [&] {
    padlock_kernel* found = nullptr;
    const padlock_status status = padlock_program_compile(program, nullptr, &found, nullptr);
    padlock_kernel_release(found);
    return status;
  });
  fail_each("the program as text", [&] {
    padlock_text* text = nullptr;
    const padlock_status status = padlock_program_emit(program, nullptr, "ir", &text, nullptr);
    padlock_text_release(text);
    return status;
  });
  fail_each("parse", [&] {
    padlock_program* parsed = nullptr;
    const padlock_status status = padlock_program_parse(context, kPadRelu, std::strlen(kPadRelu), &parsed, nullptr);
    padlock_program_release(parsed);
    return status;
  });
}

TEST_CASE("an error that there is no memory for says so") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, kPadRelu), "reference");
  const PadReluSizes sizes(4, 2, -3);
  int out_of_memory = 0;
  for (long index = 0; index < 200; ++index) {
    Call call;
    Error error;
    fail_allocation(index);
    const padlock_status status = padlock_kernel_bind(kernel, &sizes.options, call.out(), error.out());
    const bool failed = allocation_failed();
    fail_allocation(-1);
    REQUIRE(error.get() != nullptr);
    if (!failed) {
      CHECK(status == PADLOCK_FAILED_PRECONDITION);
      break;
    }
    CHECK((status == PADLOCK_RESOURCE_EXHAUSTED || status == PADLOCK_FAILED_PRECONDITION));
    out_of_memory += padlock_error_message(error) == std::string("expected memory for this call, found none");
  }
  CHECK(out_of_memory > 0);
}

}  // namespace
}  // namespace padlock::capi::testing
