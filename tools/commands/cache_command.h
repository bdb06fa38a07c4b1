#pragma once

#include <string>
#include <vector>

#include "tools/commands/command.h"

// Shared parts of the actions of `padlock cache`, and the actions that change a file or compare two.
namespace padlock::tools {

struct CacheOptions {
  std::string cache;               ///< --cache; empty: the user's
  std::vector<std::string> files;  ///< besides --cache; for sync, the exchange's URL
  std::string json;
  std::string output;   ///< for export
  std::string program;  ///< the beginning of a fingerprint
  std::string device;   ///< for report
  std::string before;   ///< a date
  bool dry_run = false;
};

/// Opens a cache, or an export of one; an empty path: the user's cache.
[[nodiscard]] Outcome<lib::Cache> open_cache(const std::string& path);
/// Reads the lines of a cache's records, and prints one warning about bad ones. The user's own file may be missing.
/// `code` is the exit code for a file that cannot be read at all.
struct CacheLines {
  std::vector<std::string> records, problems;
};
[[nodiscard]] Outcome<CacheLines> read_lines(const lib::Cache& cache, ExitCode code = ExitCode::cache);
/// Prints one warning on stderr about the bad records of a cache.
void warn_of_problems(const lib::Cache& cache, const std::vector<std::string>& problems);
/// Returns a text's lines, without their newlines.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

Outcome<ExitCode> cache_merge(const CacheOptions& options);
Outcome<ExitCode> cache_import(const CacheOptions& options);
Outcome<ExitCode> cache_sync(const CacheOptions& options);
Outcome<ExitCode> cache_diff(const CacheOptions& options);
Outcome<ExitCode> cache_prune(const CacheOptions& options);

}  // namespace padlock::tools
