#include "tuner/cache/prune.h"

#include <doctest/doctest.h>

#include "tests/tuner/cache/samples.h"

namespace padlock::tuner {
namespace {

std::vector<Record> records_of(const CacheKey& key) {
  Measurement old = testing::measurement("", "unroll=2");
  old.provenance.date = "2025-12-31T23:59:59Z";
  return {record_of(key), record_of(key, testing::choice("", "unroll=1")),
          record_of(key, testing::measurement("", "unroll=1")), record_of(key, old)};
}

/// Says of each record whether it is stale.
std::vector<bool> stale(const std::vector<Record>& records, std::string_view before = "") {
  return stale_rows(testing::rows_of(records), testing::fields(), before);
}

TEST_CASE("this build's records stay") { CHECK(stale(records_of(testing::key())) == std::vector<bool>(4, false)); }

TEST_CASE("another build's records go, whole") {
  for (const auto field : {&KeyFields::abi, &KeyFields::code, &KeyFields::llvm, &KeyFields::policy}) {
    KeyFields other = testing::fields();
    other.*field = "other";
    CHECK(stale(records_of(CacheKey(other))) == std::vector<bool>(4, true));
  }
}

TEST_CASE("another machine's records stay") {
  for (const auto field : {&KeyFields::cpu, &KeyFields::threads, &KeyFields::target}) {
    KeyFields other = testing::fields();
    other.*field = "other";
    CHECK(stale(records_of(CacheKey(other))) == std::vector<bool>(4, false));
  }
}

TEST_CASE("what is older goes, and a key of which nothing else is left") {
  const auto records = records_of(testing::key());
  CHECK(stale(records, "2026-01-01") == std::vector<bool>{false, false, false, true});
  CHECK(stale(records, "2026-01-31") == std::vector<bool>{false, false, false, true});
  CHECK(stale(records, "2026-02-01") == std::vector<bool>(4, true));
}

TEST_CASE("what has no key goes") {
  auto records = records_of(testing::key());
  records.erase(records.begin());
  CHECK(stale(records) == std::vector<bool>(3, true));
}

TEST_CASE("a title says what a record is about") {
  const CacheKey key = testing::key();
  const std::string brief = key.digest().substr(0, 12);
  const auto title = [](const Record& record) { return titles_of(testing::rows_of({record})); };
  CHECK(title(record_of(key)) == "key " + brief + " of program " + key.fields().program.substr(0, 12) + "\n");
  CHECK(title(record_of(key, testing::choice("", "unroll=1"))) == "choice for all sizes under key " + brief + "\n");
  const Record measured = record_of(key, testing::measurement("S >= 8", "unroll=2"));
  CHECK(title(measured) ==
        "measurement for S >= 8 at " + sizes_of(measured) + " of unroll=2 under key " + brief + "\n");
  CHECK(titles_of(to_line(measured) + "\n\n").value() == title(measured));
  CHECK(titles_of("{}\n").error().code == Code::invalid_argument);
}

}  // namespace
}  // namespace padlock::tuner
