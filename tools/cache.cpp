#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "support/json_writer.h"
#include "tools/cache_command.h"
#include "tools/cache_text.h"

namespace padlock::tools {
namespace {

/// The keys of --cache that --program names.
Outcome<std::vector<api::CacheEntry>> entries(const std::string& path, const CacheOptions& options) {
  auto set = read_records(path);
  if (!set) return std::unexpected(set.error());
  std::vector<api::CacheEntry> list = api::entries_of(std::move(set->records));
  std::erase_if(list, [&](const api::CacheEntry& entry) { return !entry.program.starts_with(options.program); });
  return list;
}

Outcome<ExitCode> cache_list(const CacheOptions& options) {
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  const auto list = entries(*path, options);
  if (!list) return std::unexpected(list.error());
  return print(options, list_text(*list), list_json(*path, *list));
}

Outcome<ExitCode> cache_show(const CacheOptions& options) {
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  const auto list = entries(*path, options);
  if (!list) return std::unexpected(list.error());
  return print(options, show_text(*list), show_json(*path, *list));
}

Outcome<ExitCode> cache_verify(const CacheOptions& options) {
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  const auto set = api::verify_cache(*path);
  if (!set) return fail(ExitCode::cache, set.error());
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "cache verify").member("cache", *path);
  json.member("records", set->records.size()).member("problems", set->problems).end_object();
  std::string text;
  for (const std::string& problem : set->problems) text += problem + '\n';
  text += fmt::format("{}: {} good records, {} problems\n", *path, set->records.size(), set->problems.size());
  const auto printed = print(options, text, std::move(json).take());
  return printed && !set->problems.empty() ? ExitCode::cache : printed;
}

Outcome<ExitCode> cache_export(const CacheOptions& options) {
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  auto set = read_records(*path);
  if (!set) return std::unexpected(set.error());
  const std::string destination = options.output.empty() ? kStandardOutput : options.output;
  if (auto written = write_text(destination, tuner::to_lines(std::move(set->records))); !written)
    return std::unexpected(written.error());
  return ExitCode::ok;
}

/// An action of `cache`: what it is called, which options it has besides --cache and --json, and its examples.
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
    {"verify", "check every record and every page", cache_verify, 0, 0,
     "padlock cache verify --cache=examples/tuning.jsonl", "padlock cache verify --cache=examples/tuning.jsonl --json"},
    {"merge", "put the records of other caches into this one", cache_merge, 1, kAny,
     "padlock cache merge examples/tuning.jsonl --cache=/tmp/padlock_tuning.db",
     "padlock cache merge examples/tuning.jsonl --cache=/tmp/padlock_tuning.db --json"},
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

void add_entry(Subcommand& cache, const Entry& entry) {
  Subcommand command = cache.subcommand(entry.name, entry.help);
  const auto options = std::make_shared<CacheOptions>();  // shared: the callback outlives this function
  const std::string name = entry.name;
  if (entry.most_files > 0) command.files(options->files, entry.least_files, entry.most_files, "caches or exports");
  if (name != "diff") command.option("--cache", options->cache, "FILE", "the cache; without it the user's own");
  if (name == "list" || name == "show")
    command.option("--program", options->program, "HEX", "only programs whose fingerprint begins so");
  if (name == "prune") {
    command.option("--before", options->before, "YYYY-MM-DD", "also what is older");
    command.flag("--dry-run", options->dry_run, "only say what would go");
  }
  if (name == "export")
    command.option("--output", options->output, "FILE", "the file; without it standard output");
  else
    command.json(options->json);
  command.examples(entry.first_example, entry.second_example);
  command.runs([options, run = entry.run] { return run(*options); });
}

}  // namespace

Outcome<std::string> cache_path(const CacheOptions& options) {
  if (!options.cache.empty()) return options.cache;
  auto path = api::default_cache_file();
  if (!path) return fail(ExitCode::cache, path.error());
  return *std::move(path);
}

Outcome<api::RecordSet> read_records(const std::string& path, ExitCode code) {
  auto set = api::read_cache(path);
  const auto user_file = api::default_cache_file();
  const bool not_there = !set && set.error().code == Code::not_found;
  if (not_there && user_file && *user_file == path) return api::RecordSet{};  // nothing was tuned so far
  if (!set) return fail(code, set.error());
  if (!set->problems.empty())
    fmt::print(stderr, "padlock: warning: {}: {} bad records are left out, the first: {}\n", path, set->problems.size(),
               set->problems.front());
  return *std::move(set);
}

Outcome<ExitCode> print(const CacheOptions& options, const std::string& text, const std::string& json) {
  if (!options.json.empty())
    if (auto written = write_text(options.json, json); !written) return std::unexpected(written.error());
  if (options.json != kStandardOutput)
    if (auto written = write_text(kStandardOutput, text); !written) return std::unexpected(written.error());
  return ExitCode::ok;
}

void add_cache(Subcommand& app) {
  Subcommand cache = app.subcommand("cache", "look at and change what tuning has learnt");
  cache.require_subcommand();
  cache.examples(kEntries[0].first_example, kEntries[1].first_example);
  for (const Entry& entry : kEntries) add_entry(cache, entry);
}

}  // namespace padlock::tools
