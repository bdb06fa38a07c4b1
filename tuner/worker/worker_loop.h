#pragma once

#include <functional>

#include "tuner/trial/request.h"

// The worker's side of the pipe.
namespace padlock::tuner {

/// Handles one request, and reports each step before it begins.
using TryHandler = std::function<TryResult(const TryRequest& request, const std::function<void(Step)>& on_step)>;

/// Reads requests from `in` and writes results to `out`, both open file descriptors, until `in` ends. Returns the
/// process's exit status: 0, or 1 after an invalid request, which stderr then describes.
[[nodiscard]] int serve_requests(int in, int out, const TryHandler& handler);

/// main() of a worker: serves stdin and stdout, and hides stdout from the rest of the process. The process ends with
/// its parent, in any state: when stdin is hung up, and when the parent's thread dies.
[[nodiscard]] int run_worker(const TryHandler& handler);
/// The same with Trials.
[[nodiscard]] int run_worker();

}  // namespace padlock::tuner
