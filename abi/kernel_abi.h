#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/program.h"

namespace padlock::abi {

/// A size that a kernel takes: an expression over symbols, evaluated in 128 bits when a launch is planned and passed as
/// int64. Parts of addresses may wrap, because address arithmetic is modulo 2^64. A size that is compared, or taken
/// modulo something, is clamped instead, far outside the coordinates that it is compared with.
struct SizeArgument {
  enum class Encoding : std::uint8_t {
    wrap,              ///< the low 64 bits
    saturate,          ///< clamped to [-2^62, 2^62]
    magic_multiplier,  ///< of a Divisor, which replaces divisions in the kernel
    magic_shift,
    magic_multiplier32,  ///< the same for arithmetic of 32 bits
    magic_shift32,
    first_row,      ///< the first row of the output that a launch writes (LaunchParts), 0 where it writes all
    elements,       ///< how many elements of the output it writes: `value` where it writes all
    from_origin,    ///< `value` less the origin of an input, the low 64 bits
    from_origin32,  ///< the same, clamped to [-kFarthest, kFarthest]: beyond is what no launch reads
  };
  static constexpr std::int64_t kFarthest = (std::int64_t{1} << 31) - (std::int64_t{1} << 16);
  ir::Expr value;
  Encoding fit = Encoding::wrap;
  std::uint32_t input = 0;  ///< of KernelAbi::inputs, whose origin is meant
};

/// Division by an invariant integer d: for 0 <= n < 2^63, n div d is (high(n * multiplier) + n) >> shift, where high is
/// the upper 64 bits of the 128-bit product (Granlund and Montgomery, Division by invariant integers, 1994, figure
/// 4.1).
struct Divisor {
  std::uint64_t multiplier = 0;
  int shift = 0;

  /// Precondition: 1 <= d <= 2^(bits - 1). `bits` is the width of the arithmetic, at most 64, with n < 2^(bits - 1).
  [[nodiscard]] static Divisor of(std::uint64_t d, int bits = 64);
  [[nodiscard]] std::uint64_t divide(std::uint64_t n, int bits = 64) const;
};

/// An assumption that makes a variant of a kernel faster. Assumptions select a variant and never refuse a size: every
/// kernel has a variant that assumes nothing. Packs store these numbers. (5 was of short rows that a GPU's warp found
/// in a table: older packs have such variants, which still run.)
enum class Assumption : std::uint8_t {
  index32 = 1,        ///< indices fit 32 bits
  offset32 = 2,       ///< so do offsets of elements
  few_tiles = 3,      ///< a GPU's tiles of the usual size are too few
  in_range = 4,       ///< loads lie in their tensors, which the code tests where it is not assumed
  few_vectors = 6,    ///< a GPU's output is small: a thread takes one vector of it
  narrow_output = 7,  ///< it has so few rows or columns that a GPU's tiles would be mostly empty
  boxes = 8,          ///< its rows are so short that a GPU's blocks make some whole ones each
  row_table = 9,      ///< a GPU's blocks have memory for what data says of their rows
};

[[nodiscard]] std::string_view name_of(Assumption a);

/// A constraint on the sizes of a launch that an assumption requires.
struct Guard {
  Assumption assumption = Assumption::index32;
  ir::Constraint holds;
};

/// Returns those of an assumption.
[[nodiscard]] std::vector<Guard> guards_of(std::span<const Guard> guards, Assumption what);
/// Returns whether there are any of it.
[[nodiscard]] bool assumes(std::span<const Guard> guards, Assumption what);

/// Bounds the elements that a kernel reads of an input for a row of its output: of those of the input's storage only
/// some of [least + offset, most + offset], where `offset` is the sum of step i times outer coordinate i of the row.
struct Reach {
  std::uint32_t input = 0;      ///< of KernelAbi::inputs
  std::vector<ir::Expr> steps;  ///< elements, one for each outer axis
  ir::Expr least, most;         ///< elements
};

/// How code whose offsets of elements have 32 bits serves tensors of more elements: by several launches, each of
/// consecutive rows of the output. A launch is given the result from its first row on, and each input from an origin
/// on: the first element that it may read. It counts offsets from there.
struct LaunchParts {
  std::vector<ir::Expr> extents;    ///< of the output's outer axes, whose product is its rows
  ir::Expr columns;                 ///< of its innermost axis
  std::vector<ir::Expr> spans;      ///< of each input: elements of its storage
  std::vector<Reach> reaches;       ///< every element that is read lies in one of those of its input
  std::int64_t block_elements = 1;  ///< of a block: n elements are ceildiv(n + lanes - 1, block_elements) blocks
  std::int64_t lanes = 1;           ///< of a vector
  std::int64_t most_elements = 0;   ///< that a launch writes, and from the first to the last that it reads of an input
};

/// The launch contract of one kernel: what it expects, in which order, as expressions of the program. It is stored with
/// the code, so that a launcher derives nothing itself.
struct KernelAbi {
  std::string name;
  /// Values whose base pointers are passed, in order: inputs that the kernel reads, then the results it writes.
  std::vector<ir::ValueId> inputs;
  std::vector<ir::ValueId> results;
  /// Scalar parameters whose bits are passed, zero-extended to 64 bits, in order.
  std::vector<ir::ValueId> scalars;
  /// Sizes that are evaluated under the binding and passed, in order.
  std::vector<SizeArgument> sizes;
  /// The kernel covers rows [0, rows) x columns [0, columns) of its output (flat outer axes x innermost axis); a
  /// caller may split both, and must cover each pair exactly once. An empty output is not launched.
  ir::Expr rows;
  ir::Expr columns;
  /// Bytes that one row writes, over all results; for choosing how many rows make a task.
  ir::Expr row_bytes;
  /// Threads of a block of a GPU kernel; 0 on the host. On a GPU `rows` counts tiles, each of which is a block's, and
  /// `columns` is 1.
  int threads = 0;
  /// Bytes of memory besides buffers: on a GPU the shared memory that a block asks its launch for, on the host the plan
  /// of a launch (HostPlanner). Not valid where it asks for none.
  ir::Expr shared_bytes = {};
  /// The code waits for the work before it in its stream before it touches memory, and lets the work after it begin to
  /// do the same (PTX ISA, griddepcontrol). A launch need not wait, then.
  bool waits = false;
  /// Descriptions of the accesses, for faults: AccessFault::access is an index into them.
  std::vector<std::string> accesses;
  /// Bounds of sizes that every variant requires, the one that assumes nothing too: beyond them an index would not fit
  /// 64 bits. Empty where the program bounds its indices itself, as nearly all do.
  std::vector<ir::Constraint> preconditions = {};
  /// Guards that must all hold for this code to be correct. Empty in the variant that assumes nothing.
  std::vector<Guard> guards = {};
  /// A GPU's code for offsets of 32 bits: how it serves more elements than those count. Where the guards hold and no
  /// parts are small enough, a launch takes code that assumes less.
  std::optional<LaunchParts> parts = {};
};

/// The name of the HostPlanner of a kernel, whose first variant has this contract.
[[nodiscard]] inline std::string planner_name(const KernelAbi& abi) { return abi.name + ".plan"; }

/// A GPU kernel's parameters: 64-bit words, first the address of its AccessFault, then those of its buffers, its
/// scalars and its sizes, each in the contract's order.
struct ParameterWords {
  static constexpr std::size_t kMost = 512;  ///< 4096 bytes, what a launch takes on every architecture and driver

