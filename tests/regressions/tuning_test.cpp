// Class J, measurements and choices: tuners that ran on a caller's tensors, took a wrong config for right or a right
// one for wrong, needed more memory than there was, or used a result for sizes that it did not fit.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>

#include "tests/regressions/tuned.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/search/size_plan.h"
#include "tuner/trial/scratch_data.h"
#include "tuner/trial/try_config.h"

namespace padlock::regressions {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// A caller's memory, in pages of its own.
class Pages {
 public:
  explicit Pages(std::size_t count) : count_(count) {
    memory_ = ::mmap(nullptr, count * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory_ != MAP_FAILED);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(memory_, count_ * 4); }
  void protect(int protection) const { REQUIRE(::mprotect(memory_, count_ * 4, protection) == 0); }
  [[nodiscard]] std::span<float> values() const { return {static_cast<float*>(memory_), count_}; }
  [[nodiscard]] runtime::UserBuffer buffer() const { return {memory_, static_cast<std::int64_t>(count_ * 4)}; }

 private:
  std::size_t count_;
  void* memory_;
};

}  // namespace

TEST_CASE("triton_54: tuning reaches no tensor of a caller's, and the first result is that of one application") {
  const Folder folder;
  const session::Program program = program_of(
      "program p(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [0, 2]) z = leaky_relu(y, alpha = 0.5) return z }");
  session::Context context;
  use(context, folder / "t.db", tuner::Mode::read_write);
  const Pages x(40 * 50), z(40 * 53);
  std::iota(x.values().begin(), x.values().end(), -1000.0F);
  std::ranges::fill(z.values(), 7.0F);
  const runtime::UserBuffer in = x.buffer(), out = z.buffer();
  const tuner::Sizes at = sizes(40, 50);
  REQUIRE(bound(context, program, at).launch({{&in, 1}, {&out, 1}, {}}));
  std::ranges::fill(z.values(), 7.0F);

  x.protect(PROT_READ);
  z.protect(PROT_NONE);
  session::TuneOptions options = small_tuning(at);
  options.budget_seconds = 3;  // for several trials, on a machine that does other work too
  CHECK(tuned(context, program, options).trials > 3);
  z.protect(PROT_READ | PROT_WRITE);
  CHECK(std::ranges::all_of(z.values(), [](float value) { return value == 7; }));
  REQUIRE(bound(context, program, at).launch({{&in, 1}, {&out, 1}, {}}));
  CHECK(z.values()[0] == 0);
  CHECK(z.values()[1] == -500);
  CHECK(z.values()[53 + 1] == -475);
}

TEST_CASE("triton_9230: two configs that write one half each are both wrong, whatever ran in the same buffers before") {
  tuner::Trials trials({}, tuner::faults::make_faulty_compiler);
  const TryRequest request = quick_request(kTunedPad, sizes(37, 53));
  for (const Fault fault : {Fault::none, Fault::first_half_alone, Fault::last_half_alone, Fault::none,
                            Fault::last_half_alone, Fault::first_half_alone}) {
    CAPTURE(static_cast<int>(fault));
    tuner::faults::set_fault(fault, request.symbols);
    const TryResult result = trials.try_config(request);
    CHECK(name_of(result.verdict) == name_of(fault == Fault::none ? Verdict::ok : Verdict::wrong_result));
    CHECK((fault == Fault::none || result.message.find(", found 0xa5a5a5a5") != std::string::npos));
  }
}

TEST_CASE("helion_2042: scalars among the arguments do not change which tensor is meant") {
  tuner::Trials trials({}, tuner::faults::make_faulty_compiler);
  const TryRequest request = quick_request(
      "program p(v: f32, x: f32[A, B], k: dim, w: f32, y: f32[A, B]) where A >= 1, B >= 1, 0 <= k <= 9 {"
      "  s = add(x, y) t = pad(s, low = [0, k], high = [0, 0], value = v) z = pad(t, low = [1, 0], high = [0, 0], "
      "value = w) return z }",
      {{"A", 5}, {"B", 7}, {"k", 2}});
  tuner::faults::set_fault(Fault::none, request.symbols);
  CHECK(trials.try_config(request).verdict == Verdict::ok);
  tuner::faults::set_fault(Fault::input_overwritten, request.symbols);
  const TryResult result = trials.try_config(request);
  CHECK(name_of(result.verdict) == name_of(Verdict::input_changed));
  CHECK(result.message == "byte 5 of input y was overwritten");
}

// ---- Memory ----------------------------------------------------------------------------------------------------

