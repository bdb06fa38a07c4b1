#include "tuner/cache/prune.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tuner/cache/samples.h"

namespace padlock::tuner {
namespace {

std::vector<Record> records_of(const CacheKey& key) {
  Measurement old = testing::measurement("", "unroll=2");
  old.provenance.date = "2025-12-31T23:59:59Z";
  return {record_of(key), record_of(key, testing::choice("", "unroll=1")),
          record_of(key, testing::measurement("", "unroll=1")), record_of(key, old)};
}

std::vector<Place> places(const std::vector<Record>& records) {
  std::vector<Place> list;
  for (const Record& record : records) list.push_back(place_of(record));
  return list;
}

bool has(const std::vector<Place>& places, const Record& record) {
  return std::ranges::find(places, place_of(record)) != places.end();
}

TEST_CASE("this build's records stay") {
  CHECK(stale_places(records_of(testing::key()), testing::fields(), "").empty());
}

TEST_CASE("another build's records go, whole") {
  for (const auto field : {&KeyFields::abi, &KeyFields::code, &KeyFields::llvm, &KeyFields::policy}) {
    KeyFields other = testing::fields();
    other.*field = "other";
    const auto records = records_of(CacheKey(other));
    const auto stale = stale_places(records, testing::fields(), "");
    CHECK(stale.size() == records.size());
    for (const Record& record : records) CHECK(has(stale, record));
  }
}

TEST_CASE("another machine's records stay") {
  for (const auto field : {&KeyFields::cpu, &KeyFields::threads, &KeyFields::target}) {
    KeyFields other = testing::fields();
    other.*field = "other";
    CHECK(stale_places(records_of(CacheKey(other)), testing::fields(), "").empty());
  }
}

TEST_CASE("what is older goes, and a key of which nothing else is left") {
  const auto records = records_of(testing::key());
  CHECK(stale_places(records, testing::fields(), "2026-01-01") == places({records[3]}));
  CHECK(stale_places(records, testing::fields(), "2026-01-31") == places({records[3]}));
  CHECK(stale_places(records, testing::fields(), "2026-02-01").size() == 4);
}

TEST_CASE("what has no key goes") {
  auto records = records_of(testing::key());
  records.erase(records.begin());
  CHECK(stale_places(records, testing::fields(), "").size() == 3);
}

}  // namespace
}  // namespace padlock::tuner
