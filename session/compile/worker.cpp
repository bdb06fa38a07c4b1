#include "session/compile/worker.h"

#include "tuner/worker/worker_loop.h"

namespace padlock::session {

int run_worker() { return tuner::run_worker(); }

}  // namespace padlock::session
