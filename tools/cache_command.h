#pragma once

#include <string>
#include <vector>

#include "api/tuning_cache.h"
#include "tools/command.h"

// What the actions of `padlock cache` share, and those that change a file or compare two.
namespace padlock::tools {

struct CacheOptions {
  std::string cache;               ///< --cache; empty: the user's
  std::vector<std::string> files;  ///< besides it
  std::string json;
  std::string output;   ///< of export
  std::string program;  ///< a fingerprint's beginning
  std::string before;   ///< a date
  bool dry_run = false;
};

/// --cache, or the user's file.
[[nodiscard]] Outcome<std::string> cache_path(const CacheOptions& options);
/// The records of a cache or an export; what is bad of it goes to stderr as one warning. The user's own file, unless it
/// was named, need not be there. `code`: of a file that cannot be read at all.
[[nodiscard]] Outcome<api::RecordSet> read_records(const std::string& path, ExitCode code = ExitCode::cache);
/// Prints `text`, or `json` as --json says.
[[nodiscard]] Outcome<ExitCode> print(const CacheOptions& options, const std::string& text, const std::string& json);

Outcome<ExitCode> cache_merge(const CacheOptions& options);
Outcome<ExitCode> cache_import(const CacheOptions& options);
Outcome<ExitCode> cache_diff(const CacheOptions& options);
Outcome<ExitCode> cache_prune(const CacheOptions& options);

}  // namespace padlock::tools
