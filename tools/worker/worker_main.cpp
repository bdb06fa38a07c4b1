#include "session/compile/worker.h"

int main() { return padlock::session::run_worker(); }
