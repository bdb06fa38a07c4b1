#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "support/json_writer.h"
#include "tools/commands/cache_command.h"
#include "tools/text/cache_text.h"
#include "tools/text/waiting.h"

namespace padlock::tools {
namespace {

JsonWriter begin_json(const char* command, const std::string& cache) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", command).member("cache", cache);
  return json;
}

/// Returns a title for each line's record.
Outcome<std::vector<std::string>> titles(const lib::Text& lines) {
  PADLOCK_TRY(const auto list, or_fail(ExitCode::internal, lib::Cache::titles(lines)));
  return split_lines(list.view());
}

std::string lines_of(const char* sign, const std::vector<std::string>& titles) {
  std::string text;
  for (const std::string& title : titles) text += fmt::format("{} {}\n", sign, title);
  return text;
}

bool is_date(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00";
  const auto fits = [](char c, char shape) { return shape == '0' ? c >= '0' && c <= '9' : c == shape; };
  return std::ranges::equal(text, kShape, fits);
}

/// Adds the records of all files to the cache, once all files can be read. A file with bad records gives its good ones,
/// and the command then exits as for an unusable cache.
Outcome<ExitCode> take_in(const char* command, const CacheOptions& options) {
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  std::vector<lib::Cache> files;
  std::size_t records = 0, problems = 0;
  for (const std::string& name : options.files) {
    PADLOCK_TRY(const auto file, open_cache(name));
    PADLOCK_TRY(const auto lines, read_lines(file, ExitCode::file));
    records += lines.records.size();
    problems += lines.problems.size();
    files.push_back(file);
  }
  std::int64_t written = 0;
  for (const lib::Cache& file : files) {
    const Waiting waiting(
        fmt::format("taking in file {} of {}, {} records in all", 1 + (&file - files.data()), files.size(), records));
    PADLOCK_TRY(const auto merged, or_fail(ExitCode::cache, cache.merge(file)));
    written += merged;
  }
  JsonWriter json = begin_json(command, cache.path());
  json.member("read", records).member("written", written).member("problems", problems).end_object();
  const std::string text = fmt::format("{}: {} of {} records were new\n", cache.path(), written, records);
  const auto printed = print(options.json, std::move(json).take(), text);
  return printed && problems > 0 ? ExitCode::cache : printed;
}

/// Returns the URL without its password.
std::string without_password(const std::string& url) {
  const std::size_t begin = url.find("//"), at = url.rfind('@');
  if (!url.starts_with("redis://") || at == std::string::npos) return url;
  return fmt::format("{}...{}", url.substr(0, begin + 2), url.substr(at));
}

}  // namespace

Outcome<ExitCode> cache_merge(const CacheOptions& options) { return take_in("cache merge", options); }
Outcome<ExitCode> cache_import(const CacheOptions& options) { return take_in("cache import", options); }

/// Syncs. A failed exchange leaves the cache as it was. The command warns of it, and its exit code says that the sync
/// did not succeed.
Outcome<ExitCode> cache_sync(const CacheOptions& options) {
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  std::optional<Waiting> waiting(std::in_place,
                                 fmt::format("exchanging records with {}", without_password(options.files[0])));
  const auto synced = cache.sync(options.files[0]);
  waiting.reset();
  if (!synced) {
    const padlock_status status = synced.error().status();
    const bool is_url = status == PADLOCK_INVALID_ARGUMENT || status == PADLOCK_UNIMPLEMENTED;
    return fail(is_url ? ExitCode::usage : ExitCode::cache, synced.error());
  }
  const std::vector<std::string> problems = split_lines(synced->problems.view());
  for (const std::string& problem : problems) say(fmt::format("padlock: warning: {}\n", problem));
  JsonWriter json = begin_json("cache sync", cache.path());
  json.member("url", without_password(options.files[0]))
      .member("written", synced->written)
      .member("problems", problems)
      .end_object();
  std::string text = fmt::format("{}: {} records were new\n", cache.path(), synced->written);
  if (!problems.empty()) text += fmt::format("not all was exchanged with {}\n", without_password(options.files[0]));
  const auto printed = print(options.json, std::move(json).take(), text);
  return printed && !problems.empty() ? ExitCode::cache : printed;
}

Outcome<ExitCode> cache_diff(const CacheOptions& options) {
  PADLOCK_TRY(const auto left, open_cache(options.files[0]));
  PADLOCK_TRY(const auto right, open_cache(options.files[1]));
  for (const lib::Cache* cache : {&left, &right}) PADLOCK_CHECK(read_lines(*cache));
  PADLOCK_TRY(const auto found, or_fail(ExitCode::cache, left.compare(right)));
  const auto only_left = titles(found.only_here), only_right = titles(found.only_there);
  const auto changed = titles(found.changed);
  for (const auto* list : {&only_left, &only_right, &changed})
    if (!*list) return std::unexpected(list->error());
  JsonWriter json = begin_json("cache diff", options.files[0]);
  json.member("other", options.files[1]).member("only_left", *only_left);
  json.member("only_right", *only_right).member("changed", *changed).end_object();
  std::string text = lines_of("-", *only_left) + lines_of("+", *only_right) + lines_of("~", *changed);
  if (text.empty()) text = "no difference\n";
  return print(options.json, std::move(json).take(), text);
}

Outcome<ExitCode> cache_prune(const CacheOptions& options) {
  if (!options.before.empty() && !is_date(options.before))
    return fail(ExitCode::usage, fmt::format("expected --before as YYYY-MM-DD, found '{}'", options.before));
  PADLOCK_TRY(const auto cache, open_cache(options.cache));
  PADLOCK_TRY(const auto pruned, or_fail(ExitCode::cache, cache.prune_listed(options.before, options.dry_run)));
  warn_of_problems(cache, split_lines(pruned.problems.view()));
  PADLOCK_TRY(const auto stale, titles(pruned.removed));
  JsonWriter json = begin_json("cache prune", cache.path());
  json.member("stale", stale).member("erased", options.dry_run ? 0 : stale.size()).end_object();
  const std::string text =
      lines_of("-", stale) + fmt::format("{}: {} of {} records {}\n", cache.path(), stale.size(), pruned.records,
                                         options.dry_run ? "would go" : "are gone");
  return print(options.json, std::move(json).take(), text);
}

}  // namespace padlock::tools