  explicit ParameterWords(const KernelAbi& abi)
      : scalars(buffers + abi.inputs.size() + abi.results.size()),
        sizes(scalars + abi.scalars.size()),
        count(sizes + abi.sizes.size()) {}

  // Index of the first word of each kind, and the number of words.
  // NOLINTNEXTLINE(readability-identifier-naming): as those that depend on the contract
  static constexpr std::size_t fault = 0, buffers = 1;
  std::size_t scalars, sizes, count;
};

/// Receives the first failed access from a bounds-check kernel. All zero before the launch. The writer claims it by
/// setting `claimed` from 0 to 1, then fills the rest.
struct AccessFault {
  std::int64_t claimed = 0;
  std::int64_t access = 0;      // index into KernelAbi::accesses
  std::int64_t coordinate = 0;  // linear element offset
  std::int64_t extent = 0;      // storage extent in elements
};

/// Arguments of a host kernel. Each array has the order of its list in KernelAbi.
struct HostLaunch {
  void* const* buffers = nullptr;  // inputs, then results
  const std::int64_t* sizes = nullptr;
  const std::uint64_t* scalars = nullptr;
  AccessFault* fault = nullptr;  // never null
  /// `shared_bytes` that a HostPlanner has written for these sizes, at a multiple of kPlanAlignment; or null, and rows
  /// are taken without a plan. Read only.
  void* plan = nullptr;
};
inline constexpr std::size_t kPlanAlignment = 64;

/// Writes the launch's plan, which follows from its sizes alone; reads no other field. It serves all launches with
/// these sizes, of any variant of the kernel. Calls nothing.
using HostPlanner = void (*)(const HostLaunch* launch);

/// Computes rows [row_first, row_last) x columns [column_first, column_last). Thread-safe for disjoint ranges. The
/// caller's floating-point environment does not affect it and is left unchanged. Uses no other memory and calls
/// nothing.
using HostEntry = void (*)(const HostLaunch* launch, std::int64_t row_first, std::int64_t row_last,
                           std::int64_t column_first, std::int64_t column_last);

}  // namespace padlock::abi
