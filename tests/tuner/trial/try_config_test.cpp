// Correct configs, and wrong requests, in this process.

#include "tuner/trial/try_config.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "ir/reference/interpreter.h"
#include "runtime/arguments.h"
#include "runtime/host/host_scratch.h"
#include "tests/common/try_request.h"
#include "tests/runtime/cuda/fake_driver.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/trial/edge_elements.h"
#include "tuner/trial/reference.h"
#include "tuner/trial/verification.h"

namespace padlock::tuner {
namespace {

// Rows of several segments, an input with strides, a scalar, two results of different extents and a NaN that is open.
constexpr const char* kProgram = R"(program p(x: f32[A, B] strides [S, 1], lo: dim, v: f32)
where 1 <= A <= 4096, 1 <= B <= 4096, S >= B, 0 <= lo <= 64
{ y = pad(x, low = [0, lo], high = [1, 3], value = v) z = mul(y, y) t = transpose(x, perm = [1, 0]) return z, t })";

TryRequest request_for(const std::string& device = "host") {
  TryRequest request = padlock::testing::quick_request(kProgram, {{"A", 19}, {"B", 61}, {"S", 64}, {"lo", 5}}, device);
  request.threads = 2;
  return request;
}

TEST_CASE("configs that are right are ok on every device, and have samples") {
  std::vector<Step> steps;
  Trials trials([&](Step step) { steps.push_back(step); });
  for (const char* device : {"host", "simt"}) {
    for (const char* config : {"", "split=0"}) {
      CAPTURE(device);
      CAPTURE(config);
      TryRequest request = request_for(device);
      request.config = config;
      for (const std::int64_t skew : {0, 1, 7}) {
        request.skew = skew;
        steps.clear();
        const TryResult result = trials.try_config(request);
        CHECK_MESSAGE(name_of(result.verdict) == "ok", result.message);
        CHECK(result.samples_ps.size() >= 3);
        CHECK(std::ranges::count(result.samples_ps, result.median_ps) + result.noise_ps >= 0);
        CHECK(result.compile_ms > 0);
        CHECK(result.verify_ms > 0);
        CHECK_FALSE(result.worker_ends);
        CHECK(steps ==
              std::vector{Step::prepare, Step::compile, Step::run, Step::run_again, Step::run_flush, Step::time});
      }
    }
  }
}

TEST_CASE("a race times configs in turn, each verified before, and says which of them is wrong") {
  std::vector<Step> steps;
  Trials trials([&](Step step) { steps.push_back(step); });
  for (const char* device : {"host", "simt"}) {
    CAPTURE(device);
    TryRequest request = request_for(device);
    request.config = "split=0";
    CHECK(trials.try_config(request).verdict == Verdict::ok);
    // What was verified alone is not verified again, the other is.
    request.rivals = {"split=1"};
    steps.clear();
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
    CHECK(result.samples_ps.size() >= 3);
    REQUIRE(result.rivals_ps.size() == 1);
    CHECK(result.rivals_ps[0].size() == result.samples_ps.size());
    CHECK(steps == std::vector{Step::prepare, Step::compile, Step::run, Step::run_again, Step::run_flush, Step::time});
    steps.clear();
    CHECK(trials.try_config(request).verdict == Verdict::ok);
    CHECK(steps == std::vector{Step::prepare, Step::time});
    request.rivals = {"split=1", "split=7"};
    const TryResult wrong = trials.try_config(request);
    CHECK(wrong.verdict == Verdict::compile);
    CHECK_MESSAGE(wrong.message.starts_with("split=7: "), wrong.message);
    CHECK(wrong.samples_ps.empty());
  }
}

/// A target's compiler that counts its compiles, without the reference's.
class CountingCompiler final : public compiler::TargetCompiler {
 public:
  CountingCompiler(std::unique_ptr<compiler::TargetCompiler> real, std::atomic<int>& compiled)
      : real_(std::move(real)), compiled_(compiled) {}
  compiler::Config default_config() const override { return real_->default_config(); }
  Result<compiler::Config> parse_config(std::string_view text) const override { return real_->parse_config(text); }
  std::vector<compiler::Config> all_configs() const override { return real_->all_configs(); }
  Result<compiler::SearchSpace> search_space(const ir::Program& program, std::span<const ir::Binding> at) override {
    return real_->search_space(program, at);
  }
  std::string description() const override { return real_->description(); }
  Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) override {
    compiled_ += options.bounds_check ? 0 : 1;
    return real_->compile(program, options);
  }
  Result<abi::CompiledCode> compile_comparison(bool for_simt) override { return real_->compile_comparison(for_simt); }
  std::optional<Architecture> architecture() const override { return real_->architecture(); }
  std::vector<std::string> required_features() const override { return real_->required_features(); }
  Status check_runs_here() const override { return real_->check_runs_here(); }
  Result<std::vector<compiler::Proof>> prove(const ir::Program& program, const Options& options) override {
    return real_->prove(program, options);
  }
  Result<std::string> emit(const ir::Program& program, compiler::Stage stage, const Options& options) override {
    return real_->emit(program, stage, options);
  }

