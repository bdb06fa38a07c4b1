#include "bench/times/cache_times.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "session/compile/context.h"
#include "session/compile/tuning_cache.h"

namespace padlock::bench {
namespace {

using tuner::CacheKey;
using tuner::Record;

constexpr std::size_t kKeys = 2000;  // with a choice and three measurements each: 10 000 records

/// A folder for one file, which goes with it.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> create() {
    std::string path = "/tmp/padlock_bench_XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return unavailable("no folder can be made in /tmp");
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    if (path_.empty()) return;
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((file() + suffix).c_str());
    rmdir(path_.c_str());
  }
  [[nodiscard]] std::string file() const { return path_ + "/tuning.db"; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

CacheKey key(std::size_t number) {
  tuner::KeyFields fields;
  fields.program = fmt::format("{:032x}", number);
  fields.target = "host";
  fields.cpu = "some-cpu " + std::string(1500, '+');  // a list of features is that long
  fields.date = "2026-01-31T12:00:00Z";
  return CacheKey(fields);
}

std::vector<Record> records_of(const CacheKey& key) {
  const tuner::Provenance provenance{.seed = 1, .date = "2026-01-31T12:00:00Z", .version = "0.1.0"};
  const std::string config = "vector_bytes=32,unroll=2,split=1,store=plain,task_kib=";
  std::vector<Record> records = {record_of(key), record_of(key, tuner::Choice{"S >= 1024", config + "64", provenance})};
  for (const char* task : {"64", "256", "1024"})
    records.push_back(record_of(key, tuner::Measurement{.region = "S >= 1024",
                                                        .config = config + task,
                                                        .sizes = {{"B", 4}, {"S", 4096}},
                                                        .samples_ps = std::vector<std::int64_t>(31, 1'000'000),
                                                        .median_ps = 1'000'000,
                                                        .noise_ps = 1000,
                                                        .provenance = provenance}));
  return records;
}

std::unique_ptr<tuner::Store> open_store(const std::string& file) {
  auto store = tuner::Store::open({.mode = tuner::Mode::require, .user_file = file});
  if (!store) std::abort();
  return *std::move(store);
}

void hit(tuner::Store& store, const CacheKey& key) {
  if (!store.look_up(key, [](const tuner::Choice&) { return Status(); })) std::abort();
}

/// Looks up a key that it has not looked up before, over and over: a store that knows them all makes room for another.
class FirstLookUps {
 public:
  FirstLookUps(std::string file, const std::vector<CacheKey>& keys)
      : file_(std::move(file)), keys_(keys), store_(open_store(file_)) {}
  void next() {
    if (number_ == keys_.size()) {
      store_ = open_store(file_);
      number_ = 0;
    }
    hit(*store_, keys_[number_++]);
  }

 private:
  std::string file_;
  const std::vector<CacheKey>& keys_;  // borrowed
  std::unique_ptr<tuner::Store> store_;
  std::size_t number_ = 0;
};

}  // namespace

Result<Comparison> cache_look_ups(const TimingOptions& options) {
  PADLOCK_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  std::vector<CacheKey> keys;
  std::vector<Record> records;
  for (std::size_t i = 0; i < kKeys; ++i) {
    keys.push_back(key(i));
    for (Record& record : records_of(keys.back())) records.push_back(std::move(record));
  }
  std::vector<tuner::Row> rows;
  for (const tuner::Record& record : records) rows.emplace_back(record, tuner::to_line(record));
  PADLOCK_TRY([[maybe_unused]] const std::int64_t written, session::merge_into_cache(folder.file(), rows));
  const auto known = open_store(folder.file());
  FirstLookUps first(folder.file(), keys);
  std::size_t opened = 0;
  return compare(
      fmt::format("look-ups that hit, in a cache of {} records", records.size()), 0,
      {{"in memory", [&] { hit(*known, keys[7]); }},
       {"from the file", [&] { first.next(); }},
       {"opening the file, and one from it", [&] { hit(*open_store(folder.file()), keys[opened++ % keys.size()]); }}},
      options);
}

}  // namespace padlock::bench
