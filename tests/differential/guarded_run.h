#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "tests/common/rng.h"
#include "tests/differential/guarded_buffer.h"

namespace padlock::differential {

/// A binding with data: storage of every input, bits of every scalar, and the right results.
struct Problem {
  const ir::Program* program = nullptr;  // borrowed, as is the binding
  const ir::Binding* binding = nullptr;
  std::vector<std::vector<std::byte>> inputs;  // one for each tensor parameter
  std::vector<std::uint64_t> scalars;          // one for each scalar parameter
  struct Expected {
    std::vector<std::byte> bytes;
    /// Returns whether any NaN is right for that element, in row-major order. Called for elements whose bits differ.
    std::function<bool(std::size_t)> nan_open;
  };
  std::vector<Expected> results;

  /// Draws random inputs and scalars, without results. The program and the binding must outlive it.
  [[nodiscard]] static Problem unsolved(const ir::Program& program, const ir::Binding& binding, testing::Rng& rng);
};

/// The memory layout of one run.
struct Arrangement {
  Placement placement = Placement::after_guard;
  std::byte poison{0xA5};   ///< the content of outputs before the run
  bool misaligned = false;  ///< bases a few odd bytes away from the guard page
  bool elements = false;    ///< whole elements away from it, as a GPU's kernel requires
  bool split = false;       ///< several launches that cover the range once, if a launch can be split
};

/// The buffers of one run, in the order of the program's inputs and results.
struct GuardedBuffers {
  std::vector<GuardedBuffer*> inputs, results;
};

/// Runs a program once on these buffers. Returns what went wrong; empty if nothing did.
using Launch = std::function<std::string(const GuardedBuffers& buffers, bool split, testing::Rng& rng)>;

/// Runs on guarded buffers and compares every element of every result with the expected one. Returns the first
/// difference (result, coordinate, expected and actual bits), damage to canaries or inputs, or the launch's error;
/// empty if all is well.
[[nodiscard]] std::string run_and_compare(const Launch& launch, const Problem& problem, GuardedArena& arena,
                                          const Arrangement& arrangement, testing::Rng& rng);

/// Runs twice, with different placements and poison: an element that neither run writes cannot be right in both.
/// `elements`: see Arrangement.
[[nodiscard]] std::string check_both_placements(const Launch& launch, const Problem& problem, GuardedArena& arena,
                                                testing::Rng& rng, bool elements = false);

}  // namespace padlock::differential
