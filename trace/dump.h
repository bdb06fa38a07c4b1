#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::trace {

/// The folder for the dumps of a process's compiles. After the first failure, which is reported on stderr, nothing more
/// is dumped. Thread-safe, also against other processes that dump there.
class DumpFolder {
 public:
  /// `path` is created at the first dump.
  explicit DumpFolder(std::string path);

  /// Creates a folder of its own for one compile: "PROGRAM-TARGET-PROCESS-NUMBER" with the first characters of both
  /// names. Returns its path; empty after a failure.
  [[nodiscard]] std::string begin(std::string_view program, std::string_view target);
  /// Writes one file of a dump.
  void write(const std::string& folder, std::string_view file, std::string_view text);

 private:
  void give_up(const std::string& why);

  const std::string path_;
  // In the default order: each use writes files.
  std::atomic<bool> usable_ = true;
  std::atomic<int> next_ = 0;
};

}  // namespace padlock::trace
