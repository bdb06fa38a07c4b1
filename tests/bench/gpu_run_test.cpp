#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/gpu/gpu_report.h"
#include "bench/gpu/host_cost.h"
#include "bench/gpu/run_problem.h"
#include "tests/runtime/cuda/fake_driver.h"

namespace padlock::bench::gpu {
namespace {

using runtime::cuda::FakeCounts;
using runtime::cuda::FakeDriver;

/// Stands for the kernel of one problem: simt, with a fault.
struct TwinOfProblem {
  std::unique_ptr<Kernel> kernel;
  std::int64_t spoiled_byte = -1;  ///< of the output, counted from its begin; -1: none
  int launches = 0;

  static void run(void* user, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
    auto& self = *static_cast<TwinOfProblem*>(user);
    ++self.launches;
    REQUIRE(self.kernel->launch(std::bit_cast<void*>(words[1]), std::bit_cast<void*>(words[2])));
    if (self.spoiled_byte >= 0) std::bit_cast<std::byte*>(words[2])[self.spoiled_byte] ^= std::byte{0x40};
  }
};

/// A copy kernel: to, from, vectors of 16 bytes.
void copy_twin(void* user, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
  *static_cast<std::uint64_t*>(user) = words[2] * 16;
  std::memcpy(std::bit_cast<void*>(words[0]), std::bit_cast<const void*>(words[1]), words[2] * 16);
}

/// The fake driver as the one that is found, with a problem's twin.
class FakeGpu {
 public:
  explicit FakeGpu(const Problem& problem) : control_(FakeDriver::of(PADLOCK_FAKE_CUDA)) {
    REQUIRE(control_ != nullptr);
    setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
    control_->reset();
    auto simt = Rig::open("simt");
    REQUIRE(simt);
    simt_ = *std::move(simt);
    auto kernel = Kernel::compile(*simt_, problem.program_text(), std::nullopt);
    REQUIRE(kernel);
    twin_.kernel = *std::move(kernel);
    REQUIRE(twin_.kernel->bind(problem.request()));
    for (const char* variant : {"_0_one_vector", "_0_by_element"})
      control_->register_twin(problem.program_name() + variant, TwinOfProblem::run, &twin_);
    for (const int vectors : {1, 2, 4, 8})
      control_->register_twin(fmt::format("padlock_bench_copy_{}", vectors), copy_twin, &copied_bytes);
  }
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
  ~FakeGpu() {
    CHECK(control_->live() == FakeCounts{});
    CHECK(control_->orphaned() == FakeCounts{});
    for (const std::string& misuse : control_->take_misuses()) FAIL_CHECK(misuse);
  }

  FakeDriver* operator->() const { return control_; }
  std::uint64_t copied_bytes = 0;  ///< by the last launch of a copy kernel
  [[nodiscard]] TwinOfProblem& twin() { return twin_; }