 private:
  std::unique_ptr<compiler::TargetCompiler> real_;
  std::atomic<int>& compiled_;
};

/// Two configs at five sizes, there and back: twenty trials.
void try_at_many_sizes(Trials& trials, const std::string& device) {
  for (const bool back : {false, true}) {
    for (const char* config : {"split=0", "split=1"}) {
      for (const std::int64_t a : {1, 2, 7, 16, 33}) {
        TryRequest request = request_for(device);
        if (device == "cuda:0")
          request.program = "program p(x: f32[A, B]) { z = pad(x, low = [1, 2], high = [0, 1]) return z }";
        request.config = device == "host" ? (config == std::string("split=0") ? "unroll=1" : "unroll=2") : config;
        request.symbols["A"] = back ? 34 - a : a;
        if (device == "cuda:0") request.symbols = {{"A", request.symbols["A"]}, {"B", 61}};
        request.skew = a % 2;
        request.policy.budget_ms = 0;
        faults::set_fault(faults::Fault::none, request.symbols);
        const TryResult result = trials.try_config(request);
        CHECK_MESSAGE(name_of(result.verdict) == "ok", result.message);
      }
    }
  }
}

TEST_CASE("trials at all sizes share the code of a config") {
  for (const char* device : {"host", "simt"}) {
    CAPTURE(device);
    std::atomic<int> compiled = 0;
    Trials trials({}, [&](const std::string& target) -> Result<std::unique_ptr<compiler::TargetCompiler>> {
      PADLOCK_TRY(auto real, compiler::TargetCompiler::create(target));
      return std::make_unique<CountingCompiler>(std::move(real), compiled);
    });
    try_at_many_sizes(trials, device);
    CHECK(compiled == 2);
  }
}

TEST_CASE("what comes next is compiled along with a config, once, and what is wrong with it is its own fault") {
  std::atomic<int> compiled = 0;
  Trials trials({}, [&](const std::string& target) -> Result<std::unique_ptr<compiler::TargetCompiler>> {
    PADLOCK_TRY(auto real, compiler::TargetCompiler::create(target));
    return std::make_unique<CountingCompiler>(std::move(real), compiled);
  });
  TryRequest request = request_for();
  request.policy.budget_ms = 0;
  const std::vector<std::string> configs = {"unroll=1", "unroll=7", "unroll=2", "unroll=4"};
  request.next = {"unroll=7", "unroll=2", "unroll=2", "unroll=1"};
  for (const std::string& config : configs) {
    request.config = config;
    const TryResult result = trials.try_config(request);
    CHECK(name_of(result.verdict) == (config == "unroll=7" ? "compile" : "ok"));
    CHECK_FALSE(result.worker_ends);
  }
  CHECK(compiled == 3);
  request.config = "unroll=2";
  CHECK(trials.try_config(request).verdict == Verdict::ok);
  CHECK(compiled == 3);
}

TEST_CASE("trials at all sizes share a GPU's context, modules and streams") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  auto* const fake = runtime::cuda::FakeDriver::of(PADLOCK_FAKE_CUDA);
  REQUIRE(fake != nullptr);
  fake->reset();
  {
    Trials trials({}, faults::make_faulty_compiler);
    try_at_many_sizes(trials, "cuda:0");
    CHECK(fake->made().contexts == 1);
    CHECK(fake->made().modules == 2 + 1);  // the configs' and the comparison's
    CHECK(fake->made().links == 2);        // the configs' are compiled beside each other
    const int streams = fake->made().streams;
    try_at_many_sizes(trials, "cuda:0");
    CHECK(fake->made().modules == 2 + 1);
    CHECK(fake->made().streams == streams);
    // What eight problems have keeps being theirs: nothing was mapped for the second round.
    const int allocations = fake->made().allocations;
    try_at_many_sizes(trials, "cuda:0");
    CHECK(fake->made().allocations == allocations);
  }
  CHECK(fake->live() == runtime::cuda::FakeCounts{});
  CHECK(fake->take_misuses().empty());
}

