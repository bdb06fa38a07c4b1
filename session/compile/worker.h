#pragma once

namespace padlock::session {

/// main() of the process in which a tuner tries configs (tuner/worker/worker_loop.h): serves stdin and stdout, and ends
/// with its parent.
[[nodiscard]] int run_worker();

}  // namespace padlock::session