 private:
  FakeDriver* control_;  // borrowed from the library, which stays loaded
  std::unique_ptr<Rig> simt_;
  TwinOfProblem twin_;
};

ProblemReport run_on(Rig& rig, const Problem& problem) {
  const Data data(problem.dtype);
  auto kernel = Kernel::compile(rig, problem.program_text(), std::nullopt);
  REQUIRE_MESSAGE(kernel.has_value(), (kernel ? std::string() : kernel.error().to_string()));
  const std::vector<Candidate> candidates = {{"padlock", "default", kernel->get()}};
  const auto copies = CopyKernels::load(rig);
  REQUIRE(copies);
  auto report = run_problem(rig, problem, data, candidates, copies->get(), {.rounds = 2, .sample_ms = 0.001});
  REQUIRE_MESSAGE(report.has_value(), (report ? std::string() : report.error().to_string()));
  REQUIRE(report->has_value());
  return **std::move(report);
}

TEST_CASE("a problem runs through the driver, is right and is timed") {
  for (const ir::DType dtype : {ir::DType::f32, ir::DType::f16, ir::DType::i8}) {
    const Problem problem = make_problem(dtype, 4, false, 16 << 10);
    FakeGpu fake(problem);
    auto rig = Rig::open("cuda:0");
    REQUIRE(rig);
    CHECK((*rig)->facts().architecture == "sm_90");
    const ProblemReport report = run_on(**rig, problem);
    CHECK(report.failures.empty());
    REQUIRE(report.lines.size() == 4);
    CHECK(report.lines[0].name == "memcpy");
    CHECK(report.lines[1].name == "memcpy again");
    CHECK(report.lines[2].name == "copy kernel");
    CHECK(fake.copied_bytes == static_cast<std::uint64_t>(problem.bytes() / 2 + 15) / 16 * 16);
    CHECK(report.copy_ms() <= report.lines[0].timing.ms.value);
    CHECK(report.copy_ms() <= report.lines[2].timing.ms.value);
    CHECK(report.lines[3].name == "padlock");
    CHECK(report.lines[3].timing.ms.value > 0);
    CHECK(report.lines[3].code.registers == 32);
    CHECK(report.lines[3].code.text_to_ptx_ms > 0);
    CHECK(report.buffers > 1);
    CHECK(fake.twin().launches > 2);
  }
}

TEST_CASE("a wrong byte and a byte beside the output are found, and what is wrong is not timed") {
  const Problem problem = make_problem(ir::DType::f32, 3, true, 16 << 10);
  const std::int64_t bytes = problem.output_bytes();
  struct Case {
    std::int64_t byte;
    const char* message;
  };
  for (const auto& [byte, message] :
       {Case{0, "row 0, column 0: expected bits 0x3f000000"},
        Case{bytes - 1, "expected bits 0x3f000000, found 0x7f000000"}, Case{bytes, "writes outside its output"}}) {
    CAPTURE(byte);
    FakeGpu fake(problem);
    fake.twin().spoiled_byte = byte;
    auto rig = Rig::open("cuda:0");
    REQUIRE(rig);
    const ProblemReport report = run_on(**rig, problem);
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0].find(message) != std::string::npos);
    CHECK(report.lines.size() == 3);
    CHECK(json_lines(report, (*rig)->facts(), 2).find("\"kind\":\"gpu_failure\"") != std::string::npos);
  }
}

TEST_CASE("a driver's errors end a problem with their text") {
  const Problem problem = make_problem(ir::DType::f32, 2, true, 16 << 10);
  FakeGpu fake(problem);
  auto rig = Rig::open("cuda:0");
  REQUIRE(rig);
  auto kernel = Kernel::compile(**rig, problem.program_text(), std::nullopt);
  REQUIRE(kernel);
  const Data data(problem.dtype);
  fake->fail({.function = "cuMemAlloc_v2", .nth = 2, .status = runtime::cuda::CUresult::out_of_memory});
  const auto report = run_problem(**rig, problem, data, {{"padlock", "default", kernel->get()}}, nullptr, {});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == Code::resource_exhausted);
  CHECK(report.error().to_string().find("outputs needs") != std::string::npos);
}

TEST_CASE("a problem that does not fit is left out") {
  const Problem problem = make_problem(ir::DType::f32, 2, true, 256 << 20);
  FakeGpu fake(make_problem(ir::DType::f32, 2, true, 16 << 10));
  fake->settings.memory_bytes = 300 << 20;
  auto rig = Rig::open("cuda:0");
  REQUIRE(rig);
  const auto report = run_problem(**rig, problem, Data(problem.dtype), {}, nullptr, {});
  REQUIRE(report);
  CHECK_FALSE(report->has_value());
}

TEST_CASE("launch costs are measured beside the driver's call") {
  FakeGpu fake(host_cost_problem());
  auto rig = Rig::open("cuda:0");
  REQUIRE(rig);
  const auto timings = launch_costs(**rig, {.rounds = 2, .calls = 3});
  REQUIRE(timings);
  REQUIRE(timings->size() == 5);
  CHECK((*timings)[0].name == "cuLaunchKernel");
  CHECK(table_of("launch", *timings).find("launch, buffers checked") != std::string::npos);
}

}  // namespace
}  // namespace padlock::bench::gpu
