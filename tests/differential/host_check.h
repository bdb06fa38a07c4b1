#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/binding.h"
#include "ir/executable.h"
#include "ir/interpreter.h"
#include "tests/differential/guarded_buffer.h"
#include "tests/differential/rng.h"

namespace padlock::differential {

using Kernels = std::vector<std::unique_ptr<ir::HostExecutable>>;

/// A binding with data: storage of every input, bits of every scalar, and what the interpreter makes of them.
struct Problem {
  const ir::Program* program = nullptr;  // borrowed, as is the binding
  const ir::Binding* binding = nullptr;
  std::vector<std::vector<std::byte>> inputs;  // by tensor parameter
  std::vector<std::uint64_t> scalars;          // by scalar parameter
  struct Expected {
    std::vector<std::byte> bytes;
    std::vector<bool> nan_open;
  };
  std::vector<Expected> results;

  /// Random inputs; the program and the binding must outlive it.
  [[nodiscard]] static Result<Problem> random(const ir::Program& program, const ir::Binding& binding, Rng& rng);
  /// Given inputs (each of exactly the storage's bytes) and scalars.
  [[nodiscard]] static Result<Problem> with_inputs(const ir::Program& program, const ir::Binding& binding,
                                                   std::vector<std::vector<std::byte>> inputs,
                                                   std::vector<std::uint64_t> scalars);
};

/// How one run lays out its memory.
struct Arrangement {
  Placement placement = Placement::after_guard;
  std::byte poison{0xA5};   ///< what outputs hold before the run
  bool misaligned = false;  ///< bases a few odd bytes away from the guard page
  bool split = false;       ///< several launches that cover the range once
};

/// Runs all kernels on guarded buffers and compares every element of every result with the interpreter's. Returns
/// the first difference (result, coordinate, expected and actual bits), or what happened to canaries or inputs, or a
/// bounds-check fault; empty where all is well.
[[nodiscard]] std::string run_and_compare(const Kernels& kernels, const Problem& problem, GuardedArena& arena,
                                          const Arrangement& arrangement, Rng& rng);

/// Two runs, with different placements and poison: what neither writes cannot be right in both.
[[nodiscard]] std::string check_both_placements(const Kernels& kernels, const Problem& problem, GuardedArena& arena,
                                                Rng& rng);

}  // namespace padlock::differential
