#include "support/fork.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>

namespace padlock {
namespace {

/// Forks, and returns the child's result.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // a child that hangs is one that failed
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool is_refused() { return !ForkGuard().status(); }

/// A thread that stays inside a guard until it is asked to leave.
class Insider {
 public:
  Insider() { entered_.wait(); }
  ~Insider() {
    leave();
    thread_.join();
  }
  void leave() {
    leaves_ = true;
    leaves_.notify_all();
  }

 private:
  std::latch entered_{1};
  std::atomic<bool> leaves_ = false;
  std::thread thread_{[this] {
    const ForkGuard inside;
    entered_.count_down();
    leaves_.wait(false);
  }};
};

TEST_CASE("a fork waits until no other thread is inside a guard") {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> left = false;
    std::latch entered(1);
    std::thread other([&] {
      const ForkGuard inside;
      entered.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      left = true;
    });
    entered.wait();
    CHECK(in_child([&] { return left ? (is_refused() ? 1 : 0) : 2; }) == 0);
    other.join();
  }
}

TEST_CASE("guards nest, and a thread that is inside one may fork") {
  const ForkGuard outer, inner;
  CHECK(in_child([] {
          const ForkGuard again;
          return again.refuses() || fork_generation() == 0 ? 1 : 0;
        }) == 0);
}

TEST_CASE(
    "a child of a thread inside refuses, with the reason, where another thread was inside, too; so do its children") {
  Insider other;
  const ForkGuard own;
  CHECK(in_child([] {
          const Status status = ForkGuard().status();
          if (status) return 1;
          if (!status.error().message.contains("found one whose parent had such a thread")) return 2;
          return in_child([] { return is_refused() ? 0 : 3; });
        }) == 0);
  CHECK_FALSE(is_refused());
}

TEST_CASE("a fork waits ten seconds at most, and its child refuses then") {
  Insider other;
  CHECK(in_child([] { return is_refused() ? 0 : 1; }) == 0);
  CHECK_FALSE(is_refused());
}

TEST_CASE("a pause lets a fork pass, and comes back to as many guards as there were") {
  std::latch paused(1), forked(1);
  std::thread other([&] {
    const ForkGuard outer, inner;
    const ForkPause outside;
    paused.count_down();
    forked.wait();  // as a callback does that waits for the forking thread
  });
  paused.wait();
  CHECK(in_child([] { return is_refused() ? 1 : 0; }) == 0);
  forked.count_down();
  other.join();
}

TEST_CASE("listeners hear of a fork before it, in the parent, and no more once they are gone") {
  int heard = 0;
  {
    const ForkListener first([&] { ++heard; }), second([&] { heard += 10; });
    CHECK(in_child([&] { return heard; }) == 11);
    CHECK(heard == 11);
  }
  CHECK(in_child([&] { return heard; }) == 11);
}

TEST_CASE("each child is of a generation of its own") {
  const std::uint64_t here = fork_generation();
  CHECK(in_child([&] { return fork_generation() == here + 1 ? 0 : 1; }) == 0);
  CHECK(fork_generation() == here);
}

}  // namespace
}  // namespace padlock
