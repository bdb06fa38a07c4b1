// Measures caches of many records: how long opening one and looking a key up takes, putting exports into one, meeting
// others at an exchange, and pruning. bench_sync URL [RECORDS [PART]]; leaves its records there. PART is "look-up",
// "import", "prune" or "sync", for many records take minutes.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/statistics.h"
#include "support/stopwatch.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/store.h"
#include "tuner/exchange/sync.h"

namespace padlock::bench {
namespace {

constexpr int kOfOneKey = 240;  // records
constexpr int kNew = 100;       // records of a cache that has all and a little more

tuner::CacheKey key_of(int number) {
  return tuner::CacheKey({.program = fmt::format("{:032x}", number), .target = "host", .threads = "2"});
}

tuner::Provenance provenance() { return {.seed = 1, .date = "2026-01-31T12:00:00Z", .version = "0.1.0"}; }

/// Measurements as a tuning makes them: of 24 configs a region, some samples each; and what is chosen first of a key.
std::vector<tuner::Record> some_records(int count) {
  std::vector<tuner::Record> records;
  for (int i = 0; i < count; ++i) {
    const tuner::CacheKey key = key_of(i / kOfOneKey);
    const std::string region = fmt::format("4*B*S >= {}", 1 << (i / 24 % 10));
    const std::string config = fmt::format("vector_bytes=32,unroll=2,split=1,store=plain,task_kib={}", 1 << (i % 24));
    if (i % kOfOneKey == 0) {
      records.push_back(record_of(key));
      records.push_back(record_of(key, tuner::Choice{.region = region, .config = config, .provenance = provenance()}));
    }
    tuner::Measurement measured{.region = region,
                                .config = config,
                                .sizes = {{"B", 64}, {"S", 1000}, {"lo", 3}},
                                .median_ps = 41'200'000,
                                .noise_ps = 100'000,
                                .provenance = provenance()};
    for (int sample = 0; sample < 20; ++sample) measured.samples_ps.push_back(41'200'000 + 1000 * (sample - 10));
    records.push_back(record_of(key, std::move(measured)));
  }
  records.resize(static_cast<std::size_t>(count));
  return records;
}

/// A cache that goes with the object.
class Scratch {
 public:
  Scratch() { remove(); }
  ~Scratch() { remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<tuner::StoreFile> with(const std::vector<tuner::Record>& records) const {
    PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path_, tuner::Access::write));
    PADLOCK_CHECK(file.put(records, tuner::Conflict::replace));
    return file;
  }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((path_ + suffix).c_str());
  }
  const std::string path_ = fmt::format("/tmp/padlock_bench_sync.{}.db", ::getpid());
};

/// Times a cache of these records as programs use it: opened anew each time, and one key looked up.
Status measure_look_up(const std::vector<tuner::Record>& records) {
  constexpr int kRounds = 101;
  const Scratch scratch;
  if (const auto written = scratch.with(records); !written) return std::unexpected(written.error());
  const int keys = static_cast<int>((records.size() + kOfOneKey - 1) / kOfOneKey);
  std::vector<double> opening, looking;
  for (int i = 0; i < kRounds; ++i) {
    const tuner::CacheKey key = key_of(i * 7919 % std::max(1, keys / 2));  // those that have all of their records
    const Stopwatch opened;
    PADLOCK_TRY(const auto store, tuner::Store::open({.user_file = scratch.path()}));
    opening.push_back(opened.milliseconds());
    const Stopwatch looked;
    PADLOCK_TRY(const auto found, store->look_up(key, [](const tuner::Choice&) -> Status { return {}; }));
    looking.push_back(looked.milliseconds());
    if (!found->hit()) return internal_error("expected a choice, found none: " + found->reason);
  }
  std::ranges::sort(opening);
  std::ranges::sort(looking);
  fmt::print("{:<44} opened in {:.3f} ms, a key found in {:.3f} ms\n", fmt::format("of {} records", records.size()),
             median(opening), median(looking));
  return {};
}

/// Times an export as it goes into an empty cache.
Status measure_import(const std::vector<tuner::Record>& records) {
  const std::string text = tuner::to_lines(records);
  const Scratch scratch;
  PADLOCK_TRY(tuner::StoreFile file, scratch.with({}));
  const Stopwatch watch;
  const tuner::RowSet found = tuner::parse_rows(text);
  PADLOCK_TRY(const std::int64_t written, file.put(found.rows, tuner::Conflict::keep_later));
  fmt::print("{:<44} {:.3f} s, {} MB of text\n", fmt::format("{} records are imported", written), watch.seconds(),
             text.size() / 1'000'000);
  return {};
}

/// Times the removal of all, which are of no build.
Status measure_prune(const std::vector<tuner::Record>& records) {
  const Scratch scratch;
  PADLOCK_TRY(tuner::StoreFile file, scratch.with(records));
  const Stopwatch watch;
  PADLOCK_TRY(const tuner::Pruned pruned, file.prune({.abi = "another"}, ""));
  fmt::print("{:<44} {:.3f} s\n", fmt::format("{} records are pruned", pruned.stale.size()), watch.seconds());
  return {};
}

/// Times a cache of these records as it leaves them at a place, and caches that take them from there.
Status measure(const char* what, const std::string& url, const std::vector<tuner::Record>& records) {
  const Scratch scratch;
  PADLOCK_TRY(const auto exchange, tuner::CacheExchange::open(url));
  PADLOCK_TRY(tuner::StoreFile file, scratch.with(records));
  const Stopwatch watch;
  PADLOCK_TRY(const tuner::Synced synced, sync(file, *exchange));
  fmt::print("{:<44} {:.3f} s, {} records were new, {} problems\n", what, watch.seconds(), synced.written,
             synced.problems.size());
  return {};
}

Status measure_exchange(const std::string& url, const std::vector<tuner::Record>& records) {
  const int count = static_cast<int>(records.size());
  PADLOCK_CHECK(measure(fmt::format("{} records are left", count).c_str(), url, records));
  PADLOCK_CHECK(measure("they go into an empty cache", url, {}));
  PADLOCK_CHECK(measure("they meet a cache that has them", url, records));
  return measure(fmt::format("they meet a cache that has {} more", kNew).c_str(), url, some_records(count + kNew));
}

/// `part` is one of the parts, or all.
Status run(const std::string& url, int count, std::string_view part) {
  const auto wanted = [part](std::string_view name) { return part.empty() || part == name; };
  const std::vector<tuner::Record> records = some_records(count);
  if (wanted("look-up")) {
    PADLOCK_CHECK(measure_look_up(some_records(10)));
    PADLOCK_CHECK(measure_look_up(records));
  }
  if (wanted("import")) PADLOCK_CHECK(measure_import(records));
  if (wanted("prune")) PADLOCK_CHECK(measure_prune(records));
  if (wanted("sync")) PADLOCK_CHECK(measure_exchange(url, records));
  return {};
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // many records take minutes
  const auto done = padlock::bench::run(
      argv[1], argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 10'000, argc > 3 ? argv[3] : "");
  if (!done) fmt::print(stderr, "bench_sync: {}\n", done.error().message);
  return done ? 0 : 1;
}
