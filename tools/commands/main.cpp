#include "tools/commands/command_line.h"

int main(int argc, char** argv) { return padlock::tools::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}); }
