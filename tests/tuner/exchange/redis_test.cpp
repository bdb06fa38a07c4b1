#include "tuner/exchange/redis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <random>

#include "support/hash.h"
#include "tests/common/environment.h"
#include "tests/tuner/exchange/loopback.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record_text.h"
#include "tuner/exchange/sync.h"

namespace padlock::tuner {
namespace {

using std::chrono::milliseconds;

std::vector<Record> some_records(const std::string& config) {
  return {record_of(testing::key()), record_of(testing::key(), testing::measurement("", config))};
}

StoreFile cache_with(const std::vector<Record>& records) {
  auto file = StoreFile::in_memory();
  REQUIRE(file);
  REQUIRE(file->put(records, Conflict::replace));
  return *std::move(file);
}

/// Checks, when it goes, that as many files are open as when it came.
class NothingLeaks {
 public:
  ~NothingLeaks() { CHECK(open_files() == before_); }

 private:
  static std::ptrdiff_t open_files() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  }
  std::ptrdiff_t before_ = open_files();
};

/// Patience with servers that answer or leave: no test waits for it, on a machine of any speed.
constexpr milliseconds kPatience = std::chrono::minutes(5);

/// Returns the only problem of a cache that meets this server. The cache stays as it was.
std::string problem_of(const std::string& place, milliseconds patience) {
  const std::vector<Record> records = some_records("unroll=1");
  StoreFile file = cache_with(records);
  const auto exchange = redis_exchange(place, patience);
  REQUIRE(exchange);
  const auto done = sync(file, **exchange);
  REQUIRE(done);
  CHECK(done->written == 0);
  REQUIRE(done->problems.size() == 1);
  CHECK(done->problems[0].starts_with("redis://" + place + ": "));
  CHECK(file.all().records == records);
  // It stays lost, and costs no more waiting.
  CHECK((*exchange)->read("name").error().message == done->problems[0]);
  CHECK((*exchange)->write("name", "text").error().message == done->problems[0]);
  return done->problems[0].substr(("redis://" + place + ": ").size());
}

/// As above, for a server that reads everything and then gives these answers, one for each command.
std::string problem_of_answers(const std::vector<std::string>& answers, milliseconds patience = kPatience) {
  const testing::OneConnection server([answers](int fd) {
    char bytes[65536];
    for (const std::string& answer : answers) {
      if (::recv(fd, bytes, sizeof bytes, 0) <= 0) return;
      [[maybe_unused]] const auto sent = ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    while (::recv(fd, bytes, sizeof bytes, 0) > 0) {
    }
  });
  return problem_of(server.place(), patience);
}

TEST_CASE("a server that is gone, hangs or leaves is a problem, in bounded time") {
  const NothingLeaks nothing_leaks;
  std::string nobody;
  {
    nobody = testing::Listener().place();
  }
  CHECK(problem_of(nobody, kPatience) == "Connection refused");
  const testing::Listener deaf;
  CHECK(problem_of(deaf.place(), milliseconds(50)) == "no answer in time");
  CHECK(problem_of_answers({""}, milliseconds(50)) == "no answer in time");
  CHECK(problem_of_answers({"*1\r\n$4\r\nna"}, milliseconds(50)) == "no answer in time");
  const testing::OneConnection gone([](int) {});
  const std::string left = problem_of(gone.place(), kPatience);
  CHECK((left == "the server has closed the connection" || left == "Connection reset by peer"));
}

TEST_CASE("a server whose answer never ends is left") {
  const NothingLeaks nothing_leaks;
  const testing::OneConnection server([](int fd) {
    char command[256];  // an answer before it would be another problem
    if (::recv(fd, command, sizeof command, 0) <= 0) return;
    const std::string_view begin = "$1000000\r\n";
    if (::send(fd, begin.data(), begin.size(), MSG_NOSIGNAL) < 0) return;
    while (::send(fd, "x", 1, MSG_NOSIGNAL) == 1) std::this_thread::sleep_for(milliseconds(1));
  });
  CHECK(problem_of(server.place(), milliseconds(100)) == "no answer in time");
}

TEST_CASE("of answers that are none nothing is taken") {
  const NothingLeaks nothing_leaks;
  CHECK(problem_of_answers({"HTTP/1.1 400 Bad Request\r\n\r\n"}).starts_with("no answer of a Redis server: "));
  CHECK(problem_of_answers({"*2000000000\r\n"}).starts_with("no answer of a Redis server: "));
  CHECK(problem_of_answers({"*16385\r\n"}).starts_with("no answer of a Redis server: "));
  CHECK(problem_of_answers({"$-2\r\n"}).starts_with("no answer of a Redis server: "));
  for (const char* wrong : {"+OK\r\n", ":1\r\n", "$2\r\nab\r\n", "$-1\r\n"})
    CHECK(problem_of_answers({wrong}) == "the answer is of another kind than the command's");
  CHECK(problem_of_answers({"*0\r\n", "+OK\r\n"}) == "the answer is of another kind than the command's");
  CHECK(problem_of_answers({"*1\r\n$1\r\na\r\n", "*0\r\n"}) == "the answer is of another kind than the command's");
}

TEST_CASE("a server that refuses a command says why, and goes on") {
  const testing::OneConnection server([](int fd) {
    char bytes[65536];
    for (const std::string_view answer : {"-NOAUTH no\x01 \r\n", "*0\r\n"}) {
      if (::recv(fd, bytes, sizeof bytes, 0) <= 0) return;
      if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    }
  });
  const auto exchange = redis_exchange(server.place());
  REQUIRE(exchange);
  CHECK((*exchange)->names().error().message ==
        fmt::format("redis://{}: the server says 'NOAUTH no? '", server.place()));
  CHECK((*exchange)->names() == std::vector<std::string>{});
}

TEST_CASE("of random bytes nothing is taken") {
  const NothingLeaks nothing_leaks;
  const std::uint64_t seed = padlock::testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  const std::string_view likely = "*$:+-0123456789\r\n\r\n\r\nab";
  for (int round = 0; round < 100; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 60; i > 0; --i) bytes += likely[random() % likely.size()];
    const testing::OneConnection server([&bytes](int fd) {
      [[maybe_unused]] const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ::shutdown(fd, SHUT_WR);
      char read[4096];
      while (::recv(fd, read, sizeof read, 0) > 0) {
      }
    });
    const std::vector<Record> records = some_records("unroll=1");
    StoreFile file = cache_with(records);
    const auto exchange = redis_exchange(server.place(), kPatience);
    REQUIRE(exchange);
    const auto done = sync(file, **exchange);
    REQUIRE(done);
    INFO(bytes);
    CHECK(done->written == 0);
    CHECK(!done->problems.empty());
    CHECK(file.all().records == records);
  }
}

TEST_CASE("places that are none are refused") {
  for (const char* place :
       {"", ":1", "host:", "host:0", "host:65536", "host:1x", "host:1/2", "a@b", "host/0", "[::1]:1", "a b\n"}) {
    const auto exchange = redis_exchange(place);
    REQUIRE_FALSE(exchange);
    CHECK(exchange.error().code == Code::invalid_argument);
    CHECK(exchange.error().message.starts_with("expected redis://[[USER]:PASSWORD@]HOST[:PORT], found 'redis://"));
  }
  CHECK(redis_exchange("host"));
  for (const char* place : {"u@host", "u:@host", ":%4@host", ":%zz@host", ":secret@host:0"}) {
    const auto exchange = redis_exchange(place);
    REQUIRE_FALSE(exchange);
    CHECK(exchange.error().message.find("secret") == std::string::npos);
  }
  CHECK(CacheExchange::open("rediss://host").error().code == Code::unimplemented);
}

/// Returns the bytes that a client sends before the answer to its first command. The server takes every command for
/// PING.
std::string heard_from(const std::string& who) {
  std::string heard;
  {
    const testing::OneConnection server([&heard](int fd) {
      char bytes[4096];
      const ssize_t count = ::recv(fd, bytes, sizeof bytes, 0);
      if (count > 0) heard.assign(bytes, static_cast<std::size_t>(count));
      const std::string_view answer = "-WRONGPASS no\r\n";
      [[maybe_unused]] const auto sent = ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      while (::recv(fd, bytes, sizeof bytes, 0) > 0) {
      }
    });
    const auto exchange = redis_exchange(who + server.place(), kPatience);
    REQUIRE(exchange);
    const auto names = (*exchange)->names();
    REQUIRE_FALSE(names);
    const bool asked = heard.find("AUTH") != std::string::npos;
    CHECK(names.error().message == fmt::format("redis://{}: {}", server.place(),
                                               asked ? "the server does not take the password: 'WRONGPASS no'"
                                                     : "the server says 'WRONGPASS no'"));
  }
  return heard;
}

TEST_CASE("a password goes first, of the URL or of the environment, and into no message") {
  ::unsetenv(kRedisPasswordVariable);
  CHECK(heard_from("").starts_with("*2\r\n$5\r\nHKEYS\r\n"));
  CHECK(heard_from(":se%40cret@") == "*2\r\n$4\r\nAUTH\r\n$7\r\nse@cret\r\n");
  CHECK(heard_from("me:secret@") == "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n");
  ::setenv(kRedisPasswordVariable, "other", 1);
  CHECK(heard_from("") == "*2\r\n$4\r\nAUTH\r\n$5\r\nother\r\n");
  CHECK(heard_from(":secret@") == "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n");
  ::unsetenv(kRedisPasswordVariable);
}

TEST_CASE("caches that meet at a server have the same bytes, and garbage that is there stays") {
  const NothingLeaks nothing_leaks;
  if (testing::redis_server_file().empty()) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  const testing::RedisServer server;
  const auto exchange = CacheExchange::open("redis://" + server.place());
  REQUIRE(exchange);
  const std::string zero("a\0b\r\n", 5);
  REQUIRE((*exchange)->write("garbage\n", zero));
  CHECK((*exchange)->read("garbage\n") == zero);
  CHECK((*exchange)->read("none").error().code == Code::not_found);
  const std::vector<Record> sets[] = {some_records("unroll=1"), some_records("unroll=2"), some_records("unroll=4")};
  std::vector<Record> all;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  const std::string text = lines_of(merge(testing::rows_of(all)));
  StoreFile files[] = {cache_with(sets[0]), cache_with(sets[1]), cache_with(sets[2])};
  const std::vector<std::string> problems = {fmt::format(
      "redis://{} garbage?: expected an export that its name is the hash of; nothing is taken", server.place())};
  for (int round = 0; round < 2; ++round)
    for (StoreFile& file : files) {
      const auto done = sync(file, **exchange);
      REQUIRE(done);
      CHECK(done->problems == problems);
    }
  for (StoreFile& file : files) CHECK(to_lines(file.all().records) == text);
  auto names = (*exchange)->names();
  REQUIRE(names);
  std::ranges::sort(*names);
  std::vector<std::string> expected = {hash128(text), "garbage\n"};
  std::ranges::sort(expected);
  CHECK(*names == expected);
}

/// What a server answers to a line.
std::string answer_to(const testing::RedisServer& server, const std::string& line) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  const sockaddr_in address{.sin_family = AF_INET,
                            .sin_port = htons(static_cast<std::uint16_t>(server.port())),
                            .sin_addr = {htonl(INADDR_LOOPBACK)},
                            .sin_zero = {}};
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const std::string sent = line + "\r\n";
  REQUIRE(::send(fd, sent.data(), sent.size(), MSG_NOSIGNAL) == std::ssize(sent));
  char bytes[4096];
  const ssize_t count = ::recv(fd, bytes, sizeof bytes, 0);
  ::close(fd);
  return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
}

