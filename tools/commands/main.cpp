#include <fcntl.h>

#include <csignal>

#include "tools/commands/command_line.h"

namespace {

/// Opens those of stdin, stdout and stderr that the caller has closed. Else the next file that is opened, such as a
/// cache, would take their number, and what is written to them.
void open_standard_files() {
  int file = 0;
  while (file >= 0 && file <= 2) file = ::open("/dev/null", O_RDWR);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is a write that fails, and leaves nothing behind
  return padlock::tools::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc});
}
