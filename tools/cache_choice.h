#pragma once

#include <string>

#include "api/context.h"
#include "api/tuning_cache.h"
#include "tools/command.h"

namespace padlock::tools {

/// From which cache configs are taken: --cache and --cache-mode.
struct CacheChoice {
  std::string file;
  std::string mode;  ///< empty: read where a file is given, else off
};

void add_cache_options(Subcommand& command, CacheChoice& choice);

/// What the options say. Failure: usage, for a mode that there is not.
[[nodiscard]] Outcome<api::StoreOptions> store_options(const CacheChoice& choice);
/// Has the context use it. Warnings go to stderr. Failures: as store_options; cache, for a file that is required and
/// cannot be used.
[[nodiscard]] Outcome<void> use_cache(api::Context& context, const CacheChoice& choice);

}  // namespace padlock::tools
