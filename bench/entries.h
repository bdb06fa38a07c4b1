#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/report.h"

namespace padlock::bench {

/// What a row is of, for who reads the figures.
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
  /// What another process times, as Contestant::time_ms; its rival is `ours`.
  void add_remote(const Entry& entry, std::function<std::optional<double>(int)> time_ms, const Entry& ours);
  [[nodiscard]] const std::vector<Contestant>& contestants() const { return contestants_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// What the row of that name is of; null for what is compared again.
  [[nodiscard]] const Entry* find(const std::string& name) const;

 private:
  std::vector<Contestant> contestants_;
  std::vector<Entry> entries_;
};

}  // namespace padlock::bench
