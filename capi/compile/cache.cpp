#include <fmt/format.h>

#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/launch/context.h"
#include "capi/options.h"
#include "capi/text.h"
#include "session/compile/cache_json.h"
#include "session/compile/tuning_cache.h"

struct padlock_cache : padlock::capi::Counted<padlock_cache> {
  explicit padlock_cache(std::string file) : path(std::move(file)) {}
  const std::string path;
};

namespace padlock::capi {
namespace {

Result<padlock_cache*> open(const padlock_context& context, const char* path) {
  std::string file(text_or(path, ""));
  if (path == nullptr) {
    PADLOCK_TRY(file, tuner::default_cache_file());
  }
  return make<padlock_cache>(context.allocator(), 0, std::move(file));
}

/// Reads the cache by `read`. If the user's cache does not exist yet, it is empty.
template <class Read>
auto read_with(const padlock_cache& cache, const Read& read) {
  auto set = read(cache.path);
  if (set || set.error().code != Code::not_found) return set;
  const auto users = tuner::default_cache_file();
  return users && *users == cache.path ? decltype(set)(std::in_place) : std::move(set);  // nothing has been tuned
}
Result<tuner::RowSet> read(const padlock_cache& cache) { return read_with(cache, session::read_rows); }

padlock_text* lines_of(const padlock_cache& cache, const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& line : list) text += line + "\n";
  return make_text(cache.allocator(), text);
}

padlock_text* lines_of(const padlock_cache& cache, const std::vector<tuner::Row>& rows) {
  return make_text(cache.allocator(), tuner::lines_of(rows));
}

Result<padlock_text*> export_lines(const padlock_cache& cache, padlock_text** problems) {
  PADLOCK_TRY(const tuner::RowSet set, read(cache));
  Ref<padlock_text> bad;
  if (problems != nullptr) bad = Ref(lines_of(cache, set.problems));
  padlock_text* const lines = lines_of(cache, set.rows);
  if (problems != nullptr) *problems = bad.take();
  return lines;
}

Result<padlock_text*> describe(const padlock_cache& cache) {
  PADLOCK_TRY(tuner::RecordSet set, read_with(cache, session::read_cache));
  return make_text(cache.allocator(), to_json(cache.path, session::entries_of(std::move(set.records)), set.problems));
}

/// The texts of a comparison. A caller gets all or none.
struct Compared {
  padlock_text **only_here, **only_there, **changed;
};

Status compare(const padlock_cache& cache, const padlock_cache& other, const Compared& out) {
  PADLOCK_TRY(tuner::RowSet here, read(cache));
  PADLOCK_TRY(tuner::RowSet there, read(other));
  tuner::Difference found = tuner::difference(std::move(here.rows), std::move(there.rows));
  Ref only_here(lines_of(cache, found.only_left)), only_there(lines_of(cache, found.only_right));
  *out.changed = lines_of(cache, found.changed);
  *out.only_here = only_here.take();
  *out.only_there = only_there.take();
  return {};
}

Result<tuner::Pruned> prune(const padlock_cache& cache, const char* before, bool dry_run) {
  return read_with(cache, [before, dry_run](const std::string& path) {
    return (dry_run ? session::find_stale : session::prune_cache)(path, text_or(before, ""));
  });
}

Result<std::int64_t> verify(const padlock_cache& cache, padlock_text** problems) {
  PADLOCK_CHECK(require(problems, "a place for the problems"));
  PADLOCK_TRY(const tuner::RecordSet set, session::verify_cache(cache.path));
  *problems = lines_of(cache, set.problems);
  return std::ssize(set.records);
}

Result<std::int64_t> merge(const padlock_cache& cache, const padlock_cache* other) {
  PADLOCK_CHECK(require(other, "another cache"));
  PADLOCK_TRY(const tuner::RowSet set, read(*other));
  return session::merge_into_cache(cache.path, set.rows);
}

Result<std::int64_t> sync(const padlock_cache& cache, const char* url, padlock_text** problems) {
  PADLOCK_CHECK(require(url, "a URL"));
  PADLOCK_CHECK(require(problems, "a place for the problems"));
  PADLOCK_TRY(const tuner::Synced synced, session::sync_cache(cache.path, url));
  *problems = lines_of(cache, synced.problems);
  return synced.written;
}

/// The results of pruning. The caller's place of each may be null.
struct Listed {
  std::int64_t* records;
  padlock_text **removed, **problems;
};

Status prune_listed(const padlock_cache& cache, const char* before, bool dry_run, const Listed& out) {
  PADLOCK_TRY(const tuner::Pruned pruned, prune(cache, before, dry_run));
  Ref<padlock_text> removed;
  if (out.removed != nullptr) removed = Ref(lines_of(cache, pruned.stale));
  if (out.problems != nullptr) *out.problems = lines_of(cache, pruned.problems);
  if (out.removed != nullptr) *out.removed = removed.take();
  if (out.records != nullptr) *out.records = static_cast<std::int64_t>(pruned.records);
  return {};
}

Result<padlock_text*> titles(const padlock_text& lines) {
  const std::string_view text(padlock_text_data(&lines), padlock_text_size(&lines));
  PADLOCK_TRY(const std::string titles, tuner::titles_of(text));
  return make_text(lines.allocator(), titles);
}

/// Runs a function that returns a number of records. The caller's place for the number may be null.
template <class Body>
padlock_status guarded_count(const padlock_cache* cache, std::int64_t* place, padlock_error** error, Body&& body) {
  if (place != nullptr) *place = 0;
  return guarded(cache, "a cache", error, [&]() -> Status {
    PADLOCK_TRY(const std::int64_t count, body());
    if (place != nullptr) *place = count;
    return {};
  });
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Result;
using padlock::Status;

extern "C" {

PADLOCK_COUNTED_HANDLE(cache)

padlock_status padlock_cache_open(padlock_context* context, const char* path, padlock_cache** cache,
                                  padlock_error** error) {
  return guarded_handle(context, "a context", cache, error, [&] { return open(*context, path); });
}

const char* padlock_cache_path(const padlock_cache* cache) { return cache != nullptr ? cache->path.c_str() : ""; }

padlock_status padlock_cache_export(const padlock_cache* cache, padlock_text** lines, padlock_text** problems,
                                    padlock_error** error) {
  if (problems != nullptr) *problems = nullptr;
  return guarded_handle(cache, "a cache", lines, error, [&] { return export_lines(*cache, problems); });
}

padlock_status padlock_cache_describe(const padlock_cache* cache, padlock_text** json, padlock_error** error) {
  return guarded_handle(cache, "a cache", json, error, [&] { return describe(*cache); });
}

padlock_status padlock_cache_compare(const padlock_cache* cache, const padlock_cache* other, padlock_text** only_here,
                                     padlock_text** only_there, padlock_text** changed, padlock_error** error) {
  for (padlock_text** const place : {only_here, only_there, changed})
    if (place != nullptr) *place = nullptr;
  return guarded(cache, "a cache", error, [&]() -> Status {
    PADLOCK_CHECK(require(other, "another cache"));
    for (padlock_text** const place : {only_here, only_there, changed})
      PADLOCK_CHECK(require(place, "a place for the lines"));
    return compare(*cache, *other, {only_here, only_there, changed});
  });
}

padlock_status padlock_cache_stale(const padlock_cache* cache, const char* before, padlock_text** lines,
                                   padlock_error** error) {
  return guarded_handle(cache, "a cache", lines, error, [&]() -> Result<padlock_text*> {
    PADLOCK_TRY(const padlock::tuner::Pruned found, prune(*cache, before, true));
    return lines_of(*cache, found.stale);
  });
}

padlock_status padlock_cache_verify(const padlock_cache* cache, int64_t* records, padlock_text** problems,
                                    padlock_error** error) {
  if (problems != nullptr) *problems = nullptr;
  return guarded_count(cache, records, error, [&] { return verify(*cache, problems); });
}

padlock_status padlock_cache_merge(padlock_cache* cache, const padlock_cache* other, int64_t* written,
                                   padlock_error** error) {
  return guarded_count(cache, written, error, [&] { return merge(*cache, other); });
}

padlock_status padlock_cache_sync(padlock_cache* cache, const char* url, int64_t* written, padlock_text** problems,
                                  padlock_error** error) {
  if (problems != nullptr) *problems = nullptr;
  return guarded_count(cache, written, error, [&] { return sync(*cache, url, problems); });
}

padlock_status padlock_cache_prune(padlock_cache* cache, const char* before, int64_t* removed, padlock_error** error) {
  return guarded_count(cache, removed, error, [&]() -> Result<std::int64_t> {
    PADLOCK_TRY(const padlock::tuner::Pruned pruned, prune(*cache, before, false));
    return std::ssize(pruned.stale);
  });
}

padlock_status padlock_cache_prune_listed(padlock_cache* cache, const char* before, int32_t dry_run, int64_t* records,
                                          padlock_text** removed, padlock_text** problems, padlock_error** error) {
  if (records != nullptr) *records = 0;
  for (padlock_text** const place : {removed, problems})
    if (place != nullptr) *place = nullptr;
  return guarded(cache, "a cache", error,
                 [&] { return prune_listed(*cache, before, dry_run != 0, {records, removed, problems}); });
}

padlock_status padlock_cache_titles(const padlock_text* lines, padlock_text** titles_out, padlock_error** error) {
  return guarded_handle(lines, "lines", titles_out, error, [&] { return titles(*lines); });
}

}  // extern "C"
