#pragma once

#include <functional>

#include "tuner/trial/request.h"

// The worker's side of the pipe.
namespace padlock::tuner {

/// Tries one request, and says before each step what it is about to do.
using TryHandler = std::function<TryResult(const TryRequest& request, const std::function<void(Step)>& on_step)>;

/// Reads requests from `in` and writes results to `out`, both open file descriptors, until `in` ends. Returns the
/// process's exit status: 0, or 1 after what was no request, which stderr then names.
[[nodiscard]] int serve_requests(int in, int out, const TryHandler& handler);

/// main() of a worker: serves stdin and stdout, of which nothing else in the process sees the latter. The process ends
/// with its parent, whatever it is doing then: when stdin is hung up, and where the parent's thread dies.
[[nodiscard]] int run_worker(const TryHandler& handler);
/// The same with Trials.
[[nodiscard]] int run_worker();

}  // namespace padlock::tuner
