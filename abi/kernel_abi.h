#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/program.h"

namespace padlock::abi {

/// A size that a kernel takes: an expression over symbols, evaluated in 128 bits when a launch is planned and passed as
/// int64. Addresses are arithmetic modulo 2^64, so that their parts may wrap; whatever is compared, or taken modulo
/// something, is clamped instead, far outside the coordinates that it is compared with.
struct SizeArgument {
  enum class Encoding : std::uint8_t {
    wrap,              ///< the low 64 bits
    saturate,          ///< clamped to [-2^62, 2^62]
    magic_multiplier,  ///< of a Divisor: a launch has them instead of divisions
    magic_shift,
    magic_multiplier32,  ///< the same for arithmetic of 32 bits
    magic_shift32,
  };
  ir::Expr value;
  Encoding fit = Encoding::wrap;
};

/// Division by a number that is known before: for 0 <= n < 2^63, n div d is (high(n * multiplier) + n) >> shift, with
/// the high 64 bits of the product of 128 (Granlund and Montgomery, Division by invariant integers, 1994, figure 4.1).
struct Divisor {
  std::uint64_t multiplier = 0;
  int shift = 0;

  /// Precondition: 1 <= d <= 2^(bits - 1). `bits`: of the arithmetic, at most 64, with n < 2^(bits - 1).
  [[nodiscard]] static Divisor of(std::uint64_t d, int bits = 64);
  [[nodiscard]] std::uint64_t divide(std::uint64_t n, int bits = 64) const;
};

/// What a variant of a kernel may take for granted, so that its code is faster. It selects the variant and never
/// refuses a size: every kernel has a variant that assumes nothing. Packs hold the numbers.
enum class Assumption : std::uint8_t {
  index32 = 1,  ///< indices fit 32 bits
};

[[nodiscard]] std::string_view name_of(Assumption a);

/// A part of an assumption, as a constraint on the sizes of a launch.
struct Guard {
  Assumption assumption = Assumption::index32;
  ir::Constraint holds;
};

/// The launch contract of one kernel: what it expects, in which order, as expressions of the program. It travels
/// with the code, so that a launcher computes nothing of its own.
struct KernelAbi {
  std::string name;
  /// Values whose base pointers are passed, in order: inputs that the kernel reads, then the results it writes.
  std::vector<ir::ValueId> inputs;
  std::vector<ir::ValueId> results;
  /// Scalar parameters whose bits are passed, zero-extended to 64 bits, in order.
  std::vector<ir::ValueId> scalars;
  /// Evaluated under the binding and passed in order.
  std::vector<SizeArgument> sizes;
  /// The kernel covers rows [0, rows) x columns [0, columns) of its output (flat outer axes x innermost axis); a
  /// caller may split both, and must cover each pair exactly once. An empty output is not launched.
  ir::Expr rows;
  ir::Expr columns;
  /// Bytes that one row writes, over all results; for choosing how many rows make a task.
  ir::Expr row_bytes;
  /// Of a GPU's kernel: threads of a block; `rows` counts its tiles, which blocks take in turn, and `columns` is 1. A
  /// launch has a block for each tile or, where it is `persistent`, as many as run at once. 0 on the host.
  int threads = 0;
  bool persistent = false;
  /// Which access a fault names: index into `accesses`.
  std::vector<std::string> accesses;
  /// Sizes for which this code is right: all must hold. Empty in the variant that assumes nothing.
  std::vector<Guard> guards = {};
};

/// A GPU kernel's parameters: 64-bit words, first the address of its AccessFault, then those of its buffers, its
/// scalars and its sizes, each in the contract's order.
struct ParameterWords {
  static constexpr std::size_t kMost = 512;  ///< 4096 bytes, what a launch takes on every architecture and driver

  explicit ParameterWords(const KernelAbi& abi)
      : scalars(buffers + abi.inputs.size() + abi.results.size()),
        sizes(scalars + abi.scalars.size()),
        count(sizes + abi.sizes.size()) {}

  // Where each kind begins, and how many there are.
  static constexpr std::size_t fault = 0, buffers = 1;
  std::size_t scalars, sizes, count;
};

/// Where a bounds-check kernel reports the first access that failed; zero before the launch. The writer claims it by
/// setting `claimed` from 0 to 1, then fills the rest.
struct AccessFault {
  std::int64_t claimed = 0;
  std::int64_t access = 0;      // index into KernelAbi::accesses
  std::int64_t coordinate = 0;  // linear element offset
  std::int64_t extent = 0;      // storage extent in elements
};

/// What a host kernel is given. Arrays as the KernelAbi lists them.
struct HostLaunch {
  void* const* buffers = nullptr;  // inputs, then results
  const std::int64_t* sizes = nullptr;
  const std::uint64_t* scalars = nullptr;
  AccessFault* fault = nullptr;  // never null
};

/// Computes rows [row_first, row_last) x columns [column_first, column_last). Thread-safe for disjoint ranges. What the
/// caller set of the floating-point environment changes nothing and stays. Uses no other memory and calls nothing.
using HostEntry = void (*)(const HostLaunch* launch, std::int64_t row_first, std::int64_t row_last,
                           std::int64_t column_first, std::int64_t column_last);

}  // namespace padlock::abi
