#include "bench/peer.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "support/file.h"

namespace padlock::bench {
namespace {

Peer peer(const char* name) {
  auto started = Peer::start(PADLOCK_PYTHON, PADLOCK_FAKE_PEER, name, 1);
  REQUIRE(started);
  return *std::move(started);
}

PadSpec spec() {
  return {.pad = {.name = "p",
                  .symbols = {"A", "B"},
                  .extents = {2, 3},
                  .low = {0, -1},
                  .high = {"0", "4"},
                  .mode = "wrap",
                  .value = "least"},
          .dtype = ir::DType::i8,
          .relu = true};
}

}  // namespace

TEST_CASE("a peer is asked in one line, and times its calls itself") {
  Peer working = peer("working");
  const auto version = working.version();
  REQUIRE(version);
  CHECK(*version == "fake 1.0 --threads=1");
  const std::string output = "/tmp/padlock_peer_test_" + std::to_string(getpid());
  working.prepare(7, spec(), "/in", output);
  CHECK(working.ready());
  const auto asked = read_text_file(output, 4096);
  std::remove(output.c_str());
  REQUIRE(asked);
  CHECK(*asked == "prepare id=7 dtype=i8 extents=2,3 low=0,-1 high=0,4 mode=wrap value=-128 relu=1 input=/in output=" +
                      output + "\n");
  CHECK(working.time_ms(7, 3) == 2.5);
  working.forget_all();
  CHECK(working.time_ms(7, 3) == 2.5);
}

TEST_CASE("a peer runs only while it is asked") {
  Peer restless = peer("restless");  // answers with its process, and has a thread that never waits
  REQUIRE(restless.version());
  for (int i = 0; i < 2; ++i) {
    const auto pid = restless.time_ms(0, 1);
    REQUIRE(pid);
    int status = 0;
    REQUIRE(::waitpid(static_cast<pid_t>(*pid), &status, WUNTRACED) == static_cast<pid_t>(*pid));
    CHECK(WIFSTOPPED(status));
  }
}

TEST_CASE("what is not there or cannot do it says why") {
  const auto version = peer("absent").version();
  REQUIRE_FALSE(version);
  CHECK(version.error().message == "fake is not installed");

  Peer unable = peer("unable");
  REQUIRE(unable.version());
  unable.prepare(0, spec(), "/in", "/dev/null");
  const Status ready = unable.ready();
  REQUIRE_FALSE(ready);
  CHECK(ready.error().message == "no mode wrap");
}

TEST_CASE("a peer that is gone is started again, for the next program") {
  Peer dying = peer("dying");
  REQUIRE(dying.version());
  dying.revive();  // it is there
  CHECK_FALSE(dying.time_ms(0, 1));
  dying.revive();
  dying.prepare(0, spec(), "/in", "/dev/null");
  CHECK(dying.ready());
  for (int i = 0; i < 100; ++i) {
    (void)dying.time_ms(0, 1);
    dying.revive();
  }
  dying.prepare(0, spec(), "/in", "/dev/null");
  CHECK_FALSE(dying.ready());  // not for ever
}

TEST_CASE("a peer that dies or talks nonsense is left out") {
  Peer dying = peer("dying");
  REQUIRE(dying.version());
  CHECK_FALSE(dying.time_ms(0, 1));
  CHECK_FALSE(dying.time_ms(0, 1));
  dying.prepare(0, spec(), "/in", "/dev/null");
  CHECK_FALSE(dying.ready());

  Peer babbling = peer("babbling");
  REQUIRE(babbling.version());
  CHECK_FALSE(babbling.time_ms(0, 1));
  CHECK_FALSE(Peer::start("/nonexistent/python", "x", "numpy", 1));
}

}  // namespace padlock::bench
