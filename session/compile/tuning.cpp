#include "session/compile/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/device.h"
#include "runtime/host/system_memory.h"
#include "session/compile/context.h"
#include "support/stopwatch.h"
#include "tuner/cache/choice.h"
#include "tuner/cache/describe.h"
#include "tuner/search/cost_model.h"
#include "tuner/trial/problem.h"
#include "tuner/worker/worker.h"

namespace padlock::session {
namespace {

/// Facts about a device that tuning needs.
struct Facts {
  tuner::Machine machine;
  std::vector<std::int64_t> caches;
  std::int64_t free_bytes = 0;
};

/// Returns the sizes of the device's caches; of the last one, the part that launches can have.
std::vector<std::int64_t> caches_of(const runtime::DeviceFacts& facts, int threads) {
  std::vector<std::int64_t> caches = facts.cache_bytes;
  if (!caches.empty()) caches.back() = facts.cache_share(threads);
  return caches;
}

/// `threads`: of the host's pool.
Result<Facts> facts_of(const runtime::Device& device, int threads) {
  const runtime::DeviceFacts known = device.facts();
  PADLOCK_TRY(const std::int64_t available, device.free_bytes());
  return Facts{.machine = {.threads = known.gpu ? 0 : threads,
                           .cache_bytes = known.cache_bytes.empty() ? 0 : known.cache_bytes.back(),
                           .core_cache_bytes = known.cache_bytes.size() > 1 ? known.cache_bytes.front() : 0,
                           .multiprocessors = known.gpu ? known.gpu->multiprocessors : 0},
               .caches = caches_of(known, threads),
               // The host's memory is also a limit: inputs and outputs are made and compared there.
               .free_bytes = std::min(available, runtime::available_memory())};
}

constexpr std::int64_t kTimeLimitMs = 10'000;  // per config
constexpr double kReferenceShare = 0.2;        // the reference's part of a region's budget, at most

/// Estimates the seconds that the default alone takes at a binding: worker, data, reference, checks and timing. The
/// rates are round numbers for two cores.
double least_seconds(const ir::Binding& binding) {
  constexpr double kStart = 0.15, kSecondsAByte = 8e-10, kSecondsAnElement = 1.8e-8;
  const ir::Program& program = binding.program();
  double elements = 0;
  for (const ir::ValueId id : program.results())
    elements += static_cast<double>(binding(program.value(id).layout.element_count()));
  return kStart + kSecondsAByte * static_cast<double>(tuner::data_bytes(binding)) + kSecondsAnElement * elements;
}

/// Returns the choice that the store already has for a region.
const tuner::Choice* known_choice(const tuner::Lookup& lookup, const tuner::PlannedRegion& region) {
  const auto found = std::ranges::find_if(lookup.choices, [&](const tuner::Choice& choice) {
    return choice.region == region.region && choice.regime.value_or(tuner::Regime::cold) == region.regime;
  });
  return found == lookup.choices.end() ? nullptr : &*found;
}

}  // namespace

Result<tuner::Regime> regime_from_name(std::string_view name) {
  auto regime = tuner::regime_from_name(name);
  if (regime) return regime;
  return invalid_argument(fmt::format("expected a regime (auto, warm, cold or both), found '{}'", name));
}

int TunedRegion::failed() const {
  return static_cast<int>(std::ranges::count_if(
      outcome.measurements, [](const tuner::Measurement& m) { return m.verdict != tuner::Verdict::ok; }));
}

int TuneReport::chosen() const {
  return static_cast<int>(
      std::ranges::count_if(regions, [](const TunedRegion& r) { return r.outcome.config.has_value(); }));
}

/// The tuning of one program, with the worker that tries its configs.
class Tuning {
 public:
  Tuning(Context& context, const Program& program, const TuneOptions& options)
      : context_(context), program_(program), options_(options) {}