TEST_CASE("problems that are kept give way to one that needs their memory") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  auto* const fake = runtime::cuda::FakeDriver::of(PADLOCK_FAKE_CUDA);
  REQUIRE(fake != nullptr);
  fake->reset();
  Trials trials({}, faults::make_faulty_compiler);
  for (const std::int64_t a : {19, 20, 21, 22, 23, 24, 19}) {
    TryRequest request = request_for("cuda:0");
    request.program = "program p(x: f32[A, B]) { z = pad(x, low = [1, 2], high = [0, 1]) return z }";
    request.symbols = {{"A", a}, {"B", 61}};
    request.memory_bytes = std::int64_t{10} << 20;  // two pages of two buffers each, and not three
    request.policy.budget_ms = 0;
    faults::set_fault(faults::Fault::none, request.symbols);
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(name_of(result.verdict) == "ok", result.message);
    CHECK(fake->live().allocations <= 2 * 2 * 3 + 2);  // of a buffer: addresses, memory, mapping; error words
  }
}

TEST_CASE("other placements are timed on other memory") {
  Trials trials;
  for (const char* device : {"host", "simt"}) {
    CAPTURE(device);
    TryRequest request = request_for(device);
    request.config = "split=0";
    request.rivals = {"split=1"};
    for (const std::int64_t placement : {0, 1, 1, 7}) {
      request.placement = placement;
      const TryResult result = trials.try_config(request);
      CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
      CHECK(result.samples_ps.size() >= 3);
    }
    request.memory_bytes = 1;
    request.placement = 8;
    CHECK(trials.try_config(request).verdict == Verdict::out_of_memory);
  }
}

struct Sample {
  ir::Program program = *ir::parse_program(kProgram);
  Problem problem = *Problem::create(program, request_for().symbols, 3);
};

/// Keeps its mappings, and the offset of the first byte that is not red in each.
class Remembering final : public runtime::ScratchSpace {
 public:
  Result<std::unique_ptr<runtime::ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                      const std::string& what) override {
    auto memory = space_.map(bytes, aligned, what);
    if (memory) maps_.push_back(memory->get());
    return memory;
  }
  bool is_isolated() const override { return space_.is_isolated(); }
  Result<std::int64_t> free_bytes() const override { return space_.free_bytes(); }

  /// Addresses of the first byte that is not red in each.
  [[nodiscard]] std::vector<std::uintptr_t> beginnings() const {
    std::vector<std::uintptr_t> list;
    for (const runtime::ScratchMemory* memory : maps_) {
      std::vector<std::byte> all(static_cast<std::size_t>(memory->bytes()));
      REQUIRE(memory->read(0, all));
      const auto red = std::ranges::find_if(all, [](std::byte b) { return b != kFirstRed; });
      list.push_back(memory->address() + static_cast<std::uintptr_t>(red - all.begin()));
    }
    return list;
  }

 private:
  runtime::HostScratchSpace space_;
  std::vector<const runtime::ScratchMemory*> maps_;
};

TEST_CASE("scattered buffers begin elsewhere in their pages, aligned, between whole red zones") {
  const Sample sample;
  Remembering space;
  auto set = ScratchSet::allocate(space, sample.problem.binding());
  REQUIRE(set);
  std::set<std::vector<std::uintptr_t>> found;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    for (const std::int64_t skew : {0, 1}) {
      REQUIRE(set->scatter(kFirstRed, skew, draw));
      for (auto* const list : {&set->inputs, &set->outputs})
        for (runtime::ScratchBuffer& buffer : *list) REQUIRE(buffer.fill(kFirstPoison));
      std::vector<std::uintptr_t> places = space.beginnings();
      for (std::uintptr_t& place : places) place %= 4096;
      for (const std::uintptr_t place : places) CHECK((place % 64 == 0) == (skew == 0));
      found.insert(places);
      CHECK(*set->damage() == "");
    }
  }
  CHECK(found.size() >= 30);
}

