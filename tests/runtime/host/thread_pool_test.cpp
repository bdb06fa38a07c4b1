#include "runtime/host/thread_pool.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/common/environment.h"

namespace padlock::runtime {
namespace {

/// How often each index of a loop was called.
struct Counts {
  explicit Counts(std::int64_t count) : calls(static_cast<std::size_t>(count)) {}
  static void body(void* state, std::int64_t index) {
    static_cast<Counts*>(state)->calls[static_cast<std::size_t>(index)].fetch_add(1);
  }
  [[nodiscard]] bool each_once() const {
    for (const auto& calls_of_one : calls)
      if (calls_of_one.load() != 1) return false;
    return true;
  }
  std::vector<std::atomic<int>> calls;
};

TEST_CASE("every index is called once, whatever the count") {
  ThreadPool pool(4);
  for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 100, 10000}) {
    CAPTURE(count);
    Counts counts(count);
    pool.parallel_for(count, Counts::body, &counts);
    CHECK(counts.each_once());
  }
}

TEST_CASE("threads start on the first loop that wants them, and only then") {
  ThreadPool pool(3);
  Counts counts(2);
  CHECK(pool.started() == 0);
  pool.parallel_for(1, Counts::body, &counts);
  CHECK(pool.started() == 0);
  Counts two(2);
  pool.parallel_for(2, Counts::body, &two);
  CHECK(pool.started() == 2);
}

TEST_CASE("a pool of one thread works on the caller's") {
  ThreadPool pool(1);
  std::vector<std::thread::id> ids(8);
  pool.parallel_for(
      8,
      [](void* state, std::int64_t i) {
        (*static_cast<std::vector<std::thread::id>*>(state))[static_cast<std::size_t>(i)] = std::this_thread::get_id();
      },
      &ids);
  for (const std::thread::id id : ids) CHECK(id == std::this_thread::get_id());
  CHECK(pool.started() == 0);
}

/// Where the two indices of a loop meet: each waits for the other.
struct Meeting {
  static void body(void* state, std::int64_t index) {
    auto& meeting = *static_cast<Meeting*>(state);
    meeting.cpus[static_cast<std::size_t>(index)] = ::sched_getcpu();
    meeting.present.fetch_add(1);
    while (meeting.present.load() < 2) ::sched_yield();
  }
  std::array<int, 2> cpus = {-1, -1};
  std::atomic<int> present = 0;
};

TEST_CASE("a worker that slept does not share its caller's CPU where there is another one") {
  cpu_set_t all;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) return;
  ThreadPool pool(2);
  Meeting first;
  pool.parallel_for(2, Meeting::body, &first);  // its worker may run on all CPUs
  for (int cpu = 0, seen = 0; seen < 2; ++cpu) {
    if (CPU_ISSET(cpu, &all) == 0) continue;
    ++seen;
    CAPTURE(cpu);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    REQUIRE(::sched_setaffinity(0, sizeof here, &here) == 0);
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Meeting meeting;
      pool.parallel_for(2, Meeting::body, &meeting);
      CHECK(meeting.cpus[0] != meeting.cpus[1]);
    }
  }
  ::sched_setaffinity(0, sizeof all, &all);
}

TEST_CASE("a loop inside a loop ends") {
  ThreadPool pool(3);
  struct Outer {
    ThreadPool* pool;
    std::atomic<int> calls = 0;
  } outer{&pool};
  pool.parallel_for(
      16,
      [](void* state, std::int64_t) {
        auto& self = *static_cast<Outer*>(state);
        self.pool->parallel_for(
            16, [](void* inner, std::int64_t) { static_cast<Outer*>(inner)->calls.fetch_add(1); }, state);
      },
      &outer);
  CHECK(outer.calls == 256);
}

TEST_CASE("several callers at once each get their own loop done") {
  ThreadPool pool(3);
  std::atomic<int> failures = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Counts counts(1 + repeat % 7);
        pool.parallel_for(1 + repeat % 7, Counts::body, &counts);
        if (!counts.each_once()) ++failures;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(failures == 0);
}

TEST_CASE("what a loop wrote is there when it returns") {
  // Not atomic on purpose: under the thread sanitizer this shows that returning synchronises.
  ThreadPool pool(3);
  std::vector<std::int64_t> squares(1000);
  pool.parallel_for(
      1000,
      [](void* state, std::int64_t i) {
        (*static_cast<std::vector<std::int64_t>*>(state))[static_cast<std::size_t>(i)] = i * i;
      },
      &squares);
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(squares[static_cast<std::size_t>(i)] == i * i);
}

// (qemu itself fails in a child that is forked beside other threads: "cpu == current_cpu".)
TEST_CASE("a child that was forked while loops run has threads of its own, and ends" *
          doctest::skip(padlock::testing::is_emulated())) {
  ThreadPool pool(4);
  std::atomic<bool> stops = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i)
    callers.emplace_back([&] {
      while (!stops) {
        Counts counts(16);
        pool.parallel_for(16, Counts::body, &counts);
      }
    });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(60);  // a child that hangs is one that failed
      Counts counts(100);
      pool.parallel_for(100, Counts::body, &counts);
      const bool good = counts.each_once() && pool.started() == 3;
      pool.~ThreadPool();
      ::_exit(good ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stops = true;
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace padlock::runtime
