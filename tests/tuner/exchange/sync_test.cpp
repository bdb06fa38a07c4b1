#include "tuner/exchange/sync.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "support/file.h"
#include "support/hash.h"
#include "tests/tuner/cache/samples.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

namespace fs = std::filesystem;

Record chosen(const std::string& region, const std::string& date, const std::string& config = "unroll=1") {
  Choice choice = testing::choice(region, config);
  choice.provenance.date = date;
  return record_of(testing::key(), choice);
}

const std::vector<Record> kFirst = {record_of(testing::key()), chosen("", "2026-01-02T00:00:00Z"),
                                    chosen("S >= 8", "2026-01-01T00:00:00Z")};
const std::vector<Record> kSecond = {chosen("", "2026-01-01T00:00:00Z", "unroll=2"),
                                     record_of(testing::key(), testing::measurement("", "unroll=2"))};
const std::vector<Record> kThird = {chosen("S >= 8", "2026-01-03T00:00:00Z", "unroll=4"),
                                    record_of(testing::key(), testing::measurement("", "unroll=4"))};

std::string merged_text(std::initializer_list<std::vector<Record>> sets) {
  std::vector<Record> all;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  return lines_of(merge(testing::rows_of(all)));
}

StoreFile cache_with(const std::vector<Record>& records) {
  auto file = StoreFile::in_memory();
  REQUIRE(file);
  REQUIRE(file->put(records, Conflict::replace));
  return *std::move(file);
}

std::string text_of(StoreFile& file) { return to_lines(file.all().records); }

/// Exports in memory: an exchange that can change during a sync, as by others, and fail.
class FakeExchange : public CacheExchange {
 public:
  Result<std::vector<std::string>> names() override {
    if (fails()) return unavailable("fake: gone");
    std::vector<std::string> list = ghosts;
    for (const auto& [name, text] : exports) list.push_back(name);
    if (after_listing) std::exchange(after_listing, {})(*this);
    return list;
  }
  Result<std::string> read(const std::string& name) override {
    if (fails()) return unavailable("fake: gone");
    const auto found = exports.find(name);
    if (found != exports.end()) return found->second;
    if (new_ghosts) ghosts.push_back(hash128(name));
    return std::unexpected(Error{Code::not_found, Blame::environment, "fake: no such export"});
  }
  Status write(const std::string& name, std::string_view text) override {
    if (fails()) return unavailable("fake: gone");
    exports[name] = text;
    return {};
  }
  void remove(const std::string& name) override {
    if (!fails()) exports.erase(name);
  }
  [[nodiscard]] std::string title(const std::string& name) const override { return "fake:" + name; }

  void put(const std::vector<Record>& records) {
    const std::string text = to_lines(records);
    exports[hash128(text)] = text;
  }

  std::map<std::string, std::string> exports;
  std::vector<std::string> ghosts;  // listed, and not there
  bool new_ghosts = false;          // each that is looked for makes another
  std::function<void(FakeExchange&)> after_listing;
  int calls = 0, fails_from = 1'000'000;

 private:
  bool fails() { return calls++ >= fails_from; }
};

Synced synced(StoreFile& file, CacheExchange& exchange) {
  auto done = sync(file, exchange);
  REQUIRE_MESSAGE(done, done.error().message);
  return *std::move(done);
}

std::unique_ptr<CacheExchange> at(const testing::Folder& folder) {
  auto exchange = CacheExchange::open("file://" + folder.path());
  REQUIRE(exchange);
  return *std::move(exchange);
}

