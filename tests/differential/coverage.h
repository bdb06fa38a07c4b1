#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/differential/programs/random_program.h"

namespace padlock::differential {

/// Counts how often a run met each thing that it must meet.
class Coverage {
 public:
  /// Lists everything that must occur, at zero.
  Coverage();
  /// Counts one run of a program under a binding: its needed statements, parameters and sizes.
  void count_run(const GeneratedProgram& program, const SymbolValues& values);
  void count(const std::string& category, const std::string& name) { ++counts_[category][name]; }

  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  /// Returns the rarest entry: its count, and "category: name". Leaves out one category if it is given.
  [[nodiscard]] std::pair<std::uint64_t, std::string> rarest(const std::string& left_out = {}) const;
  /// Prints one block for each category. Of the pairs of operations it prints the rarest ten and a summary, unless
  /// `all`.
  void print(bool all) const;

 private:
  void expect(const std::string& category, const std::string& name) { counts_[category][name]; }
  void count_pads(const GeneratedStatement& statement, const SymbolValues& values);
  void count_extents(const std::vector<Dim>& extents, const SymbolValues& values);

  std::map<std::string, std::map<std::string, std::uint64_t>> counts_;
  std::uint64_t runs_ = 0;
};

}  // namespace padlock::differential
