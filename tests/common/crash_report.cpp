#include "tests/common/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace padlock::differential {
namespace {

// A signal handler reaches nothing but globals.
std::array<char, 16384> current_case;
std::atomic<std::size_t> current_size{0};
alignas(16) std::array<char, 65536> handler_stack;  // a stack overflow must be reported too

void print(const char* text, std::size_t size) {
  if (write(STDERR_FILENO, text, size) < 0) _exit(99);
}

extern "C" void report_and_die(int number) {
  const char* name = strsignal(number);
  print("\nfatal signal: ", 15);
  print(name, std::strlen(name));
  print("\n", 1);
  print(current_case.data(), current_size.load());
  print("\n", 1);
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void install_crash_report() {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = report_and_die;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

void name_current_case(std::string_view text) {
  current_size = 0;
  const std::size_t size = std::min(text.size(), current_case.size());
  std::ranges::copy(text.substr(0, size), current_case.data());
  current_size = size;
}

}  // namespace padlock::differential
