#include "tools/arrays/output_files.h"

#include <pthread.h>
#include <unistd.h>

#include <system_error>

#include "tools/failure.h"

namespace padlock::tools {
namespace {

/// Ends the waiting thread. It is never ignored, because that thread blocks it.
constexpr int kStopWaiting = SIGUSR1;

/// Returns kStopWaiting and those stop signals that the command's parent does not ignore (nohup, a shell's "&").
sigset_t signals_to_wait_for() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  ::sigaddset(&signals, kStopWaiting);
  return signals;
}

}  // namespace

// A thread waits for the signals: unlike a handler it may take a lock, so it knows every file that was created.
OutputFiles::OutputFiles() : signals_(signals_to_wait_for()) {
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  try {
    waiter_ = std::thread([this] { wait_for_signal(); });
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // no thread could be started: signals have their default action
  }
}

OutputFiles::~OutputFiles() {
  if (!waiter_.joinable()) return;
  stopping_ = true;
  ::pthread_kill(waiter_.native_handle(), kStopWaiting);
  waiter_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Result<AtomicFile> OutputFiles::create(const std::string& path) {
  const std::lock_guard lock(mutex_);
  PADLOCK_TRY(AtomicFile file, AtomicFile::create(path));
  if (!file.temporary_path().empty()) unfinished_.push_back(file.temporary_path());
  return file;
}

void OutputFiles::wait_for_signal() {
  int signal = 0;
  do {
    if (stopping_) return;
  } while (::sigwait(&signals_, &signal) != 0 || signal == kStopWaiting);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : unfinished_) ::unlink(name.c_str());
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace padlock::tools
