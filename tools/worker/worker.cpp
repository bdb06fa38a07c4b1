#include "padlock/padlock.h"
#include "tools/commands/command.h"

namespace padlock::tools {

void add_worker(Subcommand& app) {
  Subcommand command = app.subcommand("worker", "try configs for a tuner, which asks on stdin (as padlock-worker)");
  command.hide();  // hidden: a tuner starts it, no person does
  command.examples("padlock worker </dev/null", "padlock worker </dev/null | od -c");
  command.runs([] { return static_cast<ExitCode>(padlock_worker_main()); });
}

}  // namespace padlock::tools
