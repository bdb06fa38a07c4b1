#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"
#include "tuner/trial/request.h"
#include "tuner/worker/worker_process.h"

namespace padlock::tuner {

/// Finds the program that serves as a worker: `option` unless empty; else what PADLOCK_WORKER names; else
/// padlock-worker beside this library or executable, in libexec beside their folder, or where both were installed.
/// Error: unavailable, naming all three places; configs are never tried in this process instead.
[[nodiscard]] Result<std::string> find_worker(const std::string& option);
/// The same, with the last places given; for tests.
[[nodiscard]] Result<std::string> find_worker(const std::string& option, const std::vector<std::string>& places);

inline constexpr const char* kWorkerVariable = "PADLOCK_WORKER";
inline constexpr const char* kWorkerName = "padlock-worker";

/// A process that tries configs, replaced when it crashes, hangs, loses its device or breaks the protocol. Effects of a
/// config stay in that process; this process only gets a verdict, whatever the worker writes. Not thread-safe; use one
/// per device.
class Worker {
 public:
  struct Options {
    std::vector<std::string> command;  ///< file, as of find_worker, and arguments
    std::chrono::milliseconds start_limit{10'000};
    /// Returns whether to stop; called about ten times a second while a config is tried. May be empty.
    std::function<bool()> cancelled = {};
  };
  /// Starts the process. Errors: unavailable, naming the file, if it does not start like a worker.
  [[nodiscard]] static Result<Worker> start(Options options);

  /// Adds verdicts to those of Trials::try_config: timeout (after request.time_limit_ms), crash (the process died; a
  /// fault with the data's end flush is a load out of bounds) and protocol. Errors: unavailable if no new process could
  /// be started; cancelled, which also replaces the worker.
  [[nodiscard]] Result<TryResult> try_config(const TryRequest& request);

  /// Number of processes started so far.
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] pid_t pid() const { return process_ ? process_->pid() : -1; }

 private:
  explicit Worker(Options options) : options_(std::move(options)) {}
  [[nodiscard]] Status spawn();
  [[nodiscard]] Status wait_for_hello();
  [[nodiscard]] Status make_ready();
  [[nodiscard]] Result<TryResult> converse(std::string_view outgoing, std::int64_t limit_ms);
  /// Makes a result for the point that the worker has reached.
  [[nodiscard]] TryResult result_of(Verdict verdict, std::string message) const;
  [[nodiscard]] TryResult died();

  Options options_;
  std::optional<WorkerProcess> process_;
  bool ready_ = false;       // whether it has said hello and handles no request
  Step step_ = Step::none;   // the last step reported for the request
  std::int64_t places_ = 0;  // points of the request begun so far
  int starts_ = 0;
};

}  // namespace padlock::tuner