TEST_CASE("pytorch_129258: what was said before tuning begins is the most that a GPU's memory is asked for") {
  const session::FakeGpu fake;
  // All but the words in which a kernel reports a fault.
  fake->settings.memory_bytes = 40 * kMiB + 4096;
  TryRequest request = quick_request(kTunedPad, sizes(37, 53), "cuda:0");
  request.memory_bytes = 40 * kMiB;
  request.policy.rotation_bytes = 4096 * kMiB;  // as many buffers as there may be
  tuner::faults::set_fault(Fault::none, request.symbols);
  tuner::Trials trials({}, tuner::faults::make_faulty_compiler);
  const TryResult result = trials.try_config(request);
  CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
  // Each buffer takes the pages that the driver maps.
  const auto pages = static_cast<std::int64_t>(fake->settings.granularity);
  CHECK(fake->live().allocations >= 2 * (40 * kMiB / (2 * pages) - 1));
}

#if !defined(PADLOCK_SANITIZED)  // a sanitizer's shadow counts as this process's memory
namespace {

/// The most of the process's memory that was resident since it was last reset.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}

}  // namespace

TEST_CASE("pytorch_194686: what was said before tuning begins is the most that the host's memory is asked for") {
  tuner::Trials trials;
  TryRequest request = quick_request(kTunedPad, sizes(5, 5));
  request.policy.budget_ms = 0;
  REQUIRE(trials.try_config(request).verdict == Verdict::ok);  // from now on the compiler is there
  const session::Program program = program_of(kTunedPad);
  request = quick_request(kTunedPad, sizes(2100, 2100));  // too much for the interpreter
  request.memory_bytes = tuner::scratch_bytes(*tuner::bind_sizes(program.ir(), request.symbols));
  request.policy.rotation_bytes = 4096 * kMiB;
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::int64_t before = peak_bytes();
  const TryResult result = trials.try_config(request);
  CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
  const std::int64_t taken = peak_bytes() - before;
  CHECK(taken > 60 * kMiB);
  CHECK(taken <= request.memory_bytes + 8 * kMiB);  // and the memory of compiling
  request.memory_bytes -= 1;
  CHECK(name_of(tuner::try_config(request).verdict) == name_of(Verdict::out_of_memory));
}
#endif

TEST_CASE("pytorch_129399: a plan says what it takes, and a binding that takes more is not planned") {
  session::Context context;
  const session::Program program = program_of(kTunedPad);
  session::TuneOptions options;
  options.memory_bytes = 8 * kMiB;
  options.sizes.opt = sizes(2000, 2000);
  const auto plan = context.plan_tuning(program, options);
  REQUIRE(plan);
  CHECK(plan->memory_bytes == 8 * kMiB);
  REQUIRE(plan->regions.size() == 1);
  const session::RegionPlan& region = plan->regions.front();
  CHECK(region.scratch_bytes <= 8 * kMiB);
  CHECK(region.scratch_bytes > 7 * kMiB);
  CHECK(region.planned.notes.front().find(" bytes of scratch memory and 8388608 are allowed") != std::string::npos);
  const auto binding = tuner::bind_sizes(program.ir(), region.planned.sizes);
  const std::int64_t a = region.planned.sizes.at("A"), b = region.planned.sizes.at("B");
  CHECK(region.scratch_bytes == 3 * 4 * (a * b + (a + 4) * (b + 3)) + 2 * runtime::ScratchBuffer::footprint(0));
  CHECK(region.scratch_bytes == tuner::scratch_bytes(*binding));
}

TEST_CASE("pytorch_145410: what a config's own set-up costs is not part of its time") {
  const session::FakeGpu fake;
  TryRequest request = quick_request(kTunedPad, sizes(37, 53), "cuda:0");
  tuner::faults::set_fault(Fault::none, request.symbols);
  tuner::Trials trials({}, tuner::faults::make_faulty_compiler);
  // The fake's clock moves with launches alone: by a quarter of a millisecond.
  for (const char* config : {"map=vector_grid,items=1", "map=vector_grid,items=2",
                             "threads=512"}) {  // the first makes buffers and reference
    request.config = config;
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
    CHECK(result.samples_ps.size() >= 3);
    for (const std::int64_t sample : result.samples_ps) CHECK(sample == 250'000'000);
  }
}

TEST_CASE("helion_1252: where memory ends nothing is chosen, and the default config runs") {
  const Folder folder;
  const Environment fault(tuner::faults::kFaultVariable, "no_scratch_memory");
  const Environment all(tuner::faults::kFaultyConfigsVariable, "");
  const session::Program program = program_of(kTunedPad);
  session::Context context({.threads = 0, .parallel_for = {}, .worker = PADLOCK_FAULTY_WORKER});
  use(context, folder / "t.db", tuner::Mode::read_write);
  const tuner::Sizes at = sizes(4, 5);
  const session::TuneReport report = tuned(context, program, small_tuning(at));
  REQUIRE(report.regions.size() == 1);
  CHECK_FALSE(report.regions.front().outcome.config);
  const tuner::SearchOutcome& outcome = report.regions.front().outcome;
  CHECK(outcome.reason.starts_with(fmt::format("no config survived: {} of ", outcome.measurements.size())));
  for (const tuner::Measurement& m : report.regions.front().outcome.measurements)
    CHECK(name_of(m.verdict) == name_of(Verdict::out_of_memory));
  const session::BoundProgram standard = bound(context, program, at);
  CHECK(standard.compiled().config() == *context.choose_config({}));
  check_results(standard, at);
}

