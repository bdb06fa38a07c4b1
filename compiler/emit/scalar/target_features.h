#pragma once

#include <cstdint>
#include <string>

#include "support/cpu/architecture.h"

namespace padlock::compiler {

/// Properties of the target that code generation needs.
struct TargetFeatures {
  Architecture architecture = Architecture::x86_64;  ///< of a CPU
  std::string cpu;
  std::string features;           ///< "+avx2,-avx512f,..."
  bool f16c = false;              ///< converts f16 in hardware; else integer code does: LLVM would call a library
  bool rounds_floats = false;     ///< has floor, ceil and round as instructions; else LLVM would call a library
  bool fma = false;               ///< multiplies and adds with one rounding
  int operand_bytes = 0;          ///< of vector registers whose constants are operands in memory; 0: there are none
  bool pairs_accesses = false;    ///< loads or stores two vectors that stand together by one instruction
  bool tests_floats = false;      ///< compares floats with zero, and narrows a shifted integer, by one instruction
  bool mask_registers = false;    ///< selects any vector's lanes by a register of bits
  bool packs_words = false;       ///< acts on words of elements if it can: it has no registers of fewer bits
  bool f16_arithmetic = false;    ///< adds, subtracts and multiplies f16, two at a time (PTX)
  bool f16_masks = false;         ///< compares both f16 of a word at once (PTX)
  bool bf16_masks = false;        ///< the same for bf16
  bool bounds_nans = false;       ///< bounds f32 and keeps a NaN, and rounds two to a word of bf16 (PTX 7.0)
  bool few_f64_units = false;     ///< computes f64 at 1/32 of f32's rate or less
  bool permutes_bytes = false;    ///< has PTX's prmt
  bool sets_bits = false;         ///< has PTX's bmsk (PTX 7.6)
  bool abs16 = true;              ///< compares abs of the least i16 as the negative number that it is
  unsigned global_space = 0;      ///< LLVM's address space of buffers
  bool aligned_elements = false;  ///< pointers are multiples of their element sizes: a launch checks it
  std::int64_t cache_bytes = std::int64_t{32} << 20;      ///< size of the last cache before memory
  std::int64_t core_cache_bytes = std::int64_t{1} << 20;  ///< size of a core's own cache
  bool fetches_lines = false;   ///< has loads that ask a cache for the line around them (PTX 7.4)
  bool copies_in_bulk = false;  ///< one instruction copies a run to shared memory (PTX 8.0)
  bool waits = false;           ///< code, not its launch, waits for the work before it (KernelAbi::waits)
  int most_threads = 2048;      ///< of a GPU's multiprocessor
  bool takes_words = false;     ///< a launch is an array of words, not a HostLaunch (see LaunchFields)
};

}  // namespace padlock::compiler