  Result<TunePlan> plan() {
    PADLOCK_CHECK(resolve());
    compiler::TargetCompiler& compiler = *resolved_->compiler;
    PADLOCK_TRY(const Facts facts, facts_of(*resolved_->device, context_.pool_.threads()));
    memory_bytes_ = options_.memory_bytes > 0 ? options_.memory_bytes : facts.free_bytes / 2;
    PADLOCK_TRY(
        std::vector<tuner::PlannedRegion> regions,
        tuner::plan_regions(program_.ir(), options_.sizes,
                            {.cache_bytes = facts.caches, .memory_bytes = memory_bytes_, .seed = options_.seed}));
    PADLOCK_CHECK(deal(regions));
    if (regions.empty()) return TunePlan{compiler.description(), memory_bytes_, {}};
    std::vector<ir::Binding> bindings;
    for (const tuner::PlannedRegion& region : regions) {
      PADLOCK_TRY(ir::Binding binding, tuner::bind_sizes(program_.ir(), region.sizes));
      bindings.push_back(std::move(binding));
    }
    PADLOCK_TRY(const compiler::SearchSpace space, compiler.search_space(program_.ir(), bindings));
    std::vector<std::string> texts;
    for (const compiler::SearchPoint& point : space.points) texts.push_back(compiler::to_string(point.config));
    TunePlan plan{.target = compiler.description(), .memory_bytes = memory_bytes_, .regions = {}};
    const double share = options_.budget_seconds / static_cast<double>(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
      plan.regions.push_back(plan_region(std::move(regions[i]), bindings[i], i, space, texts, facts.machine));
      RegionPlan& region = plan.regions.back();
      region.least_seconds = least_seconds(bindings[i]);
      if (region.least_seconds > share)
        region.planned.notes.push_back(fmt::format(
            "the default alone needs about {:.2g} s here, and the budget is {:.2g} s", region.least_seconds, share));
    }
    return plan;
  }

  Result<TuneReport> run() {
    if (context_.store_ == nullptr)
      return failed_precondition("expected a cache that keeps what is learnt, found none");
    PADLOCK_TRY(TunePlan plan, this->plan());
    TuneReport report{.target = plan.target, .key = key_->digest(), .regions = {}};
    PADLOCK_CHECK(check_cache());
    std::shared_ptr<const tuner::Lookup> known;
    if (options_.resume) {
      PADLOCK_TRY(known, context_.look_up(program_, *key_, *resolved_->compiler));
    }
    for (std::size_t i = 0; i < plan.regions.size() && !report.interrupted; ++i) {
      PADLOCK_TRY(TunedRegion tuned, tune(*key_, plan, i, known.get()));
      report.trials += tuned.outcome.trials;
      report.requests += tuned.outcome.requests;
      report.interrupted = tuned.outcome.interrupted;
      report.regions.push_back(std::move(tuned));
    }
    report.seconds = watch_.seconds();
    report.not_kept = context_.store_->not_kept();
    return report;
  }

 private:
  Status resolve() {
    PADLOCK_TRY(const runtime::Device* const device, context_.tuned_device(options_.device));
    PADLOCK_TRY(resolved_, context_.resolve(*device, "host"));
    PADLOCK_TRY(key_, context_.key_of(program_, *device, resolved_->target));
    return {};
  }

  /// Finds out before measuring whether results can be kept, by putting the key.
  Status check_cache() {
    if (!options_.must_keep) return {};
    PADLOCK_CHECK(context_.store_->add(*key_, std::span<const tuner::Measurement>()));
    const std::string why = context_.store_->not_kept();
    if (why.empty()) return {};
    return failed_precondition(fmt::format("expected a cache that can be written, found one that cannot: {}", why));
  }

  /// Keeps only the regions of this shard.
  Status deal(std::vector<tuner::PlannedRegion>& regions) {
    const tuner::Shard& shard = options_.shard;
    if (!shard.is_valid())
      return invalid_argument(fmt::format("expected a shard from 0 to {}, found {}", shard.count - 1, shard.index));
    std::erase_if(regions, [&](const tuner::PlannedRegion& r) { return !shard.has(key_->digest(), r.region); });
    return {};
  }

  /// `index`: the region's index among the bindings for which the space has costs; `texts`: of its configs.
  RegionPlan plan_region(tuner::PlannedRegion region, const ir::Binding& binding, std::size_t index,
                         const compiler::SearchSpace& space, const std::vector<std::string>& texts,
                         const tuner::Machine& machine) {
    RegionPlan plan{
        .planned = std::move(region), .candidates = {}, .order = {}, .scratch_bytes = tuner::scratch_bytes(binding)};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const compiler::SearchPoint& point = space.points[i];
      const std::int64_t task_bytes = compiler::task_bytes(point.config);
      plan.candidates.push_back(
          {.config = texts[i],
           .predicted_ns = tuner::predicted_ns(point.costs[index], task_bytes, machine, plan.planned.regime),
           .past_caches =
               compiler::evicts_first(point.config) || tuner::stores_past_caches(point.costs[index], machine)});
    }
    plan.order = tuner::order_of_trials(plan.candidates, options_.strategy, options_.seed);
    return plan;
  }

