// Measures how long caches take to meet at an exchange: bench_sync URL [RECORDS]. Leaves its records there.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/stopwatch.h"
#include "tuner/cache/sync.h"

namespace padlock::bench {
namespace {

/// Measurements as a tuning makes them: of 24 configs a region, some samples each.
std::vector<tuner::Record> some_records(int count) {
  std::vector<tuner::Record> records;
  for (int i = 0; i < count; ++i) {
    const tuner::CacheKey key({.program = fmt::format("{:032x}", i / 240), .target = "host", .threads = "2"});
    if (i % 240 == 0) records.push_back(record_of(key));
    tuner::Measurement measured{
        .region = fmt::format("4*B*S >= {}", 1 << (i / 24 % 10)),
        .config = fmt::format("vector_bytes=32,unroll=2,split=1,store=plain,task_kib={}", 1 << (i % 24)),
        .sizes = {{"B", 64}, {"S", 1000}, {"lo", 3}},
        .median_ps = 41'200'000,
        .noise_ps = 100'000,
        .provenance = {.seed = 1, .date = "2026-01-31T12:00:00Z", .version = "0.1.0"}};
    for (int sample = 0; sample < 20; ++sample) measured.samples_ps.push_back(41'200'000 + 1000 * (sample - 10));
    records.push_back(record_of(key, std::move(measured)));
  }
  records.resize(static_cast<std::size_t>(count));
  return records;
}

/// Times a cache of these records as it leaves them at a place, and caches that take them from there.
Status measure(const char* what, const std::string& url, const std::vector<tuner::Record>& records) {
  const std::string path = fmt::format("/tmp/padlock_bench_sync.{}.db", ::getpid());
  for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((path + suffix).c_str());
  PADLOCK_TRY(const auto exchange, tuner::CacheExchange::open(url));
  PADLOCK_TRY(tuner::StoreFile file, tuner::StoreFile::open(path, tuner::Access::write));
  PADLOCK_CHECK(file.put(records, tuner::Conflict::replace));
  const Stopwatch watch;
  PADLOCK_TRY(const tuner::Synced synced, sync(file, *exchange));
  fmt::print("{:<44} {:.3f} s, {} records were new, {} problems\n", what, watch.seconds(), synced.written,
             synced.problems.size());
  ::unlink(path.c_str());
  return {};
}

Status run(const std::string& url, int count) {
  const std::vector<tuner::Record> records = some_records(count);
  PADLOCK_CHECK(measure(fmt::format("{} records are left", count).c_str(), url, records));
  PADLOCK_CHECK(measure("they go into an empty cache", url, {}));
  return measure("they meet a cache that has them", url, records);
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto done = padlock::bench::run(argv[1], argc > 2 ? std::atoi(argv[2]) : 10'000);
  if (!done) fmt::print(stderr, "bench_sync: {}\n", done.error().message);
  return done ? 0 : 1;
}
