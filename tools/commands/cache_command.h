#pragma once

#include <string>
#include <vector>

#include "tools/commands/command.h"

// Declare what the actions of `padlock cache` share, and those that change a file or compare two.
namespace padlock::tools {

struct CacheOptions {
  std::string cache;               ///< --cache; empty: the user's
  std::vector<std::string> files;  ///< besides it; of sync, the exchange's URL
  std::string json;
  std::string output;   ///< of export
  std::string program;  ///< a fingerprint's beginning
  std::string device;   ///< of report
  std::string before;   ///< a date
  bool dry_run = false;
};

/// A cache, or an export of one; of an empty path the user's.
[[nodiscard]] Outcome<lib::Cache> open_cache(const std::string& path);
/// The lines of its records; what is bad of it goes to stderr as one warning. The user's own file need not be there.
/// `code`: of a file that cannot be read at all.
struct CacheLines {
  std::vector<std::string> records, problems;
};
[[nodiscard]] Outcome<CacheLines> read_lines(const lib::Cache& cache, ExitCode code = ExitCode::cache);
/// Warns on stderr, once, of what of a cache is bad.
void warn_of_problems(const lib::Cache& cache, const std::vector<std::string>& problems);
/// A text's lines, without their newlines.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

Outcome<ExitCode> cache_merge(const CacheOptions& options);
Outcome<ExitCode> cache_import(const CacheOptions& options);
Outcome<ExitCode> cache_sync(const CacheOptions& options);
Outcome<ExitCode> cache_diff(const CacheOptions& options);
Outcome<ExitCode> cache_prune(const CacheOptions& options);

}  // namespace padlock::tools