// ---- Data and verdicts -----------------------------------------------------------------------------------------

TEST_CASE("pytorch_194018: inputs come from a declared domain, and none of them is an address") {
  std::vector<float> full(4096), plain(4096);
  tuner::fill_data(std::as_writable_bytes(std::span(full)), ir::DType::f32, tuner::Domain::full, 1);
  tuner::fill_data(std::as_writable_bytes(std::span(plain)), ir::DType::f32, tuner::Domain::plain, 1);
  const auto some = [&full](auto&& is) { return std::ranges::any_of(full, is); };
  CHECK(some([](float v) { return std::isnan(v); }));
  CHECK(some([](float v) { return std::isinf(v) && v < 0; }));
  CHECK(some([](float v) { return v == 0 && std::signbit(v); }));
  CHECK(some([](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }));
  // What is timed is neither all alike nor of a kind that some machines are slow with.
  CHECK(std::set<float>(plain.begin(), plain.end()).size() > 10);
  CHECK(std::ranges::all_of(plain, [](float v) { return v == 0 || (std::isnormal(v) && std::abs(v) < 1e6F); }));
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    TryRequest request = quick_request(kTunedPad, sizes(11, 13));
    request.seed = seed;
    request.policy.budget_ms = 0;
    CHECK(tuner::try_config(request).verdict == Verdict::ok);
  }
  // The language has no amounts that are data.
  for (const char* parameters : {"x: f32[A], k: i64", "x: f32[A], k: i64[]"}) {
    const auto refused = session::Program::from_text(std::string("program p(") + parameters +
                                                     ") { y = pad(x, low = [k], high = [0]) return y }");
    REQUIRE_FALSE(refused);
    CHECK_MESSAGE(refused.error().message.find("'k'") != std::string::npos, refused.error().message);
  }
}

TEST_CASE("helion_1334: no config is taken for wrong: bits are compared, and what is not a result is not") {
  const char* const text =
      "program p(x: f32[A, B] strides [2 * B, 1], v: f32) where A >= 1, B >= 1 {"
      "  y = pad(x, low = [1, 2], high = [0, 3], value = v) r = relu(y) m = minimum(r, y) return m }";
  const session::Program program = program_of(text);
  auto compiler = compiler::TargetCompiler::create("host");
  REQUIRE(compiler);
  const auto space = (*compiler)->search_space(program.ir(), {});
  REQUIRE(space);
  CHECK(space->points.size() >= 32);
  tuner::Trials trials;
  TryRequest request = quick_request(text, sizes(9, 70));
  request.policy.budget_ms = 0;
  for (const compiler::SearchPoint& point : space->points) {
    request.config = compiler::to_string(point.config);
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(result.verdict == Verdict::ok, request.config, ": ", result.message);
  }
}

// ---- Sizes -----------------------------------------------------------------------------------------------------

TEST_CASE("pytorch_185773: what was chosen for some sizes is used for these alone") {
  const Folder folder;
  const session::Program program = program_of(kTunedPad);
  session::Context context;
  const auto plan = context.plan_tuning(program, {});
  REQUIRE(plan);
  REQUIRE(plan->regions.size() >= 2);
  const auto key = context.cache_key(program);
  REQUIRE(key);
  // As if a first, small shape were all that was ever tuned.
  learn(folder / "t.db", *key, plan->regions.front().planned.region, kSlow);
  use(context, folder / "t.db", tuner::Mode::read);
  const std::string standard = *context.choose_config({});
  const std::string chosen = *context.choose_config({.config = kSlow});
  REQUIRE(standard != chosen);
  const auto compiled = context.compile(program);
  REQUIRE(compiled);
  for (std::size_t i = 0; i < plan->regions.size(); ++i) {
    const auto made = compiled->bind({.tensors = {std::nullopt}, .symbols = plan->regions[i].planned.sizes});
    REQUIRE(made);
    CAPTURE(made->reason());
    CHECK(made->compiled().config() == (i == 0 ? chosen : standard));
    CHECK(made->reason().ends_with(i == 0 ? "tuned for " + plan->regions[0].planned.region + " (warm)"
                                          : "no tuned region holds these sizes: the default config"));
  }
}

}  // namespace padlock::regressions
