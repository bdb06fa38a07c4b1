// Host cost of launches on the fake driver, whose kernels do nothing, and of binding and compiling.
// usage: padlock_bench_launch [ROUNDS [cpu]]; cpu: the thread's time instead of the clock's

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/gpu/gpu_report.h"
#include "bench/gpu/host_cost.h"
#include "session/compile/context.h"
#include "tests/runtime/cuda/fake_driver.h"

namespace padlock::bench::gpu {
namespace {

using runtime::cuda::FakeDriver;

/// Measures binding as a program that uses Padlock does it, with the description of its arguments.
Result<std::vector<Timing>> api_bind_costs(const HostCostOptions& options) {
  const Problem problem = host_cost_problem();
  session::Context context;
  PADLOCK_TRY(const session::Program program, session::Program::from_text(problem.program_text()));
  std::vector<Contestant> contestants;
  for (const runtime::DeviceId device :
       {runtime::DeviceId{runtime::DeviceKind::host}, runtime::DeviceId{runtime::DeviceKind::cuda}}) {
    PADLOCK_TRY(const session::CompiledProgram compiled, context.compile(program, {.device = device}));
    const auto bind = [compiled, request = problem.request()]() -> Status {
      PADLOCK_TRY([[maybe_unused]] const session::BoundProgram bound, compiled.bind(request));
      return {};
    };
    PADLOCK_CHECK(bind());
    contestants.push_back(host_contestant("bind, rank 4, " + device.to_string(), options, bind));
  }
  return measure(contestants, options.rounds, options.seed);
}

Status run(FakeDriver& fake, HostCostOptions options) {
  fake.settings.trap_faults = false;  // two system calls a launch
  for (const char* variant : {"_0", "_0_index32", "_0_one_vector", "_0_by_element"})
    fake.register_twin(
        host_cost_problem().program_name() + variant,
        [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
  // It remembers every call.
  options.between_samples = [&fake] { fake.forget_calls(); };
  PADLOCK_TRY(const auto rig, Rig::open("cuda:0"));
  PADLOCK_TRY(const std::vector<Timing> launches, launch_costs(*rig, options));
  fmt::print("{}\n", table_of("launch on the fake driver, host time", launches));
  PADLOCK_TRY(const std::vector<Timing> binds, bind_costs(rig->compiler(), options));
  fmt::print("{}\n", table_of("binding", binds));
  PADLOCK_TRY(const std::vector<Timing> api_binds, api_bind_costs(options));
  fmt::print("{}\n", table_of("binding through the api", api_binds));
  PADLOCK_TRY(const std::vector<Timing> compiles, compile_costs(rig->compiler(), options));
  fmt::print("{}", table_of("text to PTX, warm, proofs cached", compiles));
  return {};
}

int main_of(int argc, char** argv) {
  const int rounds = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 51;
  FakeDriver* const fake = FakeDriver::of(PADLOCK_FAKE_CUDA);
  if (fake == nullptr || rounds < 1) {
    fmt::print(stderr, "usage: padlock_bench_launch [ROUNDS [cpu]], where {} is the fake driver\n", PADLOCK_FAKE_CUDA);
    return 2;
  }
  setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  const HostClock clock = argc > 2 && std::string_view(argv[2]) == "cpu" ? HostClock::thread : HostClock::wall;
  const Status status = run(*fake, {.rounds = rounds, .clock = clock});
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_launch: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench::gpu

int main(int argc, char** argv) { return padlock::bench::gpu::main_of(argc, argv); }
