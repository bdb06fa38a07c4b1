#include "tuner/trial/try_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "support/stopwatch.h"
#include "tuner/trial/device_reference.h"
#include "tuner/trial/failure.h"
#include "tuner/trial/loaded_configs.h"
#include "tuner/trial/measure.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/problem_scratch.h"
#include "tuner/trial/reference.h"
#include "tuner/trial/verification.h"

namespace padlock::tuner {
namespace {

constexpr std::size_t kMostVerified = 256;  // verified configs to remember per problem
constexpr std::size_t kMostProblems = 256;  // problems to keep at once

/// Returns the key of a program's code within this process.
auto code_key_of(const TryRequest& request) {
  return std::tuple(request.program, request.device, request.target, request.threads);
}

/// Returns the key of a problem within its program.
auto problem_key_of(const TryRequest& request) {
  return std::tuple(request.symbols, request.seed, request.memory_bytes, request.policy.rotation_bytes);
}

/// Computes on the host with the default config, testing each access.
Computation host_computation(compiler::TargetCompiler& compiler, TrialDevice& host) {
  return [&compiler, &host](const Problem& problem) -> Result<std::vector<std::vector<std::byte>>> {
    PADLOCK_TRY(auto loaded, host.load(compiler, {.config = {}, .bounds_check = true}, problem.program()));
    PADLOCK_TRY(const auto code, host.bind(std::move(loaded), problem.binding()));
    PADLOCK_TRY(ScratchSet set, ScratchSet::allocate(host.space(), problem.binding()));
    PADLOCK_CHECK(set.arm(runtime::Placement::red_zones, std::byte{0}, 0));
    PADLOCK_CHECK(set.write_inputs(problem.inputs()));
    PADLOCK_CHECK(code->run(set, problem.scalars()));
    return read_outputs(set);
  };
}

/// Adds the result of a further point; if that point failed, its verdict becomes the whole's.
void add(TryResult& result, TryResult next) {
  result.compile_ms += next.compile_ms;
  result.verify_ms += next.verify_ms;
  result.worker_ends = result.worker_ends || next.worker_ends;
  if (!is_wrong(next.verdict)) return;
  result.verdict = next.verdict;
  result.message = std::move(next.message);
  result.samples_ps.clear();
  result.median_ps = result.noise_ps = 0;
}

}  // namespace

/// One problem, shared by its configs.
struct Trials::Shared {
  decltype(problem_key_of(TryRequest())) key;
  // Each member borrows from the ones before it.
  Problem problem;
  std::optional<Reference> reference;
  ProblemScratch scratch;
  std::optional<DeviceReference> on_device;                    // if the device compares and memory suffices
  std::string compared_on_host;                                // why the host compares though the device should
  std::map<std::string, std::shared_ptr<TrialCode>> verified;  // by config; shared with a running race

  Shared(decltype(key) known_by, TrialDevice& device, Problem made)
      : key(std::move(known_by)), problem(std::move(made)), scratch(device, problem) {}
};

/// One program on one device, and its problems.
struct Trials::Programs {
  decltype(code_key_of(TryRequest())) key;
  TrialDevice* device = nullptr;  // borrowed (outlives this)
  std::unique_ptr<ir::Program> program;
  std::optional<LoadedConfigs> loaded;
  std::list<Shared> problems;  // most recently used first
};

/// One config on its way to a verdict.
class Trials::Attempt {
 public:
  Attempt(Trials& trials, const TryRequest& request, TryResult& result)
      : trials_(trials), request_(request), result_(result) {}

  /// Returns whether the config's code has run.
  [[nodiscard]] bool has_run() const { return step_ >= Step::run; }

  Judged<void> run() {
    enter(Step::prepare);
    PADLOCK_CHECK(share_program());
    PADLOCK_CHECK(share_problem());
    std::vector<std::shared_ptr<TrialCode>> codes;
    for (const std::string& config : configs()) {
      auto code = verified(config);
      if (!code && request_.rivals.empty()) return std::unexpected(std::move(code).error());
      if (!code) return std::unexpected(about(config, std::move(code).error()));
      codes.push_back(*std::move(code));
    }
    if (!device().space().is_isolated())
      result_.notes.emplace_back("loads outside of buffers are not found: this driver reserves no addresses");
    if (!shared().reference->note().empty()) result_.notes.push_back(shared().reference->note());
    if (!shared().compared_on_host.empty())
      result_.notes.push_back("results are compared on the host: " + shared().compared_on_host);
    if (request_.policy.budget_ms == 0) return {};
    return time(codes);
  }