TEST_CASE("sizes 0 and 1 are tried as any others") {
  const std::string program =
      "program p(x: f32[A, B], k: dim) where 0 <= k <= 4 { y = pad(x, low = [k, 0], high = [0, k]) return y }";
  Trials trials;
  for (const char* device : {"host", "simt"}) {
    for (const auto& symbols : {Symbols{{"A", 0}, {"B", 0}, {"k", 0}}, Symbols{{"A", 0}, {"B", 3}, {"k", 4}},
                                Symbols{{"A", 1}, {"B", 1}, {"k", 0}}, Symbols{{"A", 1}, {"B", 0}, {"k", 1}}}) {
      TryRequest request = request_for(device);
      request.program = program;
      request.symbols = symbols;
      const TryResult result = trials.try_config(request);
      CHECK_MESSAGE(name_of(result.verdict) == "ok", result.message);
    }
  }
}

TEST_CASE("without a budget a config is verified and not timed") {
  TryRequest request = request_for();
  request.policy.budget_ms = 0;
  const TryResult result = try_config(request);
  CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
  CHECK(result.samples_ps.empty());
  CHECK(result.verify_ms > 0);
}

TEST_CASE("requests that are wrong are verdicts with a message, and the next is tried") {
  Trials trials;
  const auto check = [&](const TryRequest& request, Verdict verdict, const std::string& message) {
    const TryResult result = trials.try_config(request);
    CHECK(name_of(result.verdict) == name_of(verdict));
    CHECK_MESSAGE(result.message.find(message) != std::string::npos, result.message);
    CHECK_FALSE(result.worker_ends);
  };
  TryRequest request = request_for();
  request.program = "program p(";
  check(request, Verdict::compile, "expected");
  request = request_for();
  request.config = "unroll=3";
  check(request, Verdict::compile, "unroll");
  request = request_for();
  request.symbols.erase("lo");
  check(request, Verdict::compile, "lo");
  request = request_for();
  request.symbols["S"] = 3;
  check(request, Verdict::compile, "S >= B");
  request = request_for("reference");
  check(request, Verdict::run, "expected a device to tune for (host, simt with or without a target, cuda:0, ...)");
  request = request_for("cuda:99999999999999999999");
  check(request, Verdict::run, "expected a device to tune for");
  request = request_for();
  request.memory_bytes = 1000;
  check(request, Verdict::out_of_memory, "bytes is needed, 1000 are allowed");
  check(request_for(), Verdict::ok, "");
}

TEST_CASE("a driver without addresses to reserve is said, and loads outside are not looked for") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  auto* const fake = runtime::cuda::FakeDriver::of(PADLOCK_FAKE_CUDA);
  REQUIRE(fake != nullptr);
  fake->reset();
  TryRequest request = request_for("cuda:0");
  request.program = "program p(x: f32[A, B]) { z = pad(x, low = [1, 2], high = [0, 1], value = 2.5) return z }";
  request.symbols = {{"A", 19}, {"B", 61}};
  faults::set_fault(faults::Fault::none, request.symbols);
  {
    Trials trials({}, faults::make_faulty_compiler);
    CHECK(trials.try_config(request).notes.empty());
  }
  fake->reset();
  fake->settings.hidden_symbols = {"cuMemMap"};
  std::vector<Step> steps;
  Trials trials([&](Step step) { steps.push_back(step); }, faults::make_faulty_compiler);
  const TryResult result = trials.try_config(request);
  CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
  CHECK(result.notes ==
        std::vector<std::string>{"loads outside of buffers are not found: this driver reserves no addresses"});
  CHECK(std::ranges::count(steps, Step::run_flush) == 0);
}

TEST_CASE("above 2^22 elements the reference is the default config, and the result says so") {
  TryRequest request = request_for();
  request.program =
      "program p(x: i8[A, B]) where B mod 4 == 0 { y = pad(x, low = [3, 1], high = [0, 2], mode = wrap) return y }";
  request.symbols = {{"A", 2100}, {"B", 2100}};
  request.config = "unroll=1";
  const TryResult result = try_config(request);
  CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
  REQUIRE(result.notes.size() == 1);
  CHECK(
      result.notes[0].starts_with("the reference of 4422609 elements is the default config, compared with the "
                                  "interpreter at 65536 and at all "));
}

// ---- The reference ---------------------------------------------------------------------------------------------

/// By the interpreter, but for one element of the first result.
Computation computation(std::int64_t wrong_element, std::int64_t of_sizes_above = -1) {
  return [=](const Problem& problem) -> Result<std::vector<std::vector<std::byte>>> {
    std::vector<std::span<const std::byte>> inputs(problem.inputs().begin(), problem.inputs().end());
    ir::Interpreter interpreter(problem.binding(), inputs, problem.scalars());
    std::vector<std::vector<std::byte>> results;
    for (const ir::ValueId id : problem.program().results()) {
      auto& bytes = results.emplace_back(static_cast<std::size_t>(
          problem.binding()(runtime::result_layout(problem.program(), id).storage_extent()) * 4));
      PADLOCK_CHECK(interpreter.evaluate(id, bytes));
    }
    if (wrong_element >= 0 && problem.result_elements() > of_sizes_above)
      results[0].at(static_cast<std::size_t>(4 * wrong_element)) ^= std::byte{1};
    return results;
  };
}

