// A cache with changed bytes, or a truncated one: a look-up returns good records or none, with at most one warning, and
// `verify` reports everything that is missing.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include "support/file.h"
#include "tests/common/environment.h"
#include "tests/tuner/cache/samples.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/store.h"

namespace padlock::tuner {
namespace {

/// A cache of some pages, in one file, with the records that are in it.
class Specimen {
 public:
  Specimen() {
    records_.push_back(record_of(testing::key()));
    for (int i = 0; i < 30; ++i) {
      const std::string region = fmt::format("S >= {}", i);
      records_.push_back(record_of(testing::key(), testing::choice(region, "unroll=1")));
      records_.push_back(record_of(testing::key(), testing::measurement(region, "unroll=1", 1000 + i)));
    }
    std::ranges::sort(records_, {}, place_of);
    {
      auto file = StoreFile::open(path(), Access::write);
      REQUIRE(file);
      REQUIRE(file->put(records_, Conflict::replace));
    }
    bytes_ = *read_text_file(path(), 1 << 24);
    CHECK(bytes_.size() > 16384);
  }
  [[nodiscard]] std::string path() const { return folder_ / "f.db"; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  void write(const std::string& bytes) const {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path() + suffix);
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  [[nodiscard]] bool holds(const Record& record) const { return std::ranges::find(records_, record) != records_.end(); }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  testing::Folder folder_;
  std::vector<Record> records_;
  std::string bytes_;
};

struct Outcome {
  std::size_t choices = 0;
  std::size_t warnings = 0;
};

/// Returns a program's view of the damaged file.
Outcome look_up(const Specimen& specimen, Mode mode) {
  Outcome outcome;
  const auto store = Store::open(
      {.mode = mode, .user_file = specimen.path(), .warn = [&](const std::string&) { ++outcome.warnings; }});
  REQUIRE(store);
  const auto found = (*store)->look_up(testing::key(), testing::legal);
  REQUIRE(found);
  for (const Choice& choice : (*found)->choices) CHECK(specimen.holds(record_of(testing::key(), choice)));
  for (const Measurement& m : (*store)->measurements(testing::key()))
    CHECK(specimen.holds(record_of(testing::key(), m)));
  outcome.choices = (*found)->choices.size();
  CHECK(outcome.warnings <= 1);
  return outcome;
}

void check_damaged(const Specimen& specimen, const std::string& bytes) {
  specimen.write(bytes);
  look_up(specimen, Mode::read);
  auto file = StoreFile::open(specimen.path(), Access::snapshot);
  if (file) {
    const RecordSet set = file->verify();
    for (const Record& record : set.records) CHECK(specimen.holds(record));
    const bool all_there = set.records == specimen.records();
    CHECK((all_there || !set.problems.empty() || bytes.empty()));
  }
  // A writer meets the same damage. It may repair nothing and must lose nothing more.
  specimen.write(bytes);
  look_up(specimen, Mode::read_write);
}

TEST_CASE("the specimen is read whole") {
  const Specimen specimen;
  const Outcome outcome = look_up(specimen, Mode::read);
  CHECK(outcome.choices == 30);
  CHECK(outcome.warnings == 0);
}

TEST_CASE("a byte that was changed costs at most what it is part of") {
  const Specimen specimen;
  const std::uint64_t seed = padlock::testing::seed_or(1);
  std::mt19937_64 random(seed);
  MESSAGE("seed ", seed, ", ", specimen.bytes().size(), " bytes");
  const std::size_t step = padlock::testing::is_full_run() ? 1 : 1 + specimen.bytes().size() / 250;
  for (std::size_t i = 0; i < specimen.bytes().size(); i += i < 100 && i % 7 != 0 ? 1 : 1 + random() % (2 * step - 1)) {
    CAPTURE(i);
    std::string bytes = specimen.bytes();
    const auto mask = static_cast<char>(1 + random() % 255);
    bytes[i] = static_cast<char>(bytes[i] ^ mask);
    CAPTURE(static_cast<int>(mask));
    check_damaged(specimen, bytes);
  }
}

TEST_CASE("rows that are out of their order are not taken for others") {
  const Specimen specimen;
  const std::string& bytes = specimen.bytes();
  // Another program's row among a program's: from an inner page it sends SQLite the wrong way.
  const std::string row = testing::key().fields().program + testing::key().digest();
  std::size_t changed = 0;
  for (std::size_t i = bytes.find(row); i != std::string::npos; i = bytes.find(row, i + 1)) {
    for (const char c : {'`', 'b'}) {
      std::string other = bytes;
      other[i] = c;
      check_damaged(specimen, other);
    }
    ++changed;
  }
  CHECK(changed >= 30);
}

TEST_CASE("a file that ends early is read up to there, or not at all") {
  const Specimen specimen;
  const std::uint64_t seed = padlock::testing::seed_or(1);
  std::mt19937_64 random(seed);
  MESSAGE("seed ", seed);
  const std::size_t step = padlock::testing::is_full_run() ? 1 : specimen.bytes().size() / 60;
  for (std::size_t size = 0; size < specimen.bytes().size(); size += 1 + random() % (2 * step)) {
    CAPTURE(size);
    check_damaged(specimen, specimen.bytes().substr(0, size));
  }
  for (std::size_t size = 0; size < specimen.bytes().size(); size += 4096) {
    CAPTURE(size);
    check_damaged(specimen, specimen.bytes().substr(0, size));
  }
}

TEST_CASE("an export that was changed anywhere gives its good lines") {
  const Specimen specimen;
  const std::string text = to_lines(specimen.records());
  const std::uint64_t seed = padlock::testing::seed_or(1);
  std::mt19937_64 random(seed);
  MESSAGE("seed ", seed, ", ", text.size(), " bytes");
  const auto check = [&](const std::string& changed, std::size_t lost) {
    const RecordSet set = parse_lines(changed);
    for (const Record& record : set.records) CHECK(specimen.holds(record));
    CHECK(set.records.size() + lost >= specimen.records().size());
  };
  const std::size_t step = padlock::testing::is_full_run() ? 1 : 61;
  for (std::size_t i = 0; i < text.size(); i += 1 + random() % (2 * step - 1)) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1 + random() % 255));
    CAPTURE(i);
    check(changed, text[i] == '\n' ? 2 : 1);
    if (changed[i] != '\n' || text[i] != '\n') CHECK_FALSE(parse_lines(changed).problems.empty());
    const std::string cut = text.substr(0, i);
    check(cut, specimen.records().size() - static_cast<std::size_t>(std::ranges::count(cut, '\n')));
  }
}

}  // namespace
}  // namespace padlock::tuner
