#include "api/worker.h"

#include "tools/command.h"

namespace padlock::tools {

void add_worker(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("worker", "try configs for a tuner, which asks on stdin (as padlock-worker)");
  command.group("");  // not listed in the help: a tuner starts it, nobody types it
  add_examples(command, "padlock worker </dev/null", "padlock worker </dev/null | od -c");
  command.callback([&action] { action = [] { return static_cast<ExitCode>(api::run_worker()); }; });
}

}  // namespace padlock::tools
