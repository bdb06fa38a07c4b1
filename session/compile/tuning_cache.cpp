#include "session/compile/tuning_cache.h"

#include <algorithm>
#include <map>
#include <utility>

#include "support/file.h"
#include "tuner/cache/describe.h"
#include "tuner/cache/prune.h"
#include "tuner/exchange/exchange.h"

namespace padlock::session {
namespace {

/// Decides by the first bytes: those of a record's line or of a database's header.
Result<bool> is_export(const std::string& path) {
  PADLOCK_TRY(const InputFile file, InputFile::open(path));
  if (file.size() == 0) return false;
  std::byte first{};
  PADLOCK_CHECK(file.read_at(0, {&first, 1}));
  return first == std::byte{'{'};
}

/// Reads an export or a cache file.
template <class Set>
Result<Set> read_with(const std::string& path, Set (*parse)(std::string_view), Set (tuner::StoreFile::*read)()) {
  PADLOCK_TRY(const bool lines, is_export(path));
  if (lines) {
    PADLOCK_TRY(const std::string text, read_text_file(path, tuner::kMaxExportBytes));
    return parse(text);
  }
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::snapshot));
  return (file.*read)();
}

tuner::KeyFields this_build() {
  tuner::KeyFields build;
  tuner::describe_build(build);
  return build;
}

void add(CacheEntry& entry, tuner::KeyFields fields) { entry.fields = std::move(fields); }
void add(CacheEntry& entry, tuner::Choice choice) { entry.choices.push_back(std::move(choice)); }
void add(CacheEntry& entry, tuner::Measurement measurement) { entry.measurements.push_back(std::move(measurement)); }

}  // namespace

Result<tuner::RecordSet> read_cache(const std::string& path) {
  return read_with(path, tuner::parse_lines, &tuner::StoreFile::all);
}
Result<tuner::RowSet> read_rows(const std::string& path) {
  PADLOCK_TRY(tuner::RowSet set, read_with(path, tuner::parse_rows, &tuner::StoreFile::rows));
  set.rows = tuner::in_order(std::move(set.rows));
  return set;
}
Result<tuner::RecordSet> verify_cache(const std::string& path) {
  return read_with(path, tuner::parse_lines, &tuner::StoreFile::verify);
}

Result<std::int64_t> merge_into_cache(const std::string& path, std::span<const tuner::Row> rows) {
  PADLOCK_CHECK(tuner::make_cache_folder(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  return file.put(rows, tuner::Conflict::keep_later);
}

Result<tuner::Synced> sync_cache(const std::string& path, const std::string& url) {
  PADLOCK_TRY(const auto exchange, tuner::CacheExchange::open(url));
  PADLOCK_CHECK(tuner::make_cache_folder(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  return tuner::sync(file, *exchange);
}

Result<tuner::Pruned> find_stale(const std::string& path, std::string_view before) {
  PADLOCK_TRY(tuner::RowSet set, read_rows(path));
  const std::vector<bool> stale = tuner::stale_rows(set.rows, this_build(), before);
  return take_stale(std::move(set), stale);
}

Result<tuner::Pruned> prune_cache(const std::string& path, std::string_view before) {
  PADLOCK_TRY([[maybe_unused]] const InputFile there, InputFile::open(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  return file.prune(this_build(), before);
}

std::vector<CacheEntry> entries_of(std::vector<tuner::Record> records) {
  std::map<std::pair<std::string, std::string>, CacheEntry> entries;
  std::ranges::sort(records, {}, tuner::place_of);
  for (tuner::Record& record : records) {
    CacheEntry& entry = entries[{record.program, record.key}];
    entry.program = record.program;
    entry.key = record.key;
    std::visit([&entry](auto& content) { add(entry, std::move(content)); }, record.content);
  }
  std::vector<CacheEntry> list;
  for (auto& [key, entry] : entries) list.push_back(std::move(entry));
  return list;
}

}  // namespace padlock::session
