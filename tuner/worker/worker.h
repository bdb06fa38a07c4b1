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

/// The program that serves as a worker: `option` where it is not empty, else what PADLOCK_WORKER names, else
/// padlock-worker beside this library or executable, in libexec beside their folder, or where both were installed.
/// Error: unavailable, naming all three places; configs are never tried in this process instead.
[[nodiscard]] Result<std::string> find_worker(const std::string& option);
/// The same of given places to look at last; for tests.
[[nodiscard]] Result<std::string> find_worker(const std::string& option, const std::vector<std::string>& places);

inline constexpr const char* kWorkerVariable = "PADLOCK_WORKER";
inline constexpr const char* kWorkerName = "padlock-worker";

/// A process that tries configs, replaced when it crashes, hangs, loses its device or breaks the protocol. What a
/// config does stays there: this process, whatever the worker writes, only gets a verdict. Not thread-safe; one a
/// device.
class Worker {
 public:
  struct Options {
    std::vector<std::string> command;  ///< file, as of find_worker, and arguments
    std::chrono::milliseconds start_limit{10'000};
    /// Asked about ten times a second while a config is tried: whether to stop. May be empty.
    std::function<bool()> cancelled = {};
  };
  /// Starts the process. Errors: unavailable, naming the file, where it does not begin as a worker does.
  [[nodiscard]] static Result<Worker> start(Options options);

  /// Beside what Trials::try_config says, the verdicts timeout (request.time_limit_ms is over), crash (the process
  /// died; a fault with the data's end flush is a load out of bounds) and protocol. Errors: unavailable, where no new
  /// process could be started; cancelled, after which the worker is another one, too.
  [[nodiscard]] Result<TryResult> try_config(const TryRequest& request);

  /// Processes that were started.
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] pid_t pid() const { return process_ ? process_->pid() : -1; }

 private:
  explicit Worker(Options options) : options_(std::move(options)) {}
  [[nodiscard]] Status spawn();
  [[nodiscard]] Status wait_for_hello();
  [[nodiscard]] Status make_ready();
  [[nodiscard]] Result<TryResult> converse(std::string_view outgoing, std::int64_t limit_ms);
  /// At the place that the worker is at.
  [[nodiscard]] TryResult result_of(Verdict verdict, std::string message) const;
  [[nodiscard]] TryResult died();

  Options options_;
  std::optional<WorkerProcess> process_;
  bool ready_ = false;       // it has said hello, and is not at a request
  Step step_ = Step::none;   // that it said last, of the request
  std::int64_t places_ = 0;  // of the request that it has begun
  int starts_ = 0;
};

}  // namespace padlock::tuner
