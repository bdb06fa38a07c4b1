#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::trace {

/// Where the dumps of a process's compiles go. The first trouble with it is said on stderr; then nothing more is
/// dumped. Thread-safe, also against other processes that dump there.
class DumpFolder {
 public:
  /// `path`: made when the first dump is.
  explicit DumpFolder(std::string path);

  /// Makes a folder that nobody else has, "PROGRAM-TARGET-PROCESS-NUMBER" with the first characters of both names.
  /// Returns its path; empty after trouble.
  [[nodiscard]] std::string begin(std::string_view program, std::string_view target);
  /// Writes a file of a dump.
  void write(const std::string& folder, std::string_view file, std::string_view text);

 private:
  void give_up(const std::string& why);

  const std::string path_;
  // In the default order: each use writes files.
  std::atomic<bool> usable_ = true;
  std::atomic<int> next_ = 0;
};

}  // namespace padlock::trace