 private:
  [[nodiscard]] std::vector<std::string> configs() const {
    std::vector<std::string> list = {request_.config};
    list.insert(list.end(), request_.rivals.begin(), request_.rivals.end());
    return list;
  }

  static Failure about(const std::string& config, Failure failure) {
    failure.message = fmt::format("{}: {}", config, failure.message);
    return failure;
  }

  [[nodiscard]] TrialDevice& device() const { return *trials_.programs_->device; }
  [[nodiscard]] Shared& shared() const { return trials_.programs_->problems.front(); }

  /// Returns the config's code after it was found right. A race uses code verified earlier.
  Judged<std::shared_ptr<TrialCode>> verified(const std::string& config) {
    Shared& shared = this->shared();
    if (!request_.rivals.empty())
      if (const auto known = shared.verified.find(config); known != shared.verified.end()) return known->second;
    enter(Step::compile);
    const Stopwatch compiling;
    PADLOCK_TRY(const LoadedConfig loaded, load(config));
    PADLOCK_TRY(std::shared_ptr<TrialCode> code,
                judged(device().bind(loaded, shared.problem.binding()), Verdict::compile));
    result_.compile_ms += compiling.milliseconds();
    PADLOCK_CHECK(prepare());
    const Stopwatch verifying;
    Verification verification(*code, shared.problem, *shared.reference, shared.on_device ? &*shared.on_device : nullptr,
                              shared.scratch.first(), request_.skew);
    PADLOCK_CHECK(verification.run([this](Step step) { enter(step); }, device().space().is_isolated()));
    if (verification.was_misled()) distrust("the kernel that compares memory on the device found what is not there");
    result_.verify_ms += verifying.milliseconds() - verification.running_ms();
    if (shared.verified.size() >= kMostVerified) shared.verified.clear();
    return shared.verified[config] = std::move(code);
  }

  void enter(Step step) {
    step_ = step;
    if (trials_.on_step_) trials_.on_step_(step);
  }

  Judged<compiler::TargetCompiler*> compiler_for(const std::string& target) {
    auto& slot = trials_.by_target_[target];
    if (!slot) {
      PADLOCK_TRY(slot, judged(trials_.compilers_(target), Verdict::compile));
    }
    return slot.get();
  }

  Judged<TrialDevice*> device_for(const std::string& device, const std::string& target) {
    auto& slot = trials_.devices_[{device, target, request_.threads}];
    if (!slot) {
      PADLOCK_TRY(slot, judged_making(TrialDevice::open(device, target, request_.threads), Verdict::run));
    }
    return slot.get();
  }

  /// Reuses the last request's program and the code of its configs, if program and device are the same.
  Judged<void> share_program() {
    auto key = code_key_of(request_);
    if (trials_.programs_ && trials_.programs_->key == key) return {};
    trials_.programs_.reset();
    auto programs = std::make_unique<Programs>();
    programs->key = std::move(key);
    PADLOCK_TRY(programs->device, device_for(request_.device, request_.target));
    PADLOCK_TRY(ir::Program program, judged(ir::parse_program(request_.program), Verdict::compile));
    programs->program = std::make_unique<ir::Program>(std::move(program));
    programs->loaded.emplace(*programs->device, *programs->program);
    trials_.programs_ = std::move(programs);
    return {};
  }

  /// Reuses the state of an earlier request with the same problem, and moves it to the front.
  Judged<void> share_problem() {
    Programs& programs = *trials_.programs_;
    auto key = problem_key_of(request_);
    const auto known = std::ranges::find(programs.problems, key, &Shared::key);
    if (known != programs.problems.end()) {
      programs.problems.splice(programs.problems.begin(), programs.problems, known);
      return {};
    }
    PADLOCK_TRY(Problem problem,
                judged(Problem::create(*programs.program, request_.symbols, request_.seed), Verdict::compile));
    if (programs.problems.size() >= kMostProblems) programs.problems.pop_back();
    programs.problems.emplace_front(std::move(key), *programs.device, std::move(problem));
    return {};
  }

