#include "api/worker.h"

int main() { return padlock::api::run_worker(); }
