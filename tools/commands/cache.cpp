#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "support/json_writer.h"
#include "tools/commands/cache_command.h"
#include "tools/commands/open.h"
#include "tools/commands/report.h"
#include "tools/text/cache_text.h"

namespace padlock::tools {
namespace {

/// Describes the records of --cache, and warns of damaged ones.
Outcome<JsonValue> described(const lib::Cache& cache) {
  PADLOCK_TRY(const auto json, or_fail(ExitCode::cache, cache.describe()));
  PADLOCK_TRY(auto report, JsonValue::parse(json.view()));
  std::vector<std::string> problems;
  for (const JsonValue& problem : report["problems"].items()) problems.push_back(problem.text());
  warn_of_problems(cache, problems);
  return report;
}

/// Returns the keys that --program names.
CacheKeys keys_of(const JsonValue& report, const CacheOptions& options) {
  CacheKeys keys;
  for (const JsonValue& key : report["keys"].items())
    if (key["program"].text().starts_with(options.program)) keys.push_back(&key);
  return keys;
}

/// Prints keys, as text and as JSON.
Outcome<ExitCode> print_keys(const CacheOptions& options, std::string (*text_of)(const CacheKeys&),
                             std::string (*json_of)(const std::string&, const CacheKeys&)) {
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  PADLOCK_TRY(const auto report, described(cache));
  const CacheKeys keys = keys_of(report, options);
  return print(options.json, json_of(cache.path(), keys), text_of(keys));
}

Outcome<ExitCode> cache_list(const CacheOptions& options) { return print_keys(options, list_text, list_json); }
Outcome<ExitCode> cache_show(const CacheOptions& options) { return print_keys(options, show_text, show_json); }

Outcome<ExitCode> cache_report(const CacheOptions& options) {
  PADLOCK_TRY(const auto context, open_context());
  if (!options.device.empty()) PADLOCK_CHECK(check_device(context, options.device));
  std::vector<lib::Program> programs;
  for (const std::string& file : options.files) {
    PADLOCK_TRY(auto program, load_program(context, file));
    programs.push_back(std::move(program));
  }
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  PADLOCK_TRY(const auto report, described(cache));
  PADLOCK_TRY(const auto regions, report_regions(context, keys_of(report, options), programs, options.device));
  PADLOCK_CHECK(
      write_text(options.output.empty() ? kStandardOutput : options.output, report_page(cache.path(), regions)));
  return ExitCode::ok;
}

Outcome<ExitCode> cache_verify(const CacheOptions& options) {
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  PADLOCK_TRY(const auto verified, or_fail(ExitCode::cache, cache.verify()));
  const std::vector<std::string> problems = split_lines(verified.problems.view());
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "cache verify").member("cache", cache.path());
  json.member("records", verified.records).member("problems", problems).end_object();
  std::string text(verified.problems.view());
  text += fmt::format("{}: {} good records, {} problems\n", cache.path(), verified.records, problems.size());
  const auto printed = print(options.json, std::move(json).take(), text);
  return printed && !problems.empty() ? ExitCode::cache : printed;
}

Outcome<ExitCode> cache_export(const CacheOptions& options) {
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  PADLOCK_TRY(const auto lines, or_fail(ExitCode::cache, cache.export_lines()));
  warn_of_problems(cache, split_lines(lines.problems.view()));
  const std::string destination = options.output.empty() ? kStandardOutput : options.output;
  PADLOCK_CHECK(write_text(destination, std::string(lines.records.view())));
  return ExitCode::ok;
}

/// An action of `cache`: its name, its options besides --cache and --json, and its examples.
struct Entry {
  const char* name;
  const char* help;
  Outcome<ExitCode> (*run)(const CacheOptions&);
  int least_files, most_files;
  const char* first_example;
  const char* second_example;
};

constexpr int kAny = 1000;
constexpr Entry kEntries[] = {
    {"list", "one line for each program and machine that the cache knows", cache_list, 0, 0,
     "padlock cache list --cache=examples/tuning.jsonl", "padlock cache list --cache=examples/tuning.jsonl --json"},
    {"show", "every field, choice and measurement", cache_show, 0, 0,
     "padlock cache show --cache=examples/tuning.jsonl", "padlock cache show --cache=examples/tuning.jsonl --json"},
    {"report", "write a page of HTML with a picture of each region's configs", cache_report, 0, kAny,
     "padlock cache report --cache=examples/tuning.jsonl",
     "padlock cache report examples/pad_relu.pad --cache=examples/tuning.jsonl --output=/dev/stdout"},
    {"verify", "check every record and every page", cache_verify, 0, 0,
     "padlock cache verify --cache=examples/tuning.jsonl", "padlock cache verify --cache=examples/tuning.jsonl --json"},
    {"merge", "put the records of other caches into this one", cache_merge, 1, kAny,
     "padlock cache merge examples/tuning.jsonl --cache=/tmp/padlock_tuning.db",
     "padlock cache merge examples/tuning.jsonl --cache=/tmp/padlock_tuning.db --json"},
    {"sync", "exchange records with other machines' caches through a folder or a server", cache_sync, 1, 1,
     "padlock cache sync file:///tmp/padlock_fleet --cache=/tmp/padlock_tuning.db",
     "padlock cache sync file:///tmp/padlock_fleet --cache=/tmp/padlock_tuning.db --json"},
    {"diff", "what two caches do not have in common", cache_diff, 2, 2,
     "padlock cache diff examples/tuning.jsonl examples/tuning.jsonl",
     "padlock cache diff examples/tuning.jsonl examples/tuning.jsonl --json"},
    {"prune", "remove what serves nobody: other builds' records, and with --before old ones", cache_prune, 0, 0,
     "padlock cache prune --cache=examples/tuning.jsonl --dry-run",
     "padlock cache prune --cache=examples/tuning.jsonl --dry-run --before=2026-01-31"},
    {"export", "write the records as lines of JSON, in a fixed order", cache_export, 0, 0,
     "padlock cache export --cache=examples/tuning.jsonl",
     "padlock cache export --cache=examples/tuning.jsonl --output=/dev/stdout"},
    {"import", "put the records of exports into the cache", cache_import, 1, kAny,
     "padlock cache import examples/tuning.jsonl --cache=/tmp/padlock_tuning.db",
     "padlock cache import examples/tuning.jsonl --cache=/tmp/padlock_tuning.db --json"},
};

const char* files_of(const std::string& name) {
  if (name == "sync") return "file:///FOLDER or redis://HOST:PORT";
  return name == "report" ? "programs, whose names, bytes and default configs are shown" : "caches or exports";
}

void add_entry(Subcommand& cache, const Entry& entry) {
  Subcommand command = cache.subcommand(entry.name, entry.help);
  const auto options = std::make_shared<CacheOptions>();  // shared: the callback outlives this function
  const std::string name = entry.name;
  if (entry.most_files > 0) command.files(options->files, entry.least_files, entry.most_files, files_of(name));
  if (name != "diff") command.option("--cache", options->cache, "FILE", "the cache; without it the user's own");
  if (name == "list" || name == "show" || name == "report")
    command.option("--program", options->program, "HEX", "only programs whose fingerprint begins so");
  if (name == "prune") {
    command.option("--before", options->before, "YYYY-MM-DD", "also what is older");
    command.flag("--dry-run", options->dry_run, "only say what would go");
  }
  if (name == "report")
    command.option("--device", options->device, "DEVICE", "time a plain copy there: host or cuda:N");
  if (name == "export" || name == "report")
    command.option("--output", options->output, "FILE", "the file; without it standard output");
  else
    command.json(options->json);
  command.examples(entry.first_example, entry.second_example);
  command.runs([options, run = entry.run] { return run(*options); });
}

}  // namespace

Outcome<lib::Cache> open_cache(const std::string& path) {
  PADLOCK_TRY(const auto context, open_context());
  return or_fail(ExitCode::cache, context.cache(path));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void warn_of_problems(const lib::Cache& cache, const std::vector<std::string>& problems) {
  if (!problems.empty())
    say(fmt::format("padlock: warning: {}: {} bad records are left out, the first: {}\n", cache.path(), problems.size(),
                    problems.front()));
}

Outcome<CacheLines> read_lines(const lib::Cache& cache, ExitCode code) {
  const auto lines = cache.export_lines();
  if (!lines) return fail(code, lines.error());
  CacheLines read{split_lines(lines->records.view()), split_lines(lines->problems.view())};
  warn_of_problems(cache, read.problems);
  return read;
}

void add_cache(Subcommand& app) {
  Subcommand cache = app.subcommand("cache", "look at and change what tuning has learnt");
  cache.require_subcommand();
  cache.examples(kEntries[0].first_example, kEntries[1].first_example);
  for (const Entry& entry : kEntries) add_entry(cache, entry);
}

}  // namespace padlock::tools
