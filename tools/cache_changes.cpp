#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "support/json_writer.h"
#include "tools/cache_command.h"
#include "tools/cache_text.h"

namespace padlock::tools {
namespace {

JsonWriter begin_json(const char* command, const std::string& cache) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", command).member("cache", cache);
  return json;
}

std::vector<std::string> titles(const std::vector<api::Record>& records) {
  std::vector<std::string> list;
  for (const api::Record& record : records) list.push_back(record_title(record));
  return list;
}

std::string lines_of(const char* sign, const std::vector<api::Record>& records) {
  std::string text;
  for (const std::string& title : titles(records)) text += fmt::format("{} {}\n", sign, title);
  return text;
}

bool is_date(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00";
  const auto fits = [](char c, char shape) { return shape == '0' ? c >= '0' && c <= '9' : c == shape; };
  return std::ranges::equal(text, kShape, fits);
}

/// All that the files hold goes into the cache. One that has bad records gives its good ones, and the command exits
/// as for a cache that is of no use.
Outcome<ExitCode> take_in(const char* command, const CacheOptions& options) {
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  std::vector<api::Record> records;
  std::size_t problems = 0;
  for (const std::string& file : options.files) {
    auto set = read_records(file, ExitCode::file);
    if (!set) return std::unexpected(set.error());
    problems += set->problems.size();
    records.insert(records.end(), set->records.begin(), set->records.end());
  }
  const auto written = api::merge_into_cache(*path, records);
  if (!written) return fail(ExitCode::cache, written.error());
  JsonWriter json = begin_json(command, *path);
  json.member("read", records.size()).member("written", *written).member("problems", problems).end_object();
  const std::string text = fmt::format("{}: {} of {} records were new\n", *path, *written, records.size());
  const auto printed = print(options, text, std::move(json).take());
  return printed && problems > 0 ? ExitCode::cache : printed;
}

}  // namespace

Outcome<ExitCode> cache_merge(const CacheOptions& options) { return take_in("cache merge", options); }
Outcome<ExitCode> cache_import(const CacheOptions& options) { return take_in("cache import", options); }

Outcome<ExitCode> cache_diff(const CacheOptions& options) {
  auto left = read_records(options.files[0]), right = read_records(options.files[1]);
  if (!left) return std::unexpected(left.error());
  if (!right) return std::unexpected(right.error());
  const tuner::Difference found = tuner::difference(std::move(left->records), std::move(right->records));
  JsonWriter json = begin_json("cache diff", options.files[0]);
  json.member("other", options.files[1]).member("only_left", titles(found.only_left));
  json.member("only_right", titles(found.only_right)).member("changed", titles(found.changed)).end_object();
  std::string text = lines_of("-", found.only_left) + lines_of("+", found.only_right) + lines_of("~", found.changed);
  if (text.empty()) text = "no difference\n";
  return print(options, text, std::move(json).take());
}

Outcome<ExitCode> cache_prune(const CacheOptions& options) {
  if (!options.before.empty() && !is_date(options.before))
    return fail(ExitCode::usage, fmt::format("expected --before as YYYY-MM-DD, found '{}'", options.before));
  const auto path = cache_path(options);
  if (!path) return std::unexpected(path.error());
  const auto set = read_records(*path);
  if (!set) return std::unexpected(set.error());
  const std::vector<api::Record> stale = api::stale_records(set->records, options.before);
  std::int64_t erased = 0;
  if (!options.dry_run) {
    const auto done = api::erase_from_cache(*path, stale);
    if (!done) return fail(ExitCode::cache, done.error());
    erased = *done;
  }
  JsonWriter json = begin_json("cache prune", *path);
  json.member("stale", titles(stale)).member("erased", erased).end_object();
  const std::string text =
      lines_of("-", stale) + fmt::format("{}: {} of {} records {}\n", *path, stale.size(), set->records.size(),
                                         options.dry_run ? "would go" : "are gone");
  return print(options, text, std::move(json).take());
}

}  // namespace padlock::tools
