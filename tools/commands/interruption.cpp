#include "tools/commands/interruption.h"

namespace padlock::tools {
namespace {

// Global, because a signal handler can reach nothing else.
volatile sig_atomic_t g_requested = 0;

extern "C" void note_signal(int) { g_requested = 1; }

}  // namespace

Interruption::Interruption() {
  g_requested = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals.at(i), nullptr, &before_.at(i));
    if (before_.at(i).sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    ::sigaction(kSignals.at(i), &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &before_.at(i), nullptr);
}

bool Interruption::requested() { return g_requested != 0; }

}  // namespace padlock::tools
