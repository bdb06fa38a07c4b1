#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <initializer_list>
#include <random>

#include "tests/common/environment.h"
#include "tests/tuner/exchange/loopback.h"
#include "tuner/exchange/redis.h"
#include "tuner/exchange/sync.h"

// A hostile server. The client is a process of its own, so that its memory and time can be measured and a hang can be
// ended.
namespace padlock::tuner {
namespace {

using std::chrono::milliseconds;
using Serve = std::function<void(int)>;

constexpr int kHangSeconds = 120;
/// The bytes of an exchange, as much again for the parsed text, and the memory of an idle process, with a sanitizer's.
constexpr long kMostKib = 320L << 10;
/// Longer than any test: a process that ends before has another reason than the time.
constexpr milliseconds kPatience = std::chrono::minutes(5);

bool sends(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Reads a command, in any number of pieces; returns false if the client has left.
bool hears(int fd) {
  char bytes[65536];
  return ::recv(fd, bytes, sizeof bytes, 0) > 0;
}

void wait_for_the_end(int fd) {
  while (hears(fd)) {
  }
}

/// Returns the last problem of a sync of a small cache with this server; empty if there is none.
std::string problem_at(const std::string& place, milliseconds patience) {
  auto file = StoreFile::in_memory();
  if (!file || !file->put(std::vector{record_of(testing::key())}, Conflict::replace)) return "no cache";
  const auto exchange = redis_exchange(place, patience);
  if (!exchange) return exchange.error().message;
  const auto done = sync(*file, **exchange);
  if (!done) return done.error().message;
  return done->problems.empty() ? "" : done->problems.back();
}

/// As above, in a process of its own, whose memory and end are checked.
std::string problem_with(const Serve& serve, milliseconds patience = kPatience) {
  const testing::Listener listener;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(kHangSeconds);
    const std::string found = problem_at(listener.place(), patience);
    [[maybe_unused]] const auto written = ::write(ends[1], found.data(), found.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::thread server([&] {
    pollfd waiting{.fd = listener.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kHangSeconds * 1000) != 1) return;
    const int fd = ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    serve(fd);
    ::close(fd);
  });
  int status = -1;
  rusage usage = {};
  CHECK(::wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  CHECK(usage.ru_maxrss < kMostKib);
  server.join();
  char bytes[65536];
  const ssize_t count = ::read(ends[0], bytes, sizeof bytes);
  ::close(ends[0]);
  std::string problem(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::string begin = fmt::format("redis://{}: ", listener.place());
  return problem.starts_with(begin) ? problem.substr(begin.size()) : problem;
}

/// Of a server that answers the first command with these bytes and then repeats others until the client leaves.
std::string problem_with_endless(const std::string& first, const std::string& repeated) {
  return problem_with([&](int fd) {
    if (!hears(fd) || !sends(fd, first)) return;
    std::string many;
    while (many.size() < 65536) many += repeated;
    while (sends(fd, many)) {
    }
  });
}

/// Of a server that gives the answers, one a command, and then leaves.
std::string problem_with_answers(std::initializer_list<std::string> answers) {
  return problem_with([&](int fd) {
    for (const std::string& answer : answers)
      if (!hears(fd) || !sends(fd, answer)) return;
  });
}

const std::string kNoAnswer = "no answer of a Redis server: ";

TEST_CASE("lists within lists are left at the second") {
  const std::string found = kNoAnswer + "expected a list of texts, found '*1' in it";
  CHECK(problem_with_endless("", "*1\r\n") == found);
  CHECK(problem_with_endless("*2\r\n$1\r\na\r\n", "*1\r\n") == found);
  CHECK(problem_with_endless("", "*16384\r\n") == kNoAnswer + "expected a list of texts, found '*16384' in it");
  CHECK(problem_with_endless("", "*0\r\n") == "there is an answer to no command");
}

TEST_CASE("a line without an end is left, and costs as much as its bytes") {
  const std::string found = kNoAnswer + "expected a line of at most 65536 bytes, found more";
  for (const char* first : {"+", "-", ":", "$", "*", "", "*1\r\n$", "*1\r\n", "?"}) {
    INFO(first);
    CHECK(problem_with_endless(first, "1") == found);
  }
  CHECK(problem_with_endless("+", "\r") == found);
  CHECK(problem_with_answers({"+OK\n"}) == kNoAnswer + "expected a line that ends in \\r\\n");
}

TEST_CASE("bytes that drip are left when the time is over, wherever they drip") {
  for (const char* first : {"", "+", "$1000\r\n", "*1000\r\n$1000\r\n", "*16000\r\n"}) {
    INFO(first);
    const std::string problem = problem_with(
        [&](int fd) {
          if (!hears(fd) || !sends(fd, first)) return;
          while (sends(fd, first[0] == '*' ? "$1\r\na\r\n" : "x")) std::this_thread::sleep_for(milliseconds(5));
        },
        milliseconds(200));
    CHECK(problem == "no answer in time");
  }
  CHECK(ExchangeBudget::kTime <= std::chrono::seconds(5));
}

TEST_CASE("commands that are answered slowly have one time together") {
  CHECK(problem_with(
            [](int fd) {
              std::string names = "*16000\r\n";
              for (int i = 0; i < 16000; ++i) names += fmt::format("$5\r\n{:05}\r\n", i);
              if (!hears(fd) || !sends(fd, names)) return;
              while (hears(fd)) {
                std::this_thread::sleep_for(milliseconds(20));
                if (!sends(fd, "$-1\r\n")) return;
              }
            },
            milliseconds(300)) == "no answer in time");
}

TEST_CASE("lengths that nobody means are refused before anything of that length is read") {
  const auto bytes = [](const std::string& length) {
    return kNoAnswer + "expected at most 67108864 bytes in all, found a text of " + length + " more";
  };
  for (const char* length : {"67108865", "1000000000000", "9223372036854775807"}) {
    CHECK(problem_with_answers({fmt::format("*1\r\n${}\r\n", length)}) == bytes(length));
    CHECK(problem_with_answers({"*1\r\n$1\r\na\r\n", fmt::format("${}\r\n", length)}) == bytes(length));
  }
  for (const char* length : {"16385", "2000000000", "9223372036854775807"})
    CHECK(problem_with_answers({fmt::format("*{}\r\n", length)}) ==
          kNoAnswer + "expected at most 16384 elements in all, found a list of " + length + " more");
  for (const char* length :
       {"-2", "9223372036854775808", "99999999999999999999", "", "1x", "+-1", "0x10", "1e3", " 1"}) {
    CHECK(problem_with_answers({fmt::format("*{}\r\n", length)}) ==
          kNoAnswer + fmt::format("expected a number of elements, found '{}'", length));
    CHECK(problem_with_answers({fmt::format("*1\r\n${}\r\n", length)}) ==
          kNoAnswer + fmt::format("expected a number of bytes, found '{}'", length));
  }
}

TEST_CASE("answers that are each short are together as long as one exchange may be") {
  const std::string text = "$1048576\r\n" + std::string(1 << 20, 'x') + "\r\n";
  const std::string more = problem_with([&](int fd) {
    std::string names = "*100\r\n";
    for (int i = 0; i < 100; ++i) names += fmt::format("$3\r\n{:03}\r\n", i);
    if (!hears(fd) || !sends(fd, names)) return;
    while (hears(fd) && sends(fd, text)) {
    }
  });
  CHECK(more == kNoAnswer + "expected at most 67108864 bytes in all, found a text of 1048576 more");
  CHECK(problem_with([&](int fd) {
          std::string names = "*9000\r\n";
          for (int i = 0; i < 9000; ++i) names += fmt::format("$5\r\n{:05}\r\n", i);
          if (!hears(fd) || !sends(fd, names)) return;
          for (int i = 0; i < 9000; ++i)
            if (!hears(fd) || !sends(fd, "$-1\r\n")) return;
          if (hears(fd)) sends(fd, names);
          wait_for_the_end(fd);
        }) == kNoAnswer + "expected at most 16384 elements in all, found a list of 9000 more");
}

TEST_CASE("a server that leaves in the middle of an answer is a problem, at each byte") {
  const std::string names = "*2\r\n$3\r\nabc\r\n$0\r\n\r\n", text = "$12\r\nhello\r\nworld\r\n";
  const auto has_left = [](const std::string& problem) {
    return problem == "the server has closed the connection" || problem == "Connection reset by peer";
  };
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(has_left(problem_with_answers({names.substr(0, i)})));
  for (std::size_t i = 0; i < text.size(); ++i) CHECK(has_left(problem_with_answers({names, text.substr(0, i)})));
  CHECK(has_left(problem_with([](int fd) {
    if (hears(fd)) sends(fd, "*1\r\n$60000000\r\n" + std::string(30'000'000, 'x'));
  })));
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  CHECK(has_left(problem_with([&](int fd) {
    if (hears(fd)) sends(fd, "*1\r\n$10\r\n");
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  })));
}

TEST_CASE("answers to commands that were not sent are taken for none") {
  CHECK(problem_with_answers({"*0\r\n*0\r\n"}) == "there is an answer to no command");
  CHECK(problem_with_answers({"*0\r\n:1\r\n"}) == "there is an answer to no command");
  CHECK(problem_with_answers({"*1\r\n$1\r\na\r\n$-1\r\n", "$-1\r\n"}) == "there is an answer to no command");
  // Of a server that speaks first the greeting may come before the command or behind it.
  const std::string greeted = problem_with([](int fd) {
    sends(fd, "+hello\r\n");
    wait_for_the_end(fd);
  });
  CHECK(
      (greeted == "there is an answer to no command" || greeted == "the answer is of another kind than the command's"));
}

TEST_CASE("a server that does not read is left when the time is over") {
  const auto problem_of_write = [](const std::string& place) {
    const auto exchange = redis_exchange(place, milliseconds(200));
    REQUIRE(exchange);
    const Status written = (*exchange)->write("name", std::string(60'000'000, 'x'));
    REQUIRE_FALSE(written);
    return written.error().message;
  };
  const testing::Listener deaf;
  CHECK(problem_of_write(deaf.place()) == fmt::format("redis://{}: no answer in time", deaf.place()));
  const auto exchange = redis_exchange(deaf.place());
  REQUIRE(exchange);
  CHECK((*exchange)->write("name", std::string(ExchangeBudget::kBytes + 1, 'x')).error().message ==
        fmt::format("redis://{}: expected an export of at most 67108864 bytes, found 67108865", deaf.place()));
}

TEST_CASE("of a random server nothing is taken, and no more than its bytes is held") {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  constexpr std::array kPieces = {"*",          "$",       "+",  "-",    ":",      "\r\n",          "\r",
                                  "\n",         "1",       "-1", "1000", "*1\r\n", "$3\r\nabc\r\n", "99999999999",
                                  "*16384\r\n", "$-1\r\n", "x",  "_\r\n"};
  for (int round = 0; round < 100; ++round) {
    std::string bytes = random() % 2 == 0 ? "*1\r\n$1\r\na\r\n" : "";
    for (std::size_t i = random() % 40; i > 0; --i) bytes += kPieces[random() % kPieces.size()];
    INFO("bytes ", bytes);
    const bool endless = random() % 4 == 0;
    CHECK(problem_with([&](int fd) {
            if (!hears(fd) || !sends(fd, bytes)) return;
            for (int i = 0; endless && i < 1000 && sends(fd, bytes); ++i) {
            }
          }) != "");
  }
}

}  // namespace
}  // namespace padlock::tuner
