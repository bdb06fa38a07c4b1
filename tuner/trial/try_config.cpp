#include "tuner/trial/try_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "support/cpu_cache.h"
#include "support/stopwatch.h"
#include "tuner/trial/failure.h"
#include "tuner/trial/measure.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/reference.h"
#include "tuner/trial/verification.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kMostSets = 256;
constexpr std::size_t kMostVerified = 256;  // configs whose code is kept

/// Returns the key that a problem is known by, among those of one process.
auto key_of(const TryRequest& request) {
  return std::tuple(request.program, request.device, request.target, request.symbols, request.seed, request.skew,
                    request.threads, request.memory_bytes, request.policy.rotation_bytes);
}

/// Computes with the default config, each access tested, on the host.
Computation host_computation(compiler::TargetCompiler& compiler, TrialDevice& host) {
  return [&compiler, &host](const Problem& problem) -> Result<std::vector<std::vector<std::byte>>> {
    PADLOCK_TRY(const auto code, host.compile(compiler, {.config = {}, .bounds_check = true}, problem.binding()));
    PADLOCK_TRY(ScratchSet set, ScratchSet::allocate(host.space(), problem.binding()));
    PADLOCK_CHECK(set.arm(runtime::Placement::red_zones, std::byte{0}, 0));
    PADLOCK_CHECK(set.write_inputs(problem.inputs()));
    PADLOCK_CHECK(code->run(set, problem.scalars()));
    return read_outputs(set);
  };
}

}  // namespace

struct Trials::Shared {
  decltype(key_of(TryRequest())) key;
  // In this order, since each borrows from what stands before it.
  std::unique_ptr<TrialDevice> device;
  std::unique_ptr<ir::Program> program;
  std::unique_ptr<Problem> problem;
  std::optional<Reference> reference;
  std::vector<ScratchSet> sets;  // the first serves verification, too
  std::int64_t placement = 0;    // that these were made for
  std::vector<std::byte> staging;
  std::map<std::string, std::shared_ptr<TrialCode>> verified;  // by config; shared with a race that is on
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
    PADLOCK_CHECK(share());
    const Shared& shared = *trials_.shared_;
    std::vector<std::shared_ptr<TrialCode>> codes;
    for (const std::string& config : configs()) {
      auto code = verified(config);
      if (!code && request_.rivals.empty()) return std::unexpected(std::move(code).error());
      if (!code) return std::unexpected(about(config, std::move(code).error()));
      codes.push_back(*std::move(code));
    }
    if (!shared.device->space().is_isolated())
      result_.notes.emplace_back("loads outside of buffers are not found: this driver reserves no addresses");
    if (!shared.reference->note().empty()) result_.notes.push_back(shared.reference->note());
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

