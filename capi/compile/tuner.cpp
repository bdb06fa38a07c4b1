#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>

#include "capi/compile/compile_options.h"
#include "capi/error.h"
#include "capi/launch/program.h"
#include "capi/options.h"
#include "capi/text.h"
#include "session/compile/tune_json.h"
#include "session/compile/tuning.h"
#include "tuner/worker/worker_loop.h"

struct padlock_tuner : padlock::capi::Counted<padlock_tuner> {
  padlock_tuner(padlock_program& source, padlock::session::TuneOptions how, const padlock_tune_options& given);

  const padlock::capi::Ref<padlock_program> program;
  padlock::session::TuneOptions options;  // never changed
  std::atomic<bool> cancelled = false;    // in the default order: read a few times a second
  std::mutex running;                     // held during a run
  mutable std::mutex reading;             // guards the members below
  std::optional<std::string> report;
};

namespace padlock::capi {
namespace {

Result<tuner::Sizes> sizes_of(const padlock_named_value* list, std::size_t count, const char* name) {
  if (count > 0) PADLOCK_CHECK(require(list, name));
  tuner::Sizes sizes;
  for (std::size_t i = 0; i < count; ++i) {
    PADLOCK_CHECK(require(list[i].name, "the name of a symbol"));
    if (!sizes.emplace(list[i].name, list[i].value).second)
      return invalid_argument(fmt::format("expected one value of '{}' in {}, found more", list[i].name, name));
  }
  return sizes;
}

padlock_progress progress_of(std::size_t region, std::size_t regions, const tuner::Progress& progress) {
  return {.struct_size = sizeof(padlock_progress),
          .region = static_cast<std::int32_t>(region),
          .region_count = static_cast<std::int32_t>(regions),
          .tried = progress.tried,
          .config_count = progress.candidates,
          .best = progress.best.c_str(),
          .best_picoseconds = progress.best_ps,
          .seconds_left = progress.seconds_left,
          .racing = progress.racing ? 1 : 0,
          .reserved = 0,
          .seconds = progress.seconds,
          .least_seconds = progress.least_seconds};
}

Result<session::TuneOptions> tune_options(const padlock_tune_options& given) {
  if (!std::isfinite(given.budget_seconds) || given.budget_seconds < 0 || given.memory_bytes < 0)
    return invalid_argument("expected a budget and memory that are 0 or more");
  if (given.reserved != 0) return invalid_argument("expected padlock_tune_options's reserved to be 0");
  session::TuneOptions options;
  if (given.shard_count != 0 || given.shard_index != 0) options.shard = {given.shard_index, given.shard_count};
  if (!options.shard.is_valid())
    return invalid_argument(fmt::format("expected a shard_index from 0 to {}, found {}",
                                        std::int64_t{given.shard_count} - 1, given.shard_index));
  PADLOCK_TRY(options.device, runtime::DeviceId::parse(text_or(given.device, "host")));
  PADLOCK_TRY(options.strategy, tuner::strategy_from_name(text_or(given.search, "fast")));
  if (const std::string_view regime = text_or(given.regime, "auto"); regime != "auto") {
    PADLOCK_TRY(options.sizes.regime, session::regime_from_name(regime));
  }
  PADLOCK_TRY(options.sizes.min, sizes_of(given.min, given.min_count, "min"));
  PADLOCK_TRY(options.sizes.opt, sizes_of(given.opt, given.opt_count, "opt"));
  PADLOCK_TRY(options.sizes.max, sizes_of(given.max, given.max_count, "max"));
  if (given.budget_seconds > 0) options.budget_seconds = given.budget_seconds;
  if (given.seed != 0) options.seed = given.seed;
  options.memory_bytes = given.memory_bytes;
  options.resume = given.resume != 0;
  options.must_keep = true;
  return options;
}

}  // namespace
}  // namespace padlock::capi

