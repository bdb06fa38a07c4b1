#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/error.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {

/// Computes a problem's results without the interpreter: one vector of bytes per result.
using Computation = std::function<Result<std::vector<std::vector<std::byte>>>(const Problem& problem)>;

/// Effort says how much of a reference is interpreted.
struct ReferenceEffort {
  /// With more elements in its results, interpreting a problem takes too long.
  static constexpr std::int64_t kMostInterpreted = std::int64_t{1} << 22;
  /// Elements to interpret if not all are.
  static constexpr std::int64_t kSampled = std::int64_t{1} << 16, kFewestSampled = 1024;

  std::int64_t most_interpreted = kMostInterpreted;
  double most_ms = 0;  ///< about; 0: any time
};

/// Reference holds a problem's expected results.
class Reference {
 public:
  /// Uses the interpreter. Above `most_interpreted` elements, or if that takes longer than `most_ms`, uses
  /// `computation` and compares it with the interpreter: at kSampled elements, or fewer for want of time, including
  /// changes of predicates, and fully at smaller sizes. Borrows the problem. Errors: as the interpreter and the
  /// computation; internal if the two differ.
  [[nodiscard]] static Result<Reference> compute(const Problem& problem, const Computation& computation,
                                                 ReferenceEffort effort = {});

  /// Describes the first wrong element of a result: "z: at [3, 4] expected 0x0, found 0xa5a5a5a5"; empty if there is
  /// none. If the language leaves a NaN's bits open, any NaN will do. Precondition: as many bytes as the result has.
  [[nodiscard]] Result<std::string> difference(std::size_t result, std::span<const std::byte> actual) const;

  /// The bits of a result, for elements without an open NaN.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t result) const { return bytes_[result]; }
  /// How the reference was made; empty if by the interpreter alone.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  explicit Reference(const Problem& problem) : problem_(&problem) {}
  [[nodiscard]] Status interpret();
  [[nodiscard]] Status compute_and_compare(const Computation& computation, std::int64_t sampled);

  const Problem* problem_;  // borrowed (outlives this)
  std::vector<std::vector<std::byte>> bytes_;
  /// For each result, by element: whether any NaN will do. Empty if the interpreter is asked on demand.
  std::vector<std::vector<bool>> nan_open_;
  std::string note_;
};

}  // namespace padlock::tuner