  Result<TunedRegion> tune(const tuner::CacheKey& key, const TunePlan& plan, std::size_t index,
                           const tuner::Lookup* known) {
    const RegionPlan& region = plan.regions[index];
    TunedRegion tuned{.planned = region.planned, .outcome = {}};
    if (const tuner::Choice* choice = known != nullptr ? known_choice(*known, region.planned) : nullptr) {
      tuned.was_known = true;
      tuned.outcome.config = choice->config;
      tuned.outcome.reason =
          choice->coverage ? fmt::format("the cache has it, {}", to_string(*choice->coverage)) : "the cache has it";
      return tuned;
    }
    const std::size_t regions = plan.regions.size();
    const double left = options_.budget_seconds - watch_.seconds();
    tuner::SearchOptions search{.strategy = options_.strategy,
                                .budget_seconds = std::max(0.0, left) / static_cast<double>(regions - index),
                                .seed = options_.seed,
                                .regime = region.planned.regime,
                                .awkward = tuner::awkward_sizes(program_.ir(), options_.seed),
                                .known = {},
                                .cancelled = options_.cancelled};
    if (options_.resume) search.known = context_.store_->measurements(key);
    reference_ms_ = kReferenceShare * 1000 * search.budget_seconds;
    search.keep = [&](const tuner::Measurement& m) { return context_.store_->add(key, {&m, 1}); };
    if (options_.progress)
      search.progress = [&](const tuner::Progress& progress) { options_.progress(index, regions, progress); };
    if (search.progress)
      search.progress({.candidates = static_cast<int>(region.order.size()),
                       .least_seconds = region.least_seconds,
                       .seconds_left = search.budget_seconds});
    PADLOCK_TRY(tuned.outcome,
                tuner::search_region(region.planned.region, region.planned.sizes, region.candidates, search,
                                     [this](const tuner::Trial& trial) { return attempt(trial); }));
    if (tuned.outcome.config)
      PADLOCK_CHECK(context_.store_->add(
          key, tuner::Choice{.region = region.planned.region,
                             .config = *tuned.outcome.config,
                             .provenance = tuner::provenance_now(options_.seed),
                             .coverage = tuner::Coverage{.measured = std::ssize(tuned.outcome.measurements),
                                                         .candidates = tuned.outcome.candidates},
                             .regime = region.planned.regime}));
    return tuned;
  }

  Result<tuner::TryResult> attempt(const tuner::Trial& trial) {
    if (!worker_) {
      PADLOCK_TRY(const std::string file, tuner::find_worker(context_.worker_));
      PADLOCK_TRY(tuner::Worker worker,
                  tuner::Worker::start({.command = {file}, .cancelled = [this] { return cancelled() || is_late(); }}));
      worker_.emplace(std::move(worker));
    }
    context_.trials_ += 1 + std::ssize(trial.further);
    const tuner::TryRequest request{
        .program = ir::to_string(program_.ir()),
        .device = options_.device.to_string(),
        .target = {},
        .config = trial.config,
        .rivals = trial.rivals,
        .next = trial.next,
        .symbols = trial.sizes,
        .seed = options_.seed,
        .skew = trial.skew,
        .further = trial.further,
        .placement = trial.placement,
        .threads = context_.pool_.threads(),
        .memory_bytes = memory_bytes_,
        .reference_ms = reference_ms_,
        // A new worker verifies rivals again.
        .time_limit_ms = kTimeLimitMs * (1 + std::ssize(trial.rivals) + std::ssize(trial.further)),
        .policy = {.warm_up_ms = std::min(2.0, trial.timing_ms / 4),
                   .sample_us = 0,
                   .budget_ms = trial.timing_ms,
                   .setting = trial.setting}};
    limit_ = trial.limit_seconds > 0 ? std::optional(watch_.seconds() + trial.limit_seconds) : std::nullopt;
    Result<tuner::TryResult> result = worker_->try_config(request);
    if (!result && result.error().code == Code::cancelled && !cancelled() && is_late())
      result.error().code = Code::deadline_exceeded;
    return result;
  }

  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }
  /// Returns whether to give up the config that is being tried.
  [[nodiscard]] bool is_late() const { return limit_ && watch_.seconds() > *limit_; }

  Context& context_;
  const Program& program_;
  const TuneOptions& options_;
  std::optional<Context::Resolved> resolved_;  // set when planned, like the key
  std::optional<tuner::CacheKey> key_;
  std::int64_t memory_bytes_ = 0;
  double reference_ms_ = 0;              // for a region
  std::optional<tuner::Worker> worker_;  // started for the first config to try
  std::optional<double> limit_;          // for the current try, on the watch
  Stopwatch watch_;
};

Result<TunePlan> Context::plan_tuning(const Program& program, const TuneOptions& options) {
  return Tuning(*this, program, options).plan();
}

Result<TuneReport> Context::tune(const Program& program, const TuneOptions& options) {
  return Tuning(*this, program, options).run();
}

}  // namespace padlock::session
