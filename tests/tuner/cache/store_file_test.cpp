#include "tuner/cache/store_file.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "support/file.h"
#include "tests/tuner/cache/samples.h"

namespace padlock::tuner {
namespace {

std::vector<Record> some_records() {
  return {record_of(testing::key()), record_of(testing::key(), testing::choice("", "unroll=1")),
          record_of(testing::key(), testing::measurement("", "unroll=1"))};
}

void sql(const std::string& path, const char* text) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  CHECK(sqlite3_exec(handle, text, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
}

std::string error_of_opening(const std::string& path, Code code) {
  std::string message;
  for (const Access access : {Access::read, Access::write}) {
    const auto file = StoreFile::open(path, access);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == code);
    CHECK(file.error().message.find(path) != std::string::npos);
    message = file.error().message;
  }
  return message;
}

TEST_CASE("a file gives back what was put, to its writer and to the next one") {
  const testing::Folder folder;
  const std::string path = folder / "odd name?#%.db";
  const std::vector<Record> records = some_records();
  {
    auto file = StoreFile::open(path, Access::write);
    REQUIRE_MESSAGE(file, file.error().message);
    CHECK(file->all().records.empty());
    CHECK(file->put(records, Conflict::replace) == 3);
    CHECK(file->all().records == records);
    struct stat info{};
    for (const char* suffix : {"", "-wal", "-shm"}) {
      REQUIRE(stat((path + suffix).c_str(), &info) == 0);
      CHECK((info.st_mode & 0777) == 0600);
    }
  }
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  for (const Access access : {Access::snapshot, Access::read, Access::write}) {
    auto file = StoreFile::open(path, access);
    REQUIRE(file);
    CHECK(std::filesystem::exists(path + "-shm") == (access != Access::snapshot));
    CHECK(file->verify().records == records);
    CHECK(file->verify().problems.empty());
    CHECK(file->keys_of(records[0].program).records == std::vector<Record>{records[0]});
    CHECK(file->choices_of(records[0].program, records[0].key).records == std::vector<Record>{records[1]});
    CHECK(file->measurements_of(records[0].program, records[0].key).records == std::vector<Record>{records[2]});
    CHECK(file->keys_of("other").records.empty());
  }
}

TEST_CASE("a snapshot sees what a writer that is still there has committed") {
  const testing::Folder folder;
  auto writer = StoreFile::open(folder / "f.db", Access::write);
  REQUIRE(writer);
  REQUIRE(writer->put(some_records(), Conflict::replace));
  CHECK(StoreFile::open(folder / "f.db", Access::snapshot)->all().records == some_records());
}

TEST_CASE("of one place one record stays, by the rule that is asked for") {
  const testing::Folder folder;
  auto file = StoreFile::open(folder / "f.db", Access::write);
  REQUIRE(file);
  Choice later = testing::choice("", "later");
  later.provenance.date = "2027-01-01T00:00:00Z";
  const std::vector<Record> old = {record_of(testing::key(), testing::choice("", "old"))};
  const std::vector<Record> young = {record_of(testing::key(), later)};
  CHECK(file->put(young, Conflict::keep_later) == 1);
  CHECK(file->put(old, Conflict::keep_later) == 0);
  CHECK(file->all().records == young);
  CHECK(file->put(old, Conflict::replace) == 1);
  CHECK(file->all().records == old);
  CHECK(file->put(testing::rows_of(young), Conflict::keep_later) == 1);
  CHECK(file->put(testing::rows_of(young), Conflict::keep_later) == 0);
  CHECK(file->all().records == young);
}

TEST_CASE("many records are all there, in the order of their places, once") {
  auto file = StoreFile::in_memory();
  REQUIRE(file);
  std::vector<Record> records;
  for (int i = 0; i < 40'000; ++i)  // several batches; the last is not full
    records.push_back(record_of(testing::key(), testing::measurement(fmt::format("S >= {}", 100'000 + i), "unroll=1")));
  std::vector<Record> shuffled = records;
  std::ranges::reverse(shuffled);
  CHECK(file->put(shuffled, Conflict::keep_later) == 40'000);
  CHECK(file->all().records == records);
  CHECK(file->put(shuffled, Conflict::keep_later) == 0);
  std::get<Measurement>(shuffled.back().content).region = "a\n";
  CHECK(file->put(shuffled, Conflict::replace).error().code == Code::invalid_argument);
  CHECK(file->all().records == records);
}

TEST_CASE("of many records some, most or all can go, and what is none stays") {
  constexpr std::size_t kCount = 40'000;
  for (const std::size_t stay : {std::size_t{0}, std::size_t{7}, std::size_t{30'000}, kCount}) {
    const testing::Folder folder;
    std::vector<Record> records = {record_of(testing::key())};
    for (std::size_t i = 0; i < kCount; ++i) {
      Measurement measured = testing::measurement(fmt::format("S >= {}", 100'000 + i), "unroll=1");
      if (i < stay) measured.provenance.date = "2027-01-31T12:00:00Z";
      records.push_back(record_of(testing::key(), std::move(measured)));
    }
    {
      auto file = StoreFile::open(folder / "f.db", Access::write);
      REQUIRE(file);
      REQUIRE(file->put(records, Conflict::replace));
    }
    // A row that is no record; pruning must keep it.
    sql(folder / "f.db", "INSERT INTO record VALUES ('p', 1, 'k', 'r', '', '', 'garbage')");
    auto file = StoreFile::open(folder / "f.db", Access::write);
    REQUIRE(file);
    const std::size_t left = stay == 0 ? 0 : stay + 1;  // the key goes with the last of its records
    for (const std::size_t gone : {records.size() - left, std::size_t{0}}) {
      const auto pruned = file->prune(testing::fields(), "2027-01-01");
      REQUIRE(pruned);
      CHECK(pruned->records == records.size());
      CHECK(pruned->stale == testing::rows_of({records.end() - static_cast<std::ptrdiff_t>(gone), records.end()}));
      CHECK(pruned->problems.size() == 1);
      records.resize(left);
      const RecordSet found = file->verify();
      CHECK(found.records == records);
      CHECK(found.problems.size() == 1);
    }
  }
}

TEST_CASE("a put is whole or not at all") {
  const testing::Folder folder;
  auto file = StoreFile::open(folder / "f.db", Access::write);
  REQUIRE(file);
  std::vector<Record> records = some_records();
  std::get<Choice>(records[1].content).config = "";
  const auto put = file->put(records, Conflict::replace);
  REQUIRE_FALSE(put);
  CHECK(put.error().message == "expected a config, found none");
  CHECK(file->all().records.empty());
}

TEST_CASE("what is no cache of this schema is not opened and not touched") {
  const testing::Folder folder;
  const std::string path = folder / "f.db";
  SUBCASE("not there") {
    const auto file = StoreFile::open(path, Access::read);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == Code::not_found);
    CHECK(file.error().message == fmt::format("cannot read {}: No such file or directory", path));
  }
  SUBCASE("a folder") {
    std::filesystem::create_directory(path);
    CHECK_FALSE(StoreFile::open(path, Access::read));
    CHECK_FALSE(StoreFile::open(path, Access::write));
  }
  SUBCASE("text") {
    std::ofstream(path) << std::string(5000, 'x');
    CHECK(error_of_opening(path, Code::data_loss).find("not a database") != std::string::npos);
    CHECK(*read_text_file(path, 10000) == std::string(5000, 'x'));
  }
  SUBCASE("another program's database") {
    sql(path, "CREATE TABLE t (a)");
    const auto before = read_text_file(path, 1 << 20);
    CHECK(error_of_opening(path, Code::data_loss).ends_with("found a file without its table"));
    CHECK(*read_text_file(path, 1 << 20) == *before);
  }
  SUBCASE("another schema") {
    REQUIRE(StoreFile::open(path, Access::write));
    sql(path, "PRAGMA user_version = 2");
    const auto before = read_text_file(path, 1 << 20);
    CHECK(error_of_opening(path, Code::failed_precondition).ends_with("expected a cache of schema 1, found schema 2"));
    CHECK(*read_text_file(path, 1 << 20) == *before);
  }
  SUBCASE("a trigger more") {
    REQUIRE(StoreFile::open(path, Access::write));
    sql(path, "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END");
    CHECK(error_of_opening(path, Code::data_loss).ends_with("found a file without its table"));
  }
}

TEST_CASE("an empty file is a cache without records") {
  const testing::Folder folder;
  std::ofstream(folder / "f.db").close();
  auto file = StoreFile::open(folder / "f.db", Access::read);
  REQUIRE(file);
  CHECK(file->all().records.empty());
  CHECK(file->all().problems.empty());
}

TEST_CASE("a record under another's place is a problem, and costs itself alone") {
  const testing::Folder folder;
  const std::string path = folder / "f.db";
  CHECK(StoreFile::open(path, Access::write)->put(some_records(), Conflict::replace) == 3);
  sql(path, "UPDATE record SET config = 'other' WHERE kind = 2");
  const RecordSet set = StoreFile::open(path, Access::read)->all();
  CHECK(set.records.size() == 2);
  CHECK(set.problems == std::vector<std::string>{"a record: expected a record of its place, found another's"});
  const RowSet rows = StoreFile::open(path, Access::read)->rows();
  CHECK(rows.rows == testing::rows_of(set.records));
  CHECK(rows.bad.size() == 1);
  CHECK(rows.problems == set.problems);
}

TEST_CASE("the user's file is where XDG says") {
  const auto value_of = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string old_cache = value_of("XDG_CACHE_HOME"), old_home = value_of("HOME");
  setenv("XDG_CACHE_HOME", "/c", 1);
  CHECK(default_cache_file() == "/c/padlock/tuning.db");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/h", 1);
  CHECK(default_cache_file() == "/h/.cache/padlock/tuning.db");
  unsetenv("HOME");
  CHECK(default_cache_file().error().message.starts_with("no place for the user's cache"));
  unsetenv("XDG_CACHE_HOME");
  if (!old_cache.empty()) setenv("XDG_CACHE_HOME", old_cache.c_str(), 1);
  if (!old_home.empty()) setenv("HOME", old_home.c_str(), 1);
}

TEST_CASE("folders are made for the owner alone, and others' stay as they are") {
  const testing::Folder folder;
  REQUIRE(make_cache_folder(folder / "a/b/f.db"));
  struct stat info{};
  for (const char* made : {"a", "a/b"}) {
    REQUIRE(stat((folder / made).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
  }
  std::ofstream(folder / "file").close();
  CHECK(make_cache_folder(folder / "file/f.db").error().message ==
        fmt::format("cannot make folder {}: File exists", folder / "file"));
}

}  // namespace
}  // namespace padlock::tuner
