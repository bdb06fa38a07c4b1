#include "api/worker.h"

#include "tuner/worker_loop.h"

namespace padlock::api {

int run_worker() { return tuner::run_worker(); }

}  // namespace padlock::api
