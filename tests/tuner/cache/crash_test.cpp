// Processes that write one cache and are killed at random. Every record that they reported as committed is there, and
// readers only ever see whole records.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "support/file.h"
#include "tests/common/environment.h"
#include "tests/tuner/cache/crash_records.h"
#include "tests/tuner/exchange/loopback.h"
#include "tuner/cache/store_file.h"
#include "tuner/exchange/sync.h"

namespace padlock::tuner {
namespace {

/// A running writer, whose output goes to a file that outlives it.
struct Writer {
  int number = 0;
  pid_t pid = 0;
  std::string said;
  std::optional<std::size_t> doom = {};  // it is killed once it has committed so many
  bool killed = false;

  [[nodiscard]] bool doomed() const { return doom && !killed; }
};

Writer start(const std::string& cache, const std::string& said, int number, int count, std::string url = {}) {
  Writer writer{.number = number, .said = said};
  std::string words[] = {PADLOCK_CACHE_WRITER, cache, std::to_string(number), std::to_string(count)};
  char* argv[] = {
      words[0].data(), words[1].data(), words[2].data(), words[3].data(), url.empty() ? nullptr : url.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(posix_spawn(&writer.pid, argv[0], &actions, nullptr, argv, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  return writer;
}

/// Waits for its end, and returns whether it ended by itself.
bool finish(const Writer& writer) {
  int status = 0;
  REQUIRE(waitpid(writer.pid, &status, 0) == writer.pid);
  if (WIFSIGNALED(status)) {
    CHECK(writer.killed);
    CHECK(WTERMSIG(status) == SIGKILL);
    return false;
  }
  CHECK(WEXITSTATUS(status) == 0);
  return true;
}

bool has_ended(const Writer& writer) {
  siginfo_t info{};
  const int flags = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(writer.pid), &info, flags) == 0 && info.si_pid != 0;
}

/// The numbers of the records that it has said to be committed; of a last line that was cut nothing is believed.
std::vector<int> committed(const Writer& writer) {
  std::vector<int> numbers;
  const auto text = read_text_file(writer.said, 1 << 20);
  if (!text) return numbers;  // it has not begun
  std::istringstream lines(text->substr(0, text->rfind('\n') + 1));
  for (std::string line; std::getline(lines, line);) numbers.push_back(std::stoi(line));
  return numbers;
}

/// Reads all that is there; anything but whole records of the writers is an error. How many measurements.
std::size_t check_readable(const std::string& path) {
  auto file = StoreFile::open(path, Access::read);
  if (!file && file.error().code == Code::not_found) return 0;  // no writer has come so far
  REQUIRE_MESSAGE(file, file.error().message);
  const RecordSet set = file->all();
  CHECK(set.problems == std::vector<std::string>{});
  std::size_t measurements = 0;
  for (const Record& record : set.records) {
    const auto* measurement = std::get_if<Measurement>(&record.content);
    if (measurement == nullptr) continue;
    ++measurements;
    const int writer = std::stoi(measurement->config.substr(7)), number = std::stoi(measurement->region.substr(5));
    CHECK(record == record_of(testing::key_of_writer(writer), testing::crash_record(writer, number)));
  }
  return measurements;
}

/// Anywhere between two commits, or in one, which take about so long.
void kill_soon(Writer& writer, std::mt19937_64& random, std::uint64_t most_microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most_microseconds));
  kill(writer.pid, SIGKILL);
  writer.killed = true;
}

/// Kills the writers whose time has come, calls `meanwhile` until they are dead, and waits for the others. Returns how
/// many ended by themselves.
int run_out(std::vector<Writer>& running, std::mt19937_64& random, std::uint64_t most_microseconds,
            const std::function<void()>& meanwhile) {
  while (std::ranges::any_of(running, &Writer::doomed)) {
    for (const Writer& writer : running) REQUIRE_FALSE((writer.doomed() && has_ended(writer)));
    for (Writer& writer : running)
      if (writer.doomed() && committed(writer).size() >= *writer.doom) kill_soon(writer, random, most_microseconds);
    meanwhile();
  }
  int whole = 0;
  for (const Writer& writer : running) whole += finish(writer) ? 1 : 0;
  return whole;
}

/// How many records the writers said to be committed, and how many of those are not there.
struct Promises {
  std::size_t kept = 0, lost = 0;
};
Promises promises_of(const std::vector<Writer>& writers, const std::vector<Record>& records) {
  std::set<Place> places;
  for (const Record& record : records) places.insert(place_of(record));
  Promises promises;
  for (const Writer& writer : writers)
    for (const int number : committed(writer)) {
      const CacheKey key = testing::key_of_writer(writer.number);
      const bool there = places.contains(place_of(record_of(key, testing::crash_record(writer.number, number)))) &&
                         places.contains(place_of(record_of(key)));
      ++(there ? promises.kept : promises.lost);
    }
  return promises;
}

TEST_CASE("of many writers that are killed at random no committed record is lost, and no reader sees a bad one") {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  const int writers = padlock::testing::is_full_run() ? 16 : 4, records = padlock::testing::is_full_run() ? 1000 : 60,
            kills = writers / 2 + writers / 4;
  MESSAGE("seed ", seed, ", ", writers, " writers of ", records, " records, ", kills, " killed");
  std::mt19937_64 random(seed);
  const testing::Folder folder;
  const std::string path = folder / "f.db";
  std::vector<Writer> running;
  for (int i = 0; i < writers; ++i) {
    const bool doomed = i < kills;  // it would write for ever
    running.push_back(start(path, folder / ("said" + std::to_string(i)), i, doomed ? 1'000'000 : records));
    if (doomed) running.back().doom = random() % static_cast<std::size_t>(records);
  }
  CHECK(run_out(running, random, 300, [&path] { check_readable(path); }) == writers - kills);

  auto file = StoreFile::open(path, Access::read);
  REQUIRE(file);
  const RecordSet set = file->verify();
  CHECK(set.problems == std::vector<std::string>{});
  const auto [promised, lost] = promises_of(running, set.records);
  CHECK(lost == 0);
  CHECK(promised >= static_cast<std::size_t>((writers - kills) * records));
  const std::size_t found = check_readable(path);
  CHECK(found >= promised);
  // A writer that was killed can have committed one record that it did not come to say.
  CHECK(found <= promised + static_cast<std::size_t>(kills));
  MESSAGE(promised, " committed, ", found, " found");
}

/// Writers that each have a cache and meet at an exchange.
void check_exchange(const std::string& url) {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  const int writers = 16, records = padlock::testing::is_full_run() ? 100 : 5, kills = 12;
  MESSAGE("seed ", seed, ", ", writers, " writers of ", records, " records, ", kills, " killed");
  std::mt19937_64 random(seed);
  const testing::Folder folder;
  std::vector<Writer> running;
  for (int i = 0; i < writers; ++i) {
    const bool doomed = i < kills;
    running.push_back(start(folder / fmt::format("{}.db", i), folder / fmt::format("said{}", i), i,
                            doomed ? 1'000'000 : records, url));
    if (doomed) running.back().doom = random() % static_cast<std::size_t>(records);
  }
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  CHECK(run_out(running, random, 10'000, wait) == writers - kills);

  const std::string path = folder / "late.db";
  auto file = StoreFile::open(path, Access::write);
  const auto meeting = CacheExchange::open(url);
  REQUIRE((file && meeting));
  const auto synced = sync(*file, **meeting);
  REQUIRE(synced);
  CHECK(synced->problems == std::vector<std::string>{});
  const auto [kept, lost] = promises_of(running, file->all().records);
  CHECK(lost == 0);
  CHECK(kept >= static_cast<std::size_t>((writers - kills) * records));
  const std::size_t found = check_readable(path);
  CHECK(found >= kept);
  CHECK(found <= kept + static_cast<std::size_t>(kills));
  MESSAGE(kept, " committed, ", found, " found");
}

TEST_CASE("of many caches that meet at a folder while their writers are killed, what was left there is in every one") {
  const testing::Folder exchange;
  check_exchange("file://" + exchange.path());
}

TEST_CASE("of many caches that meet at a server while their writers are killed, what was left there is in every one") {
  if (testing::redis_server_file().empty() || !CacheExchange::open("redis://localhost")) {
    MESSAGE("skipped: redis-server is not installed, or this build has no client of it");
    return;
  }
  const testing::RedisServer server;
  check_exchange("redis://" + server.place());
}

}  // namespace
}  // namespace padlock::tuner
