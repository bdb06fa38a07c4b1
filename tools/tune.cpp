#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "api/context.h"
#include "api/tune_json.h"
#include "api/tuning_cache.h"
#include "tools/arguments.h"
#include "tools/cache_choice.h"
#include "tools/interruption.h"
#include "tools/load_program.h"
#include "tools/tune_text.h"

namespace padlock::tools {
namespace {

struct TuneCommand {
  std::string program;
  std::vector<std::string> min, opt, max;
  std::string device = "host";
  std::string budget = "10s";
  std::string search = "fast";
  std::string cache;
  std::string json;
  std::int64_t memory_mib = 0;
  std::uint64_t seed = 1;  // the same each time: a second tuning shall draw the same sizes
  bool dry_run = false;
  bool resume = false;
  bool quiet = false;
};

/// "10s", "500ms", "2m", or seconds alone.
Outcome<double> parse_budget(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "m" ? 60 : 0;
  if (error != std::errc() || scale == 0 || !(number >= 0 && number < 1e6))
    return fail(ExitCode::usage, fmt::format("--budget: expected a time like 10s, 500ms or 2m, found '{}'", text));
  return number * scale;
}

Outcome<api::TuneOptions> parse(const TuneCommand& command) {
  const auto device = api::Device::parse(command.device);
  if (!device) return fail(ExitCode::usage, device.error());
  if (const Status status = api::availability(*device); !status) return fail(ExitCode::unavailable, status.error());
  const auto strategy = api::strategy_from_name(command.search);
  if (!strategy) return fail(ExitCode::usage, fmt::format("--search: {}", strategy.error().message));
  const auto budget = parse_budget(command.budget);
  if (!budget) return std::unexpected(budget.error());
  api::TuneOptions options{.device = *device,
                           .strategy = *strategy,
                           .budget_seconds = *budget,
                           .seed = command.seed,
                           .resume = command.resume,
                           .memory_bytes = command.memory_mib << 20,
                           .cancelled = &Interruption::requested};
  for (const auto& [texts, sizes] : {std::pair(&command.min, &options.sizes.min),
                                     {&command.opt, &options.sizes.opt},
                                     {&command.max, &options.sizes.max}}) {
    auto parsed = parse_bind(*texts);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    *sizes = *std::move(parsed);
  }
  return options;
}

std::unexpected<Failure> tune_failure(const Error& error, const std::string& file) {
  if (error.code == Code::not_found) return fail(ExitCode::no_config, error);
  return compile_failure(error, file);
}

Outcome<ExitCode> print(const TuneCommand& command, const std::string& text, const std::string& json, ExitCode code) {
  if (!command.json.empty())
    if (auto written = write_text(command.json, json); !written) return std::unexpected(written.error());
  if (command.json != kStandardOutput && !command.quiet)
    if (auto written = write_text(kStandardOutput, text); !written) return std::unexpected(written.error());
  return code;
}

Outcome<std::string> cache_file(const TuneCommand& command) {
  if (!command.cache.empty()) return command.cache;
  auto file = api::default_cache_file();
  if (!file) return fail(ExitCode::cache, file.error());
  return *std::move(file);
}

ExitCode exit_code_of(const api::TuneReport& report) {
  if (report.interrupted) return ExitCode::interrupted;
  return report.chosen() < static_cast<int>(report.regions.size()) ? ExitCode::no_config : ExitCode::ok;
}

Outcome<ExitCode> tune(const TuneCommand& command) {
  auto options = parse(command);
  if (!options) return std::unexpected(std::move(options).error());
  const auto program = load_program(command.program);
  if (!program) return std::unexpected(program.error());
  for (const api::Sizes* sizes : {&options->sizes.min, &options->sizes.opt, &options->sizes.max})
    if (auto checked = check_symbols(program->ir(), *sizes); !checked) return std::unexpected(checked.error());
  api::Context context;
  if (command.dry_run) {
    const auto plan = context.plan_tuning(*program, *options);
    if (!plan) return tune_failure(plan.error(), command.program);
    return print(command, plan_text(*plan), to_json(program->ir().name(), *plan, command.seed), ExitCode::ok);
  }
  const auto cache = cache_file(command);
  if (!cache) return std::unexpected(cache.error());
  if (auto used = use_cache(context, {.file = *cache, .mode = "read-write"}); !used)
    return std::unexpected(used.error());
  const Interruption interruption;
  auto report = [&] {
    ProgressMeter meter(command.quiet);
    options->progress = [&](std::size_t region, std::size_t regions, const api::Progress& progress) {
      meter.show(region, regions, progress);
    };
    return context.tune(*program, *options);
  }();
  if (!report) return tune_failure(report.error(), command.program);
  return print(command, tune_text(*report, *cache, command.seed),
               to_json(program->ir().name(), *report, *cache, command.seed), exit_code_of(*report));
}

}  // namespace

void add_tune(Subcommand& app) {
  Subcommand command = app.subcommand("tune", "measure configs on scratch buffers, write a cache");
  const auto options = std::make_shared<TuneCommand>();  // shared: the callback outlives this function
  command.program(options->program);
  command.repeated("--min", options->min, "NAME=INTEGER,...: the least sizes to tune for");
  command.repeated("--opt", options->opt, "NAME=INTEGER,...: the sizes to measure at");
  command.repeated("--max", options->max, "NAME=INTEGER,...: the greatest sizes to tune for");
  command.option("--budget", options->budget, "TIME", "time for all of it: 10s, 500ms, 2m");
  command.option("--search", options->search, "KIND", "fast (what a model finds promising), full or random");
  command.option("--memory", options->memory_mib, 1, std::int64_t{1} << 30, "MIB",
                 "MiB that scratch memory may take; else half of what is free");
  command.option("--device", options->device, "DEVICE", "host or cuda:N");
  command.option("--cache", options->cache, "FILE", "where what is learnt is kept; else the user's cache");
  command.option("--seed", options->seed, "N", "for sizes, data and --search=random");
  command.flag("--dry-run", options->dry_run, "only list what would be tried");
  command.flag("--resume", options->resume, "take over what the cache has of an earlier tuning");
  command.json(options->json);
  command.flag("--quiet", options->quiet, "print errors alone");
  command.examples(
      "padlock tune examples/pad_relu.pad --opt=B=64,S=1000,lo=3 --budget=1s --cache=/tmp/padlock_tuning.db",
      "padlock tune examples/pad_relu.pad --max=B=64 --dry-run");
  command.runs([options] { return tune(*options); });
}

}  // namespace padlock::tools
