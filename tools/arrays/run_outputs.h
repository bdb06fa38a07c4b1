#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/arrays/arguments.h"
#include "tools/arrays/array_file.h"
#include "tools/arrays/expectation.h"
#include "tools/arrays/output_files.h"
#include "tools/arrays/shown_names.h"
#include "tools/failure.h"

namespace padlock::tools {

/// The comparison of one --expect.
struct ExpectReport {
  std::string result;
  Comparison comparison;
};

/// The results of a run: first the command line's requests for them, then their memory.
class RunOutputs {
 public:
  /// Matches names with results by the shown names, and opens the files to compare with. Failures: `usage` for names
  /// and formats, `file`.
  [[nodiscard]] static Outcome<RunOutputs> open(const lib::Program& program, const std::vector<OutputArgument>& outputs,
                                                const std::vector<ExpectArgument>& expects,
                                                const ShownNames& names = {});

  /// Allocates memory for each result.
  [[nodiscard]] Outcome<void> allocate(const lib::Context& context, const lib::Call& call);
  /// Writes all files under temporary names, and renames them once all are complete.
  [[nodiscard]] Outcome<void> write_files(OutputFiles& files) const;
  /// `inputs`: the values from which the results were computed.
  [[nodiscard]] Outcome<std::vector<ExpectReport>> compare(const lib::Call& call,
                                                           const std::vector<const void*>& inputs,
                                                           std::uint64_t ulp) const;

  /// Returns each result's description and memory, after `allocate`; borrowed from the call and this.
  [[nodiscard]] const std::vector<lib::TensorInfo>& results() const { return results_; }
  [[nodiscard]] const std::vector<lib::Memory>& memory() const { return memory_; }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t result) const;

 private:
  struct Target {
    std::size_t result;
    OutputArgument argument;
  };
  struct Expectation {
    std::size_t result;
    ArrayFile file;
  };
  std::vector<Target> targets_;
  std::vector<Expectation> expectations_;
  ShownNames names_;
  std::vector<lib::TensorInfo> results_;
  std::vector<lib::Memory> memory_;
};

}  // namespace padlock::tools
