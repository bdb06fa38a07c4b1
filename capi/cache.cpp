#include <fmt/format.h>

#include <string>

#include "api/tuning_cache.h"
#include "capi/context.h"
#include "capi/error.h"
#include "capi/text.h"

struct padlock_cache : padlock::capi::Counted<padlock_cache> {
  explicit padlock_cache(std::string file) : path(std::move(file)) {}
  const std::string path;
};

namespace padlock::capi {
namespace {

Result<padlock_cache*> open(const padlock_context& context, const char* path) {
  std::string file = path != nullptr ? path : "";
  if (path == nullptr) {
    PADLOCK_TRY(file, api::default_cache_file());
  }
  return make<padlock_cache>(context.allocator(), 0, std::move(file));
}

Status verify(const padlock_cache& cache, std::int64_t& count, padlock_text** problems) {
  PADLOCK_TRY(const api::RecordSet set, api::verify_cache(cache.path));
  std::string text;
  for (const std::string& problem : set.problems) text += problem + "\n";
  *problems = make_text(cache.allocator(), text);
  count = std::ssize(set.records);
  return {};
}

Status merge(const padlock_cache& cache, const padlock_cache& other, std::int64_t& written) {
  PADLOCK_TRY(const api::RecordSet set, api::read_cache(other.path));
  PADLOCK_TRY(written, api::merge_into_cache(cache.path, set.records));
  return {};
}

Status prune(const padlock_cache& cache, const char* before, std::int64_t& removed) {
  PADLOCK_TRY(const api::RecordSet set, api::read_cache(cache.path));
  const std::vector<api::Record> stale = api::stale_records(set.records, before != nullptr ? before : "");
  PADLOCK_TRY(removed, api::erase_from_cache(cache.path, stale));
  return {};
}

/// A number that a caller may not want.
void give(std::int64_t* place, std::int64_t value) {
  if (place != nullptr) *place = value;
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
  return guarded_handle(allocator_of(context), cache, error, [&]() -> Result<padlock_cache*> {
    PADLOCK_CHECK(require(context, "a context"));
    return open(*context, path);
  });
}

const char* padlock_cache_path(const padlock_cache* cache) { return cache != nullptr ? cache->path.c_str() : ""; }

padlock_status padlock_cache_export(const padlock_cache* cache, padlock_text** lines, padlock_error** error) {
  return guarded_handle(allocator_of(cache), lines, error, [&]() -> Result<padlock_text*> {
    PADLOCK_CHECK(require(cache, "a cache"));
    PADLOCK_TRY(padlock::api::RecordSet set, padlock::api::read_cache(cache->path));
    return make_text(cache->allocator(), padlock::tuner::to_lines(std::move(set.records)));
  });
}

padlock_status padlock_cache_verify(const padlock_cache* cache, int64_t* records, padlock_text** problems,
                                    padlock_error** error) {
  if (problems != nullptr) *problems = nullptr;
  give(records, 0);
  return guarded(allocator_of(cache), error, [&]() -> Status {
    PADLOCK_CHECK(require(cache, "a cache"));
    PADLOCK_CHECK(require(problems, "a place for the problems"));
    std::int64_t count = 0;
    PADLOCK_CHECK(verify(*cache, count, problems));
    give(records, count);
    return {};
  });
}

padlock_status padlock_cache_merge(padlock_cache* cache, const padlock_cache* other, int64_t* written,
                                   padlock_error** error) {
  give(written, 0);
  return guarded(allocator_of(cache), error, [&]() -> Status {
    PADLOCK_CHECK(require(cache, "a cache"));
    PADLOCK_CHECK(require(other, "another cache"));
    std::int64_t count = 0;
    PADLOCK_CHECK(merge(*cache, *other, count));
    give(written, count);
    return {};
  });
}

padlock_status padlock_cache_prune(padlock_cache* cache, const char* before, int64_t* removed, padlock_error** error) {
  give(removed, 0);
  return guarded(allocator_of(cache), error, [&]() -> Status {
    PADLOCK_CHECK(require(cache, "a cache"));
    std::int64_t count = 0;
    PADLOCK_CHECK(prune(*cache, before, count));
    give(removed, count);
    return {};
  });
}

}  // extern "C"