std::vector<std::string> files_of(const testing::Folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST_CASE("caches that meet have the same bytes, in whatever order they come, and one export is left") {
  const std::string all = merged_text({kFirst, kSecond, kThird});
  std::vector<int> order = {0, 1, 2};
  do {
    const testing::Folder folder;
    const auto exchange = at(folder);
    StoreFile files[] = {cache_with(kFirst), cache_with(kSecond), cache_with(kThird)};
    for (int round = 0; round < 2; ++round)
      for (const int i : order) CHECK(synced(files[i], *exchange).problems == std::vector<std::string>{});
    for (StoreFile& file : files) CHECK(text_of(file) == all);
    CHECK(files_of(folder) == std::vector<std::string>{hash128(all) + ".v1.jsonl"});
    CHECK(read_text_file(folder / (hash128(all) + ".v1.jsonl"), 1 << 20) == all);
    CHECK(synced(files[0], *exchange).written == 0);
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("a later record is replaced by an earlier one on neither side") {
  FakeExchange exchange;
  StoreFile early = cache_with({chosen("", "2026-01-01T00:00:00Z")}),
            late = cache_with({chosen("", "2026-01-02T00:00:00Z")});
  CHECK(synced(late, exchange).written == 0);
  CHECK(synced(early, exchange).written == 1);
  CHECK(text_of(early) == text_of(late));
  exchange.put({chosen("", "2025-01-01T00:00:00Z")});
  CHECK(synced(late, exchange).written == 0);
  CHECK(text_of(late) == to_lines({chosen("", "2026-01-02T00:00:00Z")}));
  REQUIRE(exchange.exports.size() == 1);
  CHECK(exchange.exports.begin()->second == text_of(late));
}

TEST_CASE("of garbage nothing is taken, a problem names it, the rest goes on, and it stays") {
  const testing::Folder folder;
  const std::string good = to_lines(kSecond), cut = good.substr(0, good.size() - 10);
  const std::string foreign = "{\"schema\":2}\n", changed = to_lines(kThird);
  const std::pair<std::string, std::string> files[] = {
      {hash128(changed) + ".v1.jsonl", changed + "x"},           // does not match its name
      {"odd \n name.v1.jsonl", to_lines(kThird)},                // nor is this
      {hash128(good + cut) + ".v1.jsonl", good + cut},           // one good line, one bad one
      {hash128(foreign) + ".v1.jsonl", to_lines({}) + foreign},  // of another version, under this one's name
      {hash128("") + ".v2.jsonl", "of a later version"},         // not ours
      {"README", "nor this"},
  };
  for (const auto& [name, text] : files) std::ofstream(folder / name) << text;
  REQUIRE(mkfifo((folder / (std::string(32, 'f') + ".v1.jsonl")).c_str(), 0600) == 0);
  const auto exchange = at(folder);
  StoreFile writer = cache_with(kSecond), file = cache_with(kFirst);
  CHECK(synced(writer, *exchange).problems.size() == 5);
  const Synced done = synced(file, *exchange);
  CHECK(done.written == 1);
  CHECK(text_of(file) == merged_text({kFirst, kSecond}));
  REQUIRE(done.problems.size() == 5);
  const auto said = [&done](std::string_view name, std::string_view what) {
    return std::ranges::count_if(done.problems, [&](const std::string& problem) {
      return problem.find(name) != std::string::npos && problem.find(what) != std::string::npos;
    });
  };
  CHECK(said(files[0].first, "expected an export that its name is the hash of; nothing is taken") == 1);
  CHECK(said("/odd ? name.v1.jsonl", "expected an export that its name is the hash of; nothing is taken") == 1);
  CHECK(said(files[2].first, "line 4: expected a JSON object; nothing is taken") == 1);
  CHECK(said(files[3].first, "line 1: expected schema 1, found 2; nothing is taken") == 1);
  CHECK(said("ffff.v1.jsonl", "not a regular file") == 1);
  for (const auto& [name, text] : files) CHECK(read_text_file(folder / name, 1 << 20) == text);
  CHECK(files_of(folder).size() == std::size(files) + 2);
}

TEST_CASE("an exchange that is gone is a problem, and the cache is as it was") {
  const testing::Folder folder;
  auto exchange = CacheExchange::open("file://" + folder / "none");
  REQUIRE(exchange);
  StoreFile file = cache_with(kFirst);
  const Synced done = synced(file, **exchange);
  REQUIRE(done.problems.size() == 1);
  CHECK(done.problems[0] == fmt::format("cannot read {}/none: No such file or directory", folder.path()));
  CHECK(text_of(file) == to_lines(kFirst));
  CHECK_FALSE(fs::exists(folder / "none"));
}

TEST_CASE("an exchange that fails at any call has lost nothing, and the next one finds all") {
  for (int fails_from = 0;; ++fails_from) {
    FakeExchange exchange;
    exchange.put(kFirst);
    exchange.put(kSecond);
    exchange.fails_from = fails_from;
    StoreFile file = cache_with(kThird);
    const Synced done = synced(file, exchange);
    const bool failed = exchange.calls > fails_from;
    // Removing is tried after everything is safe; exports that stay are no problem.
    CHECK(done.problems == (exchange.calls > 4 ? std::vector<std::string>{} : std::vector<std::string>{"fake: gone"}));
    exchange.fails_from = 1'000'000;
    StoreFile other = cache_with({});
    synced(other, exchange);
    synced(file, exchange);
    synced(other, exchange);
    CHECK(text_of(other) == merged_text({kFirst, kSecond, kThird}));
    CHECK(text_of(file) == text_of(other));
    if (!failed) break;
    CHECK(fails_from < 100);
  }
}

TEST_CASE("what another writer removes meanwhile is found in its own export") {
  FakeExchange exchange;
  exchange.put(kFirst);
  exchange.after_listing = [](FakeExchange& meanwhile) {
    StoreFile other = cache_with(kSecond);
    synced(other, meanwhile);
    CHECK(meanwhile.exports.size() == 1);
  };
  StoreFile file = cache_with(kThird);
  CHECK(synced(file, exchange).problems == std::vector<std::string>{});
  CHECK(text_of(file) == merged_text({kFirst, kSecond, kThird}));
  // A sync ends even if the exchange lists exports that it does not have.
  exchange.ghosts = {"a"};
  exchange.new_ghosts = true;
  CHECK(synced(file, exchange).written == 0);
  CHECK(exchange.calls < 1000);
}

TEST_CASE("an export that was damaged is left anew by who has its records") {
  FakeExchange exchange;
  StoreFile file = cache_with(kFirst);
  synced(file, exchange);
  std::string& text = exchange.exports.begin()->second;
  text[5] ^= 1;
  CHECK(synced(file, exchange).problems.size() == 1);
  CHECK(text == to_lines(kFirst));
  CHECK(synced(file, exchange).problems == std::vector<std::string>{});
}

TEST_CASE("what a cache has already is not parsed again, and only what is new costs a line") {
  FakeExchange exchange;
  StoreFile file = cache_with(kFirst), other = cache_with({});
  synced(file, exchange);
  CHECK(synced(other, exchange).parsed == static_cast<std::int64_t>(kFirst.size()));
  CHECK(synced(file, exchange).parsed == 0);
  REQUIRE(other.put(kThird, Conflict::keep_later));
  CHECK(synced(other, exchange).parsed == 1);  // records that it has later itself
  CHECK(synced(file, exchange).parsed == 2);
  CHECK(text_of(file) == merged_text({kFirst, kThird}));
  exchange.put(kSecond);
  CHECK(synced(file, exchange).parsed == 2);
  exchange.calls = 0;
  CHECK(synced(file, exchange).parsed == 0);
  CHECK(exchange.calls == 2);  // a listing and one export, nothing written
}

TEST_CASE("nothing is written through a symbolic link, and an empty cache leaves nothing") {
  const testing::Folder folder;
  const std::string name = hash128(to_lines(kFirst)) + ".v1.jsonl";
  std::ofstream(folder / "theirs") << "theirs";
  fs::create_symlink(folder / "theirs", folder / name);
  StoreFile file = cache_with(kFirst), empty = cache_with({});
  const Synced done = synced(file, *at(folder));
  REQUIRE(done.problems.size() == 2);
  CHECK(done.problems[1] == fmt::format("cannot write {}: it is a symbolic link", folder / name));
  CHECK(read_text_file(folder / "theirs", 100) == "theirs");
  fs::remove(folder / name);
  CHECK(synced(empty, *at(folder)).problems == std::vector<std::string>{});
  CHECK(files_of(folder) == std::vector<std::string>{"theirs"});
}

TEST_CASE("what a killed writer left of an export is removed an hour later, and nothing else") {
  const testing::Folder folder;
  const auto make = [&](const std::string& name, std::chrono::minutes age) {
    std::ofstream(folder / name) << "half of";
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - age);
  };
  make("0123.v1.jsonl.77.0.tmp", std::chrono::minutes(61));
  make("4567.v1.jsonl.78.0.tmp", std::chrono::minutes(50));
  make("89ab.v2.jsonl.79.0.tmp", std::chrono::minutes(9000));
  make("notes.tmp", std::chrono::minutes(9000));
  StoreFile file = cache_with({});
  CHECK(synced(file, *at(folder)).problems == std::vector<std::string>{});
  CHECK(files_of(folder) == std::vector<std::string>{"4567.v1.jsonl.78.0.tmp", "89ab.v2.jsonl.79.0.tmp", "notes.tmp"});
}

TEST_CASE("other URLs are refused") {
  for (const char* url :
       {"", "folder", "/folder", "file:folder", "file://folder", "file://", "http://host", "s3://bucket"}) {
    const auto exchange = CacheExchange::open(url);
    REQUIRE_FALSE(exchange);
    CHECK(exchange.error().code == Code::invalid_argument);
    CHECK(exchange.error().message.starts_with("expected file:///FOLDER or redis://HOST[:PORT], found '"));
  }
}

}  // namespace
}  // namespace padlock::tuner
