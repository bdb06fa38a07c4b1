#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "support/messages/suggestion.h"
#include "support/stopwatch.h"
#include "tools/arrays/arguments.h"
#include "tools/commands/command.h"
#include "tools/commands/interruption.h"
#include "tools/commands/model_names.h"
#include "tools/commands/open.h"
#include "tools/commands/report.h"
#include "tools/text/tune_text.h"

namespace padlock::tools {
namespace {

constexpr int kMostPrograms = 100'000;
constexpr std::array<std::string_view, 3> kSearches = {"fast", "full", "random"};
constexpr std::array<std::string_view, 4> kRegimes = {"auto", "warm", "cold", "both"};

struct TuneCommand {
  std::vector<std::string> programs;
  std::vector<std::string> min, opt, max;
  std::string device = "host";
  std::string budget = "10s";
  std::string search = "fast";
  std::string regime = "auto";
  std::string shard;
  std::string cache;
  std::string report;
  std::string json;
  std::int64_t memory_mib = 0;
  std::uint64_t seed = 1;  // fixed, so that a second tuning draws the same sizes
  bool dry_run = false;
  bool resume = false;
  bool quiet = false;
};

/// Parses "10s", "500ms", "2m", or seconds without a unit.
Outcome<double> parse_budget(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "m" ? 60 : 0;
  if (error != std::errc() || scale == 0 || !(number >= 0 && number < 1e6))
    return fail(ExitCode::usage, fmt::format("--budget: expected a time like 10s, 500ms or 2m, found '{}'", text));
  return number * scale;
}

/// Parses "2/7": the third of seven.
Outcome<void> parse_shard(const std::string& text, lib::TuneOptions& options) {
  if (text.empty()) return {};
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, options.shard_index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, options.shard_count);
    const bool whole = count.ec == std::errc() && count.ptr == end;
    if (whole && 0 <= options.shard_index && options.shard_index < options.shard_count) return {};
  }
  return fail(ExitCode::usage, fmt::format("--shard: expected I/N with I from 0 to N - 1, found '{}'", text));
}

/// A program, and its file.
struct TuneSource {
  const lib::Context& context;
  const std::string& file;
  const lib::Program& program;
};

Outcome<lib::Sizes> parse_sizes(const char* option, const std::vector<std::string>& texts, const TuneSource& source) {
  PADLOCK_TRY(auto symbols, parse_bind(texts, option));
  if (!symbols.empty()) PADLOCK_CHECK(take_model_symbols(source.context, source.file, symbols));
  PADLOCK_CHECK(check_symbols(source.program, symbols, option));
  lib::Sizes sizes;
  for (const auto& [name, value] : symbols) sizes.set(name, value);
  return sizes;
}

/// Returns the index of a name among those that an option takes.
template <std::size_t kCount>
Outcome<void> check_name(const char* option, const std::string& name,
                         const std::array<std::string_view, kCount>& names) {
  if (std::ranges::find(names, name) != names.end()) return {};
  return fail(ExitCode::usage, fmt::format("--{}: expected {} or {}, found '{}'{}", option,
                                           fmt::join(names.begin(), names.end() - 1, ", "), names.back(), name,
                                           did_you_mean(name, names)));
}

constexpr double kNoTime = 1e-9;  // not 0, which the library takes for its default

Outcome<lib::TuneOptions> parse(const TuneCommand& command, const TuneSource& source) {
  PADLOCK_TRY(const auto budget, parse_budget(command.budget));
  lib::TuneOptions options;
  PADLOCK_CHECK(parse_shard(command.shard, options));
  options.device = command.device;
  options.search = command.search;
  options.regime = command.regime;
  options.budget_seconds = std::max(budget, kNoTime);
  options.seed = command.seed;
  options.resume = command.resume;
  options.memory_bytes = command.memory_mib << 20;
  options.cancel = [](void*) -> std::int32_t { return Interruption::requested() ? 1 : 0; };
  PADLOCK_CHECK(check_name("search", command.search, kSearches));
  PADLOCK_CHECK(check_name("regime", command.regime, kRegimes));
  PADLOCK_TRY(options.min, parse_sizes("min", command.min, source));
  PADLOCK_TRY(options.opt, parse_sizes("opt", command.opt, source));
  PADLOCK_TRY(options.max, parse_sizes("max", command.max, source));
  return options;
}

