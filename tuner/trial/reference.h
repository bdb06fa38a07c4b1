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

/// Computes a problem's results by other means than the interpreter: one vector of bytes a result.
using Computation = std::function<Result<std::vector<std::vector<std::byte>>>(const Problem& problem)>;

/// Effort says how much of a reference the interpreter makes.
struct ReferenceEffort {
  /// Above this many elements of results the interpreter takes too long.
  static constexpr std::int64_t kMostInterpreted = std::int64_t{1} << 22;
  /// Elements that are interpreted where not all are.
  static constexpr std::int64_t kSampled = std::int64_t{1} << 16, kFewestSampled = 1024;

  std::int64_t most_interpreted = kMostInterpreted;
  double most_ms = 0;  ///< about; 0: any time
};

/// Reference says what a problem's results must be.
class Reference {
 public:
  /// By the interpreter; above `most_interpreted` elements, or where it takes longer than `most_ms`, by `computation`,
  /// which is then compared with the interpreter: at kSampled elements or, for want of time, fewer, where predicates
  /// change their value among them, and fully at smaller sizes.
  /// Borrows the problem. Errors: as the interpreter and the computation; internal where the two differ.
  [[nodiscard]] static Result<Reference> compute(const Problem& problem, const Computation& computation,
                                                 ReferenceEffort effort = {});

  /// Describes the first wrong element of a result: "z: at [3, 4] expected 0x0, found 0xa5a5a5a5"; empty if there is
  /// none. If the language leaves a NaN's bits open, any NaN will do. Precondition: as many bytes as the result has.
  [[nodiscard]] Result<std::string> difference(std::size_t result, std::span<const std::byte> actual) const;

  /// The bits of a result, where no NaN is open.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t result) const { return bytes_[result]; }
  /// How the reference was made, where it was not by the interpreter alone; else empty.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  explicit Reference(const Problem& problem) : problem_(&problem) {}
  [[nodiscard]] Status interpret();
  [[nodiscard]] Status compute_and_compare(const Computation& computation, std::int64_t sampled);

  const Problem* problem_;  // borrowed (outlives this)
  std::vector<std::vector<std::byte>> bytes_;
  /// Flags for each result, by element, whether any NaN will do; empty where the interpreter is asked when it matters.
  std::vector<std::vector<bool>> nan_open_;
  std::string note_;
};

}  // namespace padlock::tuner
