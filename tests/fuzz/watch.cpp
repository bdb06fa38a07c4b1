#include "tests/fuzz/watch.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <new>

#include "tests/common/crash_report.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/processor_time.h"

#if PADLOCK_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

namespace padlock::fuzz {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

// Memory counts when it is asked for, whether or not somebody touches it.
constinit std::atomic<std::int64_t> live_bytes = 0, first_live_bytes = INT64_MAX / 2;

void note_allocation(std::size_t bytes) {
  require(bytes <= kGiB, "an allocation has at most 1 GiB");
  const std::int64_t live = live_bytes += static_cast<std::int64_t>(bytes);
  require(live <= first_live_bytes + std::int64_t{kGiB}, "an input's memory is at most 1 GiB");
}

#if PADLOCK_SANITIZED
void on_malloc(const volatile void*, std::size_t bytes) { note_allocation(bytes); }
void on_free(const volatile void* memory) {
  live_bytes -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}
#endif

/// Without a sanitizer, limits the process to 2 GiB more than it has: apart from LLVM's own mappings nothing may need
/// more.
void limit_address_space() {
#if !PADLOCK_SANITIZED
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * 4096 + 2 * kGiB;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

extern "C" void end_slow_input(int) {
  constexpr std::string_view kMessage = "property violated: an input takes no longer than its body allows\n";
  if (write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) _exit(99);
  std::abort();
}

/// Counts down in processor time, so that a busy machine ends nothing. 0: no longer.
void end_after(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

void watch_memory() {
  limit_address_space();
#if PADLOCK_SANITIZED
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
}

void run_watched(const std::string& input, std::string_view name) {
  differential::name_current_case(fmt::format("reproduce: {}\n{}", name, input.substr(0, 4000)));
  struct sigaction action{};
  action.sa_handler = end_slow_input;
  sigaction(SIGPROF, &action, nullptr);
  first_live_bytes = live_bytes.load();
  end_after(seconds_allowed() * kSlowdown);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  end_after(0);
}

}  // namespace padlock::fuzz

#if PADLOCK_SANITIZED
// An allocation that is refused aborts, so that the report of crashes names the input.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:allocator_may_return_null=0:abort_on_error=1";
}
#else
void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  padlock::fuzz::note_allocation(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  padlock::fuzz::live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
