#include "tests/runtime/cuda/fake_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

namespace padlock::runtime::cuda {
namespace {

constexpr unsigned char kFresh = 0xA5;

// The place to which a faulting thread returns, and the previous handler; set while a body runs.
thread_local sigjmp_buf* t_return = nullptr;
thread_local struct sigaction t_previous;

void on_fault(int signal, siginfo_t* info, void*) {
  // SEGV_ACCERR: the page is there and may not be touched. The null page and unmapped addresses are SEGV_MAPERR.
  if (t_return != nullptr && info->si_code == SEGV_ACCERR) siglongjmp(*t_return, 1);
  // The faulting instruction runs again, now under the handler that was there.
  sigaction(signal, &t_previous, nullptr);
}

}  // namespace

FakeMemory FakeMemory::map(std::size_t bytes, std::size_t guard, bool flush_end, std::size_t alignment) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (bytes + alignment + page - 1) / page * page;
  FakeMemory memory{.bytes = bytes, .mapped = inner + 2 * guard};
  void* const mapping = mmap(nullptr, memory.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return {};
  memory.mapping = static_cast<std::byte*>(mapping);
  std::byte* const begin = memory.mapping + guard;
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, memory.mapped);
    return {};
  }
  std::memset(begin, kFresh, inner);
  const std::size_t slack = flush_end ? (inner - bytes) / alignment * alignment : 0;
  memory.data = begin + slack;
  return memory;
}

void FakeMemory::unmap() const { munmap(mapping, mapped); }

bool run_trapping_faults(void (*body)(void* state), void* state) {
  sigjmp_buf back;
  struct sigaction mine = {};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = SA_SIGINFO;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGSEGV, &mine, &t_previous);
  volatile bool finished = false;  // a compiler may else set it before the call, and a jump does not undo that
  if (sigsetjmp(back, 1) == 0) {
    t_return = &back;
    body(state);
    finished = true;
  }
  t_return = nullptr;
  sigaction(SIGSEGV, &t_previous, nullptr);
  return finished;
}

}  // namespace padlock::runtime::cuda
