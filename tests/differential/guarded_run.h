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

/// A binding with data: storage of every input, bits of every scalar, and what the results must be.
struct Problem {
  const ir::Program* program = nullptr;  // borrowed, as is the binding
  const ir::Binding* binding = nullptr;
  std::vector<std::vector<std::byte>> inputs;  // by tensor parameter
  std::vector<std::uint64_t> scalars;          // by scalar parameter
  struct Expected {
    std::vector<std::byte> bytes;
    /// Whether any NaN will do at that element, in row-major order. Asked where bits differ.
    std::function<bool(std::size_t)> nan_open;
  };
  std::vector<Expected> results;

  /// Random inputs and scalars, and no results yet. The program and the binding must outlive it.
  [[nodiscard]] static Problem unsolved(const ir::Program& program, const ir::Binding& binding, testing::Rng& rng);
};

/// How one run lays out its memory.
struct Arrangement {
  Placement placement = Placement::after_guard;
  std::byte poison{0xA5};   ///< what outputs hold before the run
  bool misaligned = false;  ///< bases a few odd bytes away from the guard page
  bool elements = false;    ///< whole elements away from it, as a GPU's kernel takes them
  bool split = false;       ///< several launches that cover the range once, where the launch has a choice
};

/// The buffers of one run, inputs and results by their place in the program's lists.
struct GuardedBuffers {
  std::vector<GuardedBuffer*> inputs, results;
};

/// Runs a program once on these buffers. Empty, or what went wrong.
using Launch = std::function<std::string(const GuardedBuffers& buffers, bool split, testing::Rng& rng)>;

/// Runs on guarded buffers and compares every element of every result with the expected ones. Returns the first
/// difference (result, coordinate, expected and actual bits), or what happened to canaries or inputs, or what the
/// launch says; empty where all is well.
[[nodiscard]] std::string run_and_compare(const Launch& launch, const Problem& problem, GuardedArena& arena,
                                          const Arrangement& arrangement, testing::Rng& rng);

/// Two runs, with different placements and poison: what neither writes cannot be right in both. `elements`: see
/// Arrangement.
[[nodiscard]] std::string check_both_placements(const Launch& launch, const Problem& problem, GuardedArena& arena,
                                                testing::Rng& rng, bool elements = false);

}  // namespace padlock::differential
