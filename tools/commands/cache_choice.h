#pragma once

#include <string>

#include "tools/commands/command.h"

namespace padlock::tools {

/// From which cache configs are taken: --cache and --cache-mode.
struct CacheChoice {
  std::string file;
  std::string mode;  ///< empty: read where a file is given, else off
};

void add_cache_options(Subcommand& command, CacheChoice& choice);

/// The options of a context that uses it; they borrow `choice`. Failure: usage, for a mode that there is not.
[[nodiscard]] Outcome<padlock_context_options> context_options(const CacheChoice& choice);

}  // namespace padlock::tools