  /// The config's code, once it was found to be right. A race takes what was verified before it.
  Judged<std::shared_ptr<TrialCode>> verified(const std::string& config) {
    Shared& shared = *trials_.shared_;
    if (!request_.rivals.empty())
      if (const auto known = shared.verified.find(config); known != shared.verified.end()) return known->second;
    enter(Step::compile);
    const Stopwatch compiling;
    PADLOCK_TRY(std::shared_ptr<TrialCode> code, compile(config));
    result_.compile_ms += compiling.milliseconds();
    PADLOCK_CHECK(prepare());
    const Stopwatch verifying;
    Verification verification(*code, *shared.problem, *shared.reference, shared.sets.front(), request_.skew);
    PADLOCK_CHECK(verification.run([this](Step step) { enter(step); }, shared.device->space().is_isolated()));
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

  /// Takes over what the last request had, where it was of the same problem.
  Judged<void> share() {
    auto key = key_of(request_);
    if (trials_.shared_ && trials_.shared_->key == key) return {};
    trials_.shared_.reset();
    auto shared = std::make_unique<Shared>();
    shared->key = std::move(key);
    PADLOCK_TRY(shared->device,
                judged_making(TrialDevice::open(request_.device, request_.target, request_.threads), Verdict::run));
    PADLOCK_TRY(ir::Program program, judged(ir::parse_program(request_.program), Verdict::compile));
    shared->program = std::make_unique<ir::Program>(std::move(program));
    PADLOCK_TRY(Problem problem,
                judged(Problem::create(*shared->program, request_.symbols, request_.seed), Verdict::compile));
    shared->problem = std::make_unique<Problem>(std::move(problem));
    trials_.shared_ = std::move(shared);
    return {};
  }

  Judged<std::unique_ptr<TrialCode>> compile(const std::string& text) {
    const Shared& shared = *trials_.shared_;
    PADLOCK_TRY(compiler::TargetCompiler* const compiler, compiler_for(shared.device->target()));
    PADLOCK_TRY(const compiler::Config config, judged(compiler->parse_config(text), Verdict::compile));
    return judged_making(shared.device->compile(*compiler, {.config = config}, shared.problem->binding()),
                         Verdict::compile);
  }

  /// Reference and scratch memory, where the last request left none; in this order, since computing the reference takes
  /// a set of its own for a while.
  Judged<void> prepare() {
    Shared& shared = *trials_.shared_;
    if (shared.reference && !shared.sets.empty()) return {};
    PADLOCK_TRY(const std::int64_t allowed, allowed_bytes());
    PADLOCK_CHECK(compute_reference());
    return allocate(allowed);
  }

  /// Other memory, where the request asks for it: what a config owes to the pages that its buffers happen to have, it
  /// keeps as long as it runs on them.
  Judged<void> place_anew() {
    Shared& shared = *trials_.shared_;
    if (shared.placement == request_.placement) return {};
    shared.sets.clear();
    PADLOCK_TRY(const std::int64_t allowed, allowed_bytes());
    return allocate(allowed);
  }

  Judged<void> compute_reference() {
    Shared& shared = *trials_.shared_;
    PADLOCK_TRY(compiler::TargetCompiler* const compiler, compiler_for("host"));
    PADLOCK_TRY(const auto host, judged(TrialDevice::open("host", "", request_.threads), Verdict::run));
    PADLOCK_TRY(shared.reference,
                judged_making(Reference::compute(*shared.problem, host_computation(*compiler, *host)), Verdict::run));
    return {};
  }

  /// Returns the bytes of scratch memory that may be used; what needs more is out of memory.
  Judged<std::int64_t> allowed_bytes() {
    const Shared& shared = *trials_.shared_;
    PADLOCK_TRY(const std::int64_t available, judged(shared.device->space().free_bytes(), Verdict::run));
    const std::int64_t allowed = request_.memory_bytes > 0 ? request_.memory_bytes : available / 2;
    const std::int64_t needed = scratch_bytes(shared.problem->binding());
    if (needed <= allowed) return allowed;
    return failed(Verdict::out_of_memory,
                  fmt::format("scratch memory of {} bytes is needed, {} are allowed", needed, allowed));
  }

  /// Allocates as many sets as exceed the cache, as far as memory reaches: at least one, which was found to fit.
  Judged<void> allocate(std::int64_t allowed) {
    auto allocated = allocate_sets(allowed);
    if (!allocated) trials_.shared_->sets.clear();
    return allocated;
  }

  Judged<void> allocate_sets(std::int64_t allowed) {
    Shared& shared = *trials_.shared_;
    shared.placement = request_.placement;
    const std::int64_t bytes = shared.problem->input_bytes() + shared.problem->result_bytes();
    PADLOCK_CHECK(judged_making(add_set(), Verdict::run));
    // Count what is beside them on the host, too, whichever memory they are in.
    const std::int64_t one = shared.sets.front().mapped_bytes();
    const std::int64_t beside = data_bytes(shared.problem->binding()) - bytes;
    const std::int64_t rotated = request_.policy.rotation_bytes > 0 ? request_.policy.rotation_bytes
                                                                    : bytes_beyond_cache(shared.device->cache_bytes());
    const std::int64_t wanted = request_.policy.budget_ms == 0 ? 1 : rotated / std::max<std::int64_t>(bytes, 1) + 1;
    const std::int64_t count = std::clamp<std::int64_t>(std::min(wanted, (allowed - beside) / one), 1, kMostSets);
    for (std::int64_t i = 1; i < count; ++i) PADLOCK_CHECK(judged_making(add_set(), Verdict::run));
    return {};
  }

  Status add_set() {
    Shared& shared = *trials_.shared_;
    PADLOCK_TRY(ScratchSet set, ScratchSet::allocate(shared.device->space(), shared.problem->binding()));
    PADLOCK_CHECK(fill(set, shared.sets.size()));
    PADLOCK_CHECK(set.poison(kFirstPoison));  // also so that its pages are there
    shared.sets.push_back(std::move(set));
    return {};
  }

  /// As the set with that index is while configs are timed.
  Status fill(ScratchSet& set, std::size_t index) {
    Shared& shared = *trials_.shared_;
    const auto draw = static_cast<std::uint64_t>(request_.placement) * kMostSets + index;
    PADLOCK_CHECK(set.scatter(kFirstRed, request_.skew, draw));
    return set.write_plain_inputs(*shared.problem, shared.staging);
  }

  /// The request's config, or it and its rivals in turn.
  Judged<void> time(const std::vector<std::shared_ptr<TrialCode>>& codes) {
    enter(Step::time);
    PADLOCK_CHECK(place_anew());
    const Stopwatch timing;
    Shared& shared = *trials_.shared_;
    PADLOCK_CHECK(judged(fill(shared.sets.front(), 0), Verdict::run));
    std::int64_t launches = 0;
    std::vector<TimedRuns> runs;
    for (const auto& code : codes)
      runs.emplace_back([&, code = code.get()](std::int64_t count) {
        return code->time(shared.sets, shared.problem->scalars(), std::exchange(launches, launches + count), count);
      });
    PADLOCK_CHECK(judged(take_samples(runs), Verdict::run));
    for (const ScratchSet& set : shared.sets) {
      PADLOCK_TRY(const std::string damage, judged(set.damage(), Verdict::run));
      if (!damage.empty()) return failed(Verdict::red_zone, damage + " while it was timed");
    }
    result_.timing_ms = timing.milliseconds();
    return {};
  }

  Status take_samples(const std::vector<TimedRuns>& runs) {
    ClockWatch& clock = trials_.clocks_[request_.device];
    const auto throttled = [&] { return clock.is_throttled(trials_.shared_->device->clock()); };
    if (runs.size() == 1) {
      PADLOCK_TRY(Timing timing, measure(request_.policy, runs.front(), throttled));
      result_.samples_ps = std::move(timing.samples_ps);
      result_.throttled = timing.throttled;
    } else {
      PADLOCK_TRY(RaceTiming race, measure_in_turn(request_.policy, runs, throttled));
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
  TryResult result;
  Attempt attempt(*this, request, result);
  if (auto judged = attempt.run(); !judged) {
    result.verdict = judged.error().verdict;
    result.message = std::move(judged.error().message);
    result.worker_ends = attempt.has_run() || judged.error().device_lost;
    // Drop what a wrong config has left behind: it serves no other.
    shared_.reset();
  }
  return result;
}

TryResult try_config(const TryRequest& request) { return Trials().try_config(request); }

}  // namespace padlock::tuner