TEST_CASE("a reference that was computed is compared with the interpreter, at edges and at smaller sizes") {
  const Sample sample;
  const Reference interpreted = *Reference::compute(sample.problem, computation(-1));
  CHECK(interpreted.note().empty());
  // The interpreter takes at most 500 of 2539 elements: the sizes are made smaller.
  const auto computed = Reference::compute(sample.problem, computation(-1), {.most_interpreted = 500});
  REQUIRE_MESSAGE(computed, (computed ? "" : computed.error().to_string()));
  CHECK(computed->note().find("the reference of 2539 elements is the default config") == 0);
  const auto results = *computation(-1)(sample.problem);
  CHECK(*computed->difference(0, results[0]) == "");
  CHECK(*computed->difference(1, results[1]) == "");
  // Each element counts: 2^16 samples of so few elements see all.
  const auto wrong = Reference::compute(sample.problem, computation(1234), {.most_interpreted = 500});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == Code::internal);
  CHECK(wrong.error().message.starts_with("the default config does not compute what the interpreter does: z: at ["));
}

TEST_CASE("a reference that has no time is computed, and compared at fewer elements; one that has is interpreted") {
  const Sample sample;
  const Reference hasty = *Reference::compute(sample.problem, computation(-1), {.most_ms = 1e-9});
  CHECK(
      hasty.note().starts_with("the reference of 2539 elements is the default config, compared with the interpreter "
                               "at 1024 and at all "));
  const auto results = *computation(-1)(sample.problem);
  CHECK(*hasty.difference(0, results[0]) == "");
  CHECK(Reference::compute(sample.problem, computation(-1), {.most_ms = 1e9})->note().empty());
  // Elements at edges are compared even if there is only one.
  CHECK_FALSE(Reference::compute(sample.problem, computation(0), {.most_ms = 1e-9}));
}

TEST_CASE("a difference is named by result, coordinate and bits; an open NaN is none") {
  const Sample sample;
  for (const std::int64_t most : {std::int64_t{1} << 22, std::int64_t{500}}) {
    const Reference reference = *Reference::compute(sample.problem, computation(-1), {.most_interpreted = most});
    auto results = *computation(-1)(sample.problem);
    results[1][4 * (61 * 2 + 7)] ^= std::byte{1};
    CHECK(reference.difference(1, results[1])->starts_with("t: at [6, 15] expected 0x"));
    // Every NaN of z = y * y with other bits, which the language leaves open; t moves its data, so there nothing is.
    auto& z = results[0];
    int changed = 0;
    for (std::size_t at = 0; at < z.size(); at += 4) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, z.data() + at, 4);
      if ((bits & 0x7fffffff) <= 0x7f800000) continue;
      bits ^= 0x80000001;
      std::memcpy(z.data() + at, &bits, 4);
      ++changed;
    }
    CHECK(changed > 10);
    CHECK(*reference.difference(0, z) == "");
  }
}

TEST_CASE("sampled elements have both sides of every cut") {
  const Sample sample;
  const auto elements = *edge_and_random_elements(sample.problem, 0, 2000);
  CHECK(elements.size() <= 2000);
  // z is 20 x 69, its data rows 0 to 18 and columns 5 to 65.
  for (const std::int64_t row : {0, 18, 19})
    for (const std::int64_t column : {0, 4, 5, 65, 66, 68}) CHECK(std::ranges::count(elements, row * 69 + column) > 0);
  for (const std::int64_t element : elements) {
    CHECK(element >= 0);
    CHECK(element < 20 * 69);
  }
}

TEST_CASE("smaller sizes are legal ones") {
  const Sample sample;
  const Symbols small = shrink(sample.program, {{"A", 4000}, {"B", 4000}, {"S", 4096}, {"lo", 64}}, 1000);
  const auto problem = Problem::create(sample.program, small, 1);
  REQUIRE(problem);
  CHECK(problem->result_elements() > 0);
  CHECK(problem->result_elements() <= 1000);
}

}  // namespace
}  // namespace padlock::tuner
