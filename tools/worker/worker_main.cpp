#include "padlock/padlock.h"

int main() { return padlock_worker_main(); }
