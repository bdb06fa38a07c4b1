#include "tests/differential/guarded_buffer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace padlock::differential {
namespace {

/// Whether writing that byte kills a child process.
bool faults(std::byte* where) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // without a report of doctest or a sanitizer: the process is meant to die
    *static_cast<volatile std::byte*>(where) = std::byte{1};
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_CASE("a buffer is flush with the guard page that its placement names") {
  GuardedArena arena;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{9000}}) {
    CAPTURE(bytes);
    CHECK(faults(arena.acquire(bytes, Placement::after_guard).data() - 1));
    CHECK(faults(arena.acquire(bytes, Placement::before_guard).data() + bytes));
    CHECK(faults(arena.acquire(bytes, Placement::before_guard, 3).data() + bytes + 3));
  }
}

TEST_CASE("canaries show a write on either side") {
  GuardedArena arena;
  GuardedBuffer& low = arena.acquire(100, Placement::after_guard, 5);
  GuardedBuffer& high = arena.acquire(100, Placement::before_guard);
  CHECK(low.damage().empty());
  CHECK(high.damage().empty());
  low.data()[100] = std::byte{0};
  high.data()[-2] = std::byte{0};
  CHECK(low.damage() == "byte 0 past the end of the buffer was overwritten");
  CHECK(high.damage() == "byte 2 before the buffer was overwritten");
  low.data()[-1] = std::byte{0};
  CHECK(low.damage() == "byte 1 before the buffer was overwritten");
}

TEST_CASE("a mapping that is used again has fresh canaries") {
  GuardedArena arena;
  arena.acquire(10, Placement::after_guard).data()[10] = std::byte{0};
  arena.release_all();
  CHECK(arena.acquire(10, Placement::after_guard).damage().empty());
}

}  // namespace
}  // namespace padlock::differential