std::unexpected<Failure> tune_failure(const lib::Error& error, const std::string& file) {
  if (error.status() == PADLOCK_NOT_FOUND) return fail(ExitCode::no_config, error);
  const bool of_cache = error.status() == PADLOCK_FAILED_PRECONDITION || error.status() == PADLOCK_DATA_LOSS;
  if (of_cache) return fail(ExitCode::cache, error);
  return compile_failure(error, file);
}

/// The report on one program.
struct Report {
  std::string json;
  JsonValue value;
};

Outcome<Report> report_of(const lib::Text& json) {
  PADLOCK_TRY(auto value, JsonValue::parse(json.view()));
  return Report{std::string(json.view()), std::move(value)};
}

/// Prints reports: as JSON the report of one program, or a list of several; as text, `text_of` each.
Outcome<void> print_reports(const TuneCommand& command, const std::vector<Report>& reports,
                            std::string (*text_of)(const JsonValue&)) {
  std::string json, text;
  for (const Report& report : reports) {
    json += (json.empty() ? "" : ",\n") + report.json;
    if (command.programs.size() > 1) text += fmt::format("program {}\n", report.value["program"].text());
    text += text_of(report.value);
  }
  if (command.programs.size() > 1)
    json = fmt::format("{{\"schema\": 1, \"command\": \"tune\", \"reports\": [\n{}]}}\n", json);
  PADLOCK_CHECK(print(command.json, json, text, command.quiet));
  return {};
}

/// Writes the page of results, and times copies on the tuned device.
Outcome<void> write_page(const TuneCommand& command, const lib::Context& context,
                         const std::vector<lib::Program>& programs, const std::vector<Report>& reports) {
  const std::string file = reports.front().value["cache"].text();
  PADLOCK_TRY(const auto cache, or_fail(ExitCode::cache, context.cache(file)));
  PADLOCK_TRY(const auto json, or_fail(ExitCode::cache, cache.describe()));
  PADLOCK_TRY(const auto described, JsonValue::parse(json.view()));
  CacheKeys keys;
  for (const JsonValue& key : described["keys"].items())
    if (std::ranges::any_of(reports, [&key](const Report& r) { return r.value["key"].text() == key["key"].text(); }))
      keys.push_back(&key);
  PADLOCK_TRY(const auto regions, report_regions(context, keys, programs, command.device));
  return write_text(command.report, report_page(file, regions));
}

ExitCode exit_code_of(const std::vector<Report>& reports) {
  if (reports.back().value["interrupted"].truth()) return ExitCode::interrupted;
  const bool all_chosen = std::ranges::all_of(reports, [](const Report& report) {
    return std::ranges::all_of(report.value["regions"].items(),
                               [](const JsonValue& r) { return r["config"].exists(); });
  });
  return all_chosen ? ExitCode::ok : ExitCode::no_config;
}

/// Tunes one program.
Outcome<Report> run(const lib::Program& program, const std::string& file, lib::TuneOptions options, bool quiet) {
  ProgressMeter meter(quiet);
  options.user = &meter;
  options.progress = [](void* user, const padlock_progress* progress) -> std::int32_t {
    static_cast<ProgressMeter*>(user)->show(*progress);
    return 0;
  };
  const auto tuner = program.tuner(options);
  if (!tuner) return tune_failure(tuner.error(), file);
  const lib::Status done = tuner->run();
  if (!done && done.error().status() != PADLOCK_CANCELLED) return tune_failure(done.error(), file);
  PADLOCK_TRY(const auto json, or_fail(ExitCode::internal, tuner->report()));
  return report_of(json);
}

