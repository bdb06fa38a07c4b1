#include "tuner/worker/worker_loop.h"

int main() { return padlock::tuner::run_worker(); }
