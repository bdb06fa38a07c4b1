#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/compiled_program.h"
#include "api/memory.h"
#include "tools/arguments.h"
#include "tools/array_file.h"
#include "tools/expectation.h"
#include "tools/failure.h"
#include "tools/output_files.h"

namespace padlock::tools {

/// The comparison of one --expect.
struct ExpectReport {
  std::string result;
  Comparison comparison;
};

/// The results of a run: what the command line wants done with them, then their memory.
class RunOutputs {
 public:
  /// Matches names with results and opens the files to compare with. Failures: `usage` for names and formats, `file`.
  [[nodiscard]] static Outcome<RunOutputs> open(const ir::Program& program, const std::vector<OutputArgument>& outputs,
                                                const std::vector<ExpectArgument>& expects);

  /// One buffer a result.
  [[nodiscard]] Outcome<void> allocate(const api::BoundProgram& bound, api::MemoryBudget& memory);
  /// Writes all files beside their names, and only when all are complete gives them these names.
  [[nodiscard]] Outcome<void> write_files(const api::BoundProgram& bound, OutputFiles& files) const;
  [[nodiscard]] Outcome<std::vector<ExpectReport>> compare(const api::BoundProgram& bound,
                                                           const api::LaunchArguments& arguments,
                                                           std::uint64_t ulp) const;

  [[nodiscard]] const std::vector<api::UserBuffer>& buffers() const { return buffers_; }

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
  std::vector<api::Allocation> allocations_;
  std::vector<api::UserBuffer> buffers_;
};

}  // namespace padlock::tools
