#include "api/worker.h"

#include "tools/command.h"

namespace padlock::tools {

void add_worker(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("worker", "try configs for a tuner, which asks on stdin (as padlock-worker)");
  add_examples(command, "padlock worker </dev/null", "PADLOCK_WORKER=libexec/padlock-worker padlock version");
  command.callback([&action] { action = [] { return static_cast<ExitCode>(api::run_worker()); }; });
}

}  // namespace padlock::tools