/// Tunes one program after the other. Time that one leaves of its share goes to the next ones.
Outcome<std::vector<Report>> run_all(const TuneCommand& command, const std::vector<lib::Program>& programs,
                                     std::vector<lib::TuneOptions> options) {
  const Interruption interruption;
  const Stopwatch watch;
  std::vector<Report> reports;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const double left = options[i].budget_seconds - watch.seconds();
    options[i].budget_seconds = std::max(kNoTime, left / static_cast<double>(options.size() - i));
    PADLOCK_TRY(auto report, run(programs[i], command.programs[i], options[i], command.quiet));
    reports.push_back(std::move(report));
    if (reports.back().value["interrupted"].truth()) break;
  }
  return reports;
}

Outcome<std::vector<Report>> plan_all(const TuneCommand& command, const std::vector<lib::Program>& programs,
                                      const std::vector<lib::TuneOptions>& options) {
  std::vector<Report> plans;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    PADLOCK_TRY(const auto tuner, or_fail(ExitCode::usage, programs[i].tuner(options[i])));
    const auto plan = tuner.plan();
    if (!plan) return tune_failure(plan.error(), command.programs[i]);
    PADLOCK_TRY(auto report, report_of(*plan));
    plans.push_back(std::move(report));
  }
  return plans;
}

Outcome<ExitCode> tune(const TuneCommand& command) {
  if (command.dry_run && !command.report.empty())
    return fail(ExitCode::usage, "--report: nothing is measured with --dry-run");
  // The context opens its cache when it has something to keep: a refused command leaves no file.
  padlock_context_options keeping = lib::Context::options();
  keeping.cache_mode = PADLOCK_CACHE_READ_WRITE;
  if (!command.cache.empty()) keeping.cache_file = command.cache.c_str();
  PADLOCK_TRY(const auto context, open_context(keeping));
  PADLOCK_CHECK(check_device(context, command.device));
  std::vector<lib::Program> programs;
  std::vector<lib::TuneOptions> options;
  for (const std::string& file : command.programs) {
    PADLOCK_TRY(programs.emplace_back(), load_program(context, file));
    PADLOCK_TRY(options.emplace_back(), parse(command, {context, file, programs.back()}));
  }
  if (command.dry_run) {
    PADLOCK_TRY(const auto plans, plan_all(command, programs, options));
    PADLOCK_CHECK(print_reports(command, plans, plan_text));
    return ExitCode::ok;
  }
  PADLOCK_TRY(const auto reports, run_all(command, programs, options));
  PADLOCK_CHECK(print_reports(command, reports, tune_text));
  if (!command.report.empty()) PADLOCK_CHECK(write_page(command, context, programs, reports));
  return exit_code_of(reports);
}

}  // namespace

void add_tune(Subcommand& app) {
  Subcommand command = app.subcommand("tune", "measure configs on scratch buffers, write a cache");
  const auto options = std::make_shared<TuneCommand>();  // shared: the callback outlives this function
  command.files(options->programs, 1, kMostPrograms, "the programs' files");
  command.repeated("--min", options->min, "NAME=INTEGER,...: the least sizes to tune for");
  command.repeated("--opt", options->opt, "NAME=INTEGER,...: the sizes to measure at");
  command.repeated("--max", options->max, "NAME=INTEGER,...: the greatest sizes to tune for");
  command.option("--budget", options->budget, "TIME", "time for all of it: 10s, 500ms, 2m");
  command.option("--search", options->search, "KIND", "fast (what a model finds promising), full or random");
  command.option(
      "--regime", options->regime, "KIND",
      "where launches will find their tensors: warm (in the last cache), cold, both; auto: as their bytes say");
  command.option("--memory", options->memory_mib, 1, std::int64_t{1} << 30, "MIB",
                 "MiB that scratch memory may take; else half of what is free");
  command.option("--device", options->device, "DEVICE", "host or cuda:N");
  command.option("--shard", options->shard, "I/N", "only what is dealt to part I of N, from 0; see docs/tuning.md");
  command.option("--cache", options->cache, "FILE", "where what is learnt is kept; else the user's cache");
  command.option("--report", options->report, "FILE", "a page of HTML with a picture of what was found");
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
