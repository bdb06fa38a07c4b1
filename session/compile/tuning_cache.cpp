#include "session/compile/tuning_cache.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/file.h"
#include "tuner/cache/describe.h"
#include "tuner/cache/prune.h"
#include "tuner/exchange/exchange.h"

namespace padlock::session {
namespace {

/// By what it begins with: a record's line, or a database's header.
Result<bool> is_export(const std::string& path) {
  PADLOCK_TRY(const InputFile file, InputFile::open(path));
  if (file.size() == 0) return false;
  std::byte first{};
  PADLOCK_CHECK(file.read_at(0, {&first, 1}));
  return first == std::byte{'{'};
}

Result<tuner::RecordSet> read_with(const std::string& path, tuner::RecordSet (tuner::StoreFile::*read)()) {
  PADLOCK_TRY(const bool lines, is_export(path));
  if (lines) {
    PADLOCK_TRY(const std::string text, read_text_file(path, tuner::kMaxExportBytes));
    return tuner::parse_lines(text);
  }
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::snapshot));
  return (file.*read)();
}

void add(CacheEntry& entry, tuner::KeyFields fields) { entry.fields = std::move(fields); }
void add(CacheEntry& entry, tuner::Choice choice) { entry.choices.push_back(std::move(choice)); }
void add(CacheEntry& entry, tuner::Measurement measurement) { entry.measurements.push_back(std::move(measurement)); }

}  // namespace

Result<tuner::RecordSet> read_cache(const std::string& path) { return read_with(path, &tuner::StoreFile::all); }
Result<tuner::RecordSet> verify_cache(const std::string& path) { return read_with(path, &tuner::StoreFile::verify); }

Result<std::int64_t> merge_into_cache(const std::string& path, std::span<const tuner::Record> records) {
  PADLOCK_CHECK(tuner::make_cache_folder(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  return file.put(records, tuner::Conflict::keep_later);
}

Result<tuner::Synced> sync_cache(const std::string& path, const std::string& url) {
  PADLOCK_TRY(const auto exchange, tuner::CacheExchange::open(url));
  PADLOCK_CHECK(tuner::make_cache_folder(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  return tuner::sync(file, *exchange);
}

std::vector<tuner::Record> stale_records(const std::vector<tuner::Record>& records, std::string_view before) {
  tuner::KeyFields build;
  tuner::describe_build(build);
  const std::vector<tuner::Place> places = tuner::stale_places(records, build, before);
  const std::set<tuner::Place> stale(places.begin(), places.end());
  std::vector<tuner::Record> found;
  std::ranges::copy_if(records, std::back_inserter(found),
                       [&stale](const tuner::Record& record) { return stale.contains(place_of(record)); });
  return found;
}

Result<std::int64_t> erase_from_cache(const std::string& path, std::span<const tuner::Record> records) {
  PADLOCK_TRY([[maybe_unused]] const InputFile there, InputFile::open(path));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  std::vector<tuner::Place> places;
  std::ranges::transform(records, std::back_inserter(places), tuner::place_of);
  return file.erase(places);
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