  Judged<LoadedConfig> load(const std::string& text) {
    PADLOCK_TRY(compiler::TargetCompiler* const compiler, compiler_for(device().target()));
    std::vector<std::string> next = request_.rivals;
    next.insert(next.end(), request_.next.begin(), request_.next.end());
    return trials_.programs_->loaded->load(*compiler, text, next, shared().problem.binding());
  }

  /// Makes reference and scratch memory unless an earlier request left them. The reference comes first, since computing
  /// it takes a temporary set of buffers.
  Judged<void> prepare() {
    PADLOCK_TRY(const std::int64_t most, allowed_bytes());
    const std::int64_t needed = scratch_bytes(shared().problem.binding());
    if (needed > most)
      return failed(Verdict::out_of_memory,
                    fmt::format("scratch memory of {} bytes is needed, {} are allowed", needed, most));
    give_back_others(most - std::max(needed, held_by(shared())));
    if (!shared().reference) PADLOCK_CHECK(compute_reference());
    PADLOCK_CHECK(shared().scratch.provide(request_, most - (held() - held_by(shared()))));
    PADLOCK_CHECK(compare_on_device(most));
    give_back_others(most - held_by(shared()));  // mapping pages of some MiB may have taken more than needed
    return {};
  }

  /// Puts the reference on a device that compares, if memory suffices. On any failure except a lost device, the host
  /// compares.
  Judged<void> compare_on_device(std::int64_t most) {
    Shared& shared = this->shared();
    if (!device().compares() || shared.on_device || !shared.compared_on_host.empty()) return {};
    if (held_by(shared) + shared.scratch.first().mapped_bytes() > most) return {};
    PADLOCK_TRY(compiler::TargetCompiler* const compiler, compiler_for(device().target()));
    auto made = make_device_reference(*compiler);
    if (made) {
      shared.on_device.emplace(*std::move(made));
      return {};
    }
    if (is_device_lost(made.error())) return judged(Status(std::unexpected(std::move(made).error())), Verdict::run);
    distrust(made.error().message);
    return {};
  }

  Result<DeviceReference> make_device_reference(compiler::TargetCompiler& compiler) {
    Shared& shared = this->shared();
    PADLOCK_TRY(runtime::Comparison* const comparison, device().comparison(compiler));
    return DeviceReference::create(device().space(), *comparison, shared.problem, *shared.reference,
                                   shared.scratch.first());
  }

  void distrust(const std::string& why) {
    shared().on_device.reset();
    shared().compared_on_host = why;
  }

  Judged<void> compute_reference() {
    PADLOCK_TRY(compiler::TargetCompiler* const compiler, compiler_for("host"));
    PADLOCK_TRY(TrialDevice* const host, device_for("host", ""));
    PADLOCK_TRY(shared().reference,
                judged_making(Reference::compute(shared().problem, host_computation(*compiler, *host),
                                                 {.most_ms = request_.reference_ms}),
                              Verdict::run));
    return {};
  }

  /// Returns the limit for the scratch memory of all problems together.
  Judged<std::int64_t> allowed_bytes() {
    if (request_.memory_bytes > 0) return request_.memory_bytes;
    PADLOCK_TRY(const std::int64_t available, judged(device().space().free_bytes(), Verdict::run));
    return (available + held()) / 2;
  }

  /// Drops problems except this one, least recently used first, until the others have at most `most` bytes.
  void give_back_others(std::int64_t most) {
    auto& problems = trials_.programs_->problems;
    const std::int64_t own = held_by(shared());
    while (problems.size() > 1 && held() - own > most) problems.pop_back();
  }

  /// Returns the bytes of all problems.
  [[nodiscard]] std::int64_t held() const {
    std::int64_t sum = 0;
    for (const Shared& problem : trials_.programs_->problems) sum += held_by(problem);
    return sum;
  }

  /// Returns the bytes of a problem: its buffers, and the data beside them.
  static std::int64_t held_by(const Shared& problem) {
    const std::int64_t mapped = problem.scratch.mapped_bytes();
    const std::int64_t golden = problem.on_device ? problem.on_device->mapped_bytes() : 0;
    return mapped == 0 ? 0 : mapped + golden + problem.problem.input_bytes() + problem.problem.result_bytes();
  }