TEST_CASE("exports of two versions of the format lie at one server, and neither sees the other's") {
  if (testing::redis_server_file().empty()) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  const testing::RedisServer server;
  const auto exchange = CacheExchange::open("redis://" + server.place());
  REQUIRE(exchange);
  REQUIRE(answer_to(server, "HSET padlock:exports:v2 name another-format") == ":1\r\n");
  const std::vector<Record> records = some_records("unroll=1");
  StoreFile first = cache_with(records), second = cache_with({});
  for (StoreFile* const file : {&first, &second}) {
    const auto done = sync(*file, **exchange);
    REQUIRE(done);
    CHECK(done->problems == std::vector<std::string>{});
  }
  CHECK(second.all().records == records);
  CHECK(answer_to(server, "HGETALL padlock:exports:v2") == "*2\r\n$4\r\nname\r\n$14\r\nanother-format\r\n");
  CHECK(answer_to(server, "HKEYS padlock:exports:v1") ==
        fmt::format("*1\r\n$32\r\n{}\r\n", hash128(to_lines(records))));
}

TEST_CASE("what is no hash of exports is a problem, and stays") {
  if (testing::redis_server_file().empty()) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  const testing::RedisServer server;
  REQUIRE(answer_to(server, "SET padlock:exports:v1 garbage") == "+OK\r\n");
  const auto exchange = CacheExchange::open("redis://" + server.place());
  REQUIRE(exchange);
  const std::vector<Record> records = some_records("unroll=1");
  StoreFile file = cache_with(records);
  const auto done = sync(file, **exchange);
  REQUIRE(done);
  REQUIRE(done->problems.size() == 1);
  CHECK(done->problems[0].starts_with(fmt::format("redis://{}: the server says 'WRONGTYPE ", server.place())));
  CHECK(file.all().records == records);
  CHECK(answer_to(server, "GET padlock:exports:v1") == "$7\r\ngarbage\r\n");
}

TEST_CASE("an export of many megabytes goes to a server and comes back") {
  if (testing::redis_server_file().empty()) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  const testing::RedisServer server;
  const auto exchange = redis_exchange(server.place(), kPatience);
  REQUIRE(exchange);
  std::string large(std::size_t{40} << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i >> 12);
  REQUIRE((*exchange)->write("large", large));
  CHECK((*exchange)->read("large") == large);
}

}  // namespace
}  // namespace padlock::tuner
