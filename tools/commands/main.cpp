#include <fcntl.h>

#include <csignal>

#include "tools/commands/command_line.h"

namespace {

/// Opens those of stdin, stdout and stderr that the caller has closed. Otherwise the next opened file, such as a cache,
/// would get the number and receive its output.
void open_standard_files() {
  int file = 0;
  while (file >= 0 && file <= 2) file = ::open("/dev/null", O_RDWR);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);  // then a write beyond the file size limit fails, and the file is removed
  return padlock::tools::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc});
}