padlock_tuner::padlock_tuner(padlock_program& source, padlock::session::TuneOptions how,
                             const padlock_tune_options& given)
    : program(padlock::capi::Ref<padlock_program>::to(&source)), options(std::move(how)) {
  options.cancelled = [this, asks = given.cancel, user = given.user] {
    const padlock::ForkPause outside;  // Asked ten times a second: a fork passes here and need not wait for the end.
    if (asks != nullptr && asks(user) != 0) cancelled = true;
    return cancelled.load();
  };
  options.progress = [this, tell = given.progress, user = given.user](std::size_t region, std::size_t regions,
                                                                      const padlock::tuner::Progress& progress) {
    if (tell == nullptr) return;
    const padlock::ForkPause outside;
    const padlock_progress told = padlock::capi::progress_of(region, regions, progress);
    if (tell(user, &told) != 0) cancelled = true;
  };
}

namespace padlock::capi {
namespace {

Result<padlock_tuner*> create(padlock_program& program, const padlock_tune_options* options) {
  PADLOCK_TRY(const padlock_tune_options given, read_options(options, "padlock_tune_options"));
  PADLOCK_TRY(session::TuneOptions made, tune_options(given));
  return make<padlock_tuner>(program.allocator(), 0, program, std::move(made), given);
}

Status run(padlock_tuner& tuner) {
  const std::unique_lock running(tuner.running, std::try_to_lock);
  if (!running) return failed_precondition("expected a tuner that does not run, found one that does");
  padlock_context& context = *tuner.program->context;
  PADLOCK_TRY(const session::TuneReport report, compiler_of(context).tune(tuner.program->program, tuner.options));
  context.tunings.fetch_add(1);
  std::string json = to_json(tuner.program->program.ir().name(), report, context.cache_file, tuner.options.seed);
  const std::lock_guard reading(tuner.reading);
  tuner.report = std::move(json);
  if (!report.not_kept.empty())
    return std::unexpected(Error{Code::data_loss, Blame::environment,
                                 fmt::format("what was learnt is not in the cache: {}", report.not_kept)});
  if (!report.interrupted) return {};
  return std::unexpected(Error{Code::cancelled, Blame::user, "tuning was stopped; what was measured is kept"});
}

Result<padlock_text*> plan_of(const padlock_tuner& tuner) {
  const padlock_program& program = *tuner.program;
  PADLOCK_TRY(const session::TunePlan plan, compiler_of(*program.context).plan_tuning(program.program, tuner.options));
  return make_text(tuner.allocator(), to_json(program.program.ir().name(), plan, tuner.options.seed));
}

Result<padlock_text*> report_of(const padlock_tuner& tuner) {
  const std::lock_guard reading(tuner.reading);
  if (!tuner.report) return failed_precondition("expected a tuner that has run, found one that has not");
  return make_text(tuner.allocator(), *tuner.report);
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

PADLOCK_COUNTED_HANDLE(tuner)

padlock_status padlock_tuner_create(padlock_program* program, const padlock_tune_options* options,
                                    padlock_tuner** tuner, padlock_error** error) {
  return guarded_handle(program, "a program", tuner, error, [&] { return create(*program, options); });
}

padlock_status padlock_tuner_run(padlock_tuner* tuner, padlock_error** error) {
  return guarded(tuner, "a tuner", error, [&] { return run(*tuner); });
}

padlock_status padlock_tuner_plan(const padlock_tuner* tuner, padlock_text** json, padlock_error** error) {
  return guarded_handle(tuner, "a tuner", json, error, [&] { return plan_of(*tuner); });
}

void padlock_tuner_cancel(padlock_tuner* tuner) {
  if (tuner != nullptr) tuner->cancelled = true;
}

padlock_status padlock_tuner_report(const padlock_tuner* tuner, padlock_text** json, padlock_error** error) {
  return guarded_handle(tuner, "a tuner", json, error, [&] { return report_of(*tuner); });
}

int32_t padlock_worker_main(void) { return padlock::tuner::run_worker(); }

}  // extern "C"