  /// Times the request's config, or it and its rivals in turn.
  Judged<void> time(const std::vector<std::shared_ptr<TrialCode>>& codes) {
    enter(Step::time);
    PADLOCK_CHECK(prepare());
    const Stopwatch timing;
    Shared& shared = this->shared();
    PADLOCK_CHECK(shared.scratch.restore_first());
    const Setting setting = request_.policy.setting;
    runtime::ScratchMemory* sink = nullptr;
    if (is_read(setting)) {
      PADLOCK_TRY(sink, judged_making(device().sink(), Verdict::run));
    }
    std::int64_t launches = 0;
    std::vector<TimedRuns> runs;
    for (const auto& code : codes)
      runs.emplace_back([&, code = code.get()](std::int64_t count) -> Result<std::int64_t> {
        const std::span<const ScratchSet> sets = shared.scratch.sets(setting);
        // What ran before may have displaced the tensors from the cache.
        if (is_warm(setting)) PADLOCK_CHECK(code->time(sets, shared.problem.scalars(), 0, 1, sink));
        return code->time(sets, shared.problem.scalars(), std::exchange(launches, launches + count), count, sink);
      });
    PADLOCK_CHECK(judged(take_samples(runs), Verdict::run));
    PADLOCK_CHECK(shared.scratch.check(shared.on_device ? &shared.on_device->comparison() : nullptr));
    result_.timing_ms = timing.milliseconds();
    return {};
  }

  Status take_samples(const std::vector<TimedRuns>& runs) {
    ClockWatch& clock = trials_.clocks_[request_.device];
    const auto throttled = [&] { return clock.is_throttled(device().clock()); };
    MeasuringPolicy policy = request_.policy;
    if (policy.sample_us == 0) policy.sample_us = device().sample_us(runs.size() > 1);
    if (runs.size() == 1) {
      PADLOCK_TRY(Timing timing, measure(policy, runs.front(), throttled));
      result_.samples_ps = std::move(timing.samples_ps);
      result_.throttled = timing.throttled;
    } else {
      PADLOCK_TRY(RaceTiming race, measure_in_turn(policy, runs, throttled));
      result_.samples_ps = std::move(race.samples_ps.front());
      result_.rivals_ps.assign(std::make_move_iterator(race.samples_ps.begin() + 1),
                               std::make_move_iterator(race.samples_ps.end()));
      result_.throttled = race.throttled;
    }
    const MedianEstimate estimate = estimate_median(result_.samples_ps);
    result_.median_ps = estimate.median;
    result_.noise_ps = estimate.half_width;
    return {};
  }

  Trials& trials_;
  const TryRequest& request_;
  TryResult& result_;
  Step step_ = Step::none;
};

Trials::Trials(OnStep on_step, CompilerFactory compilers)
    : on_step_(std::move(on_step)), compilers_(std::move(compilers)) {}
Trials::~Trials() = default;

TryResult Trials::try_config(const TryRequest& request) {
  TryResult result = try_here(request);
  TryRequest there = request;
  there.rivals.clear();
  there.policy.budget_ms = 0;
  for (const TryPoint& place : request.further) {
    if (is_wrong(result.verdict) || result.worker_ends) break;
    ++result.passed;
    there.symbols = place.symbols;
    there.skew = place.skew;
    add(result, try_here(there));
  }
  if (!is_wrong(result.verdict)) ++result.passed;
  return result;
}

TryResult Trials::try_here(const TryRequest& request) {
  TryResult result;
  Attempt attempt(*this, request, result);
  if (auto judged = attempt.run(); !judged) {
    result.verdict = judged.error().verdict;
    result.message = std::move(judged.error().message);
    result.worker_ends = attempt.has_run() || judged.error().device_lost;
    // Drop what a wrong config left: no other config may use it.
    if (result.worker_ends) {
      programs_.reset();
      devices_.clear();
    }
  }
  return result;
}

TryResult try_config(const TryRequest& request) { return Trials().try_config(request); }

}  // namespace padlock::tuner
