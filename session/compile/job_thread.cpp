#include "session/compile/job_thread.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace padlock::session {

JobThread::~JobThread() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

Status JobThread::add(Job job) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error& error) {
      return resource_exhausted(fmt::format("cannot start a thread: {}", error.what()));
    }
  }
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return {};
}

void JobThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty(); });
}

void JobThread::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !jobs_.empty(); }) && !stop.stop_requested()) {
    const Job job = jobs_.front();
    lock.unlock();
    job([&] { return stop.stop_requested(); });
    lock.lock();
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace padlock::session
