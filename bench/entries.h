#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/report.h"

namespace padlock::bench {

/// Entry says what a row of figures is about.
struct Entry {
  std::string engine;         ///< "memcpy", "padlock", or a peer's name
  std::string op = "pad";     ///< "pad", "pad+relu"; empty for memcpy
  std::string dtype = "f32";  ///< empty for memcpy
  int threads = 1;
  std::string variant = {};  ///< how the program differs from the case's; empty: not at all

  /// "padlock pad f32, 1 thread, reflect".
  [[nodiscard]] std::string name() const;
};

/// Contestants with what they are; the names differ.
class Entries {
 public:
  void add(const Entry& entry, std::function<void()> run);
  /// Adds a contestant that another process times, as Contestant::time_ms; its rival is `ours`.
  void add_remote(const Entry& entry, std::function<std::optional<double>(int)> time_ms, const Entry& ours);
  [[nodiscard]] const std::vector<Contestant>& contestants() const { return contestants_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Returns the entry of that name's row; null for what is compared again.
  [[nodiscard]] const Entry* find(const std::string& name) const;

 private:
  std::vector<Contestant> contestants_;
  std::vector<Entry> entries_;
};

}  // namespace padlock::bench
