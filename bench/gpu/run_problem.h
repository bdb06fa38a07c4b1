#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/copy_kernel.h"
#include "bench/gpu/data.h"
#include "bench/gpu/kernel.h"
#include "bench/gpu/measure.h"
#include "bench/gpu/problem.h"

namespace padlock::bench::gpu {

struct RunOptions {
  int rounds = 21;         ///< samples of each contestant
  double sample_ms = 2;    ///< a call that is faster is made several times a sample, as the device's queue allows
  std::uint64_t seed = 1;  ///< of the order within a round and of the bootstrap
  int finalists = 3;       ///< of the configs that are tried, beside the first, that are timed to the end
};

/// A compiled program under the name that it has in the table. Borrows the kernel.
struct Candidate {
  std::string name;    ///< "padlock", "padlock best"
  std::string config;  ///< its text
  Kernel* kernel = nullptr;
};

/// One line of the table: a contestant on one problem.
struct Line {
  std::string name;
  std::string config;  ///< empty of memcpy; which of the copy kernels
  CodeFacts code;      ///< zeros of copies
  Timing timing;
};

struct ProblemReport {
  Problem problem;
  int buffers = 0;          ///< pairs that calls take in turn
  int calls = 0;            ///< of memcpy in one sample
  std::vector<Line> lines;  ///< memcpy, memcpy again, the fastest copy kernel where there are some, the candidates
  /// Faults found in a result, each names the candidate; such a candidate is not timed. Empty: all bits right.
  std::vector<std::string> failures;

  /// Returns the time of the better copy, the driver's or a kernel's.
  [[nodiscard]] double copy_ms() const;
};

/// Checks every candidate's whole output, times those that are right beside copies of the same bytes (half of them read
/// and half written): cuMemcpyDtoD, and the fastest of `copies` in a short trial (null: none). Checks once more, on the
/// last pair of buffers where there is more than one. Of more than 1 + finalists candidates, the first and the fastest
/// in a short trial stay. nullopt where the device has too little memory. Errors: the device's.
[[nodiscard]] Result<std::optional<ProblemReport>> run_problem(Rig& rig, const Problem& problem, const Data& data,
                                                               const std::vector<Candidate>& candidates,
                                                               const CopyKernels* copies, const RunOptions& options);

}  // namespace padlock::bench::gpu
