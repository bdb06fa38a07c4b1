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

/// A size that a kernel takes: an expression over symbols. A launch evaluates it in 128 bits and passes an int64. Parts
/// of addresses may wrap, because address arithmetic is modulo 2^64. A size that is compared or divided is clamped
/// instead, far outside the coordinates that it is compared with.
struct SizeArgument {
  enum class Encoding : std::uint8_t {
    wrap,              ///< the low 64 bits
    saturate,          ///< clamped to [-2^62, 2^62]
    magic_multiplier,  ///< of a Divisor, which replaces a division in the kernel
    magic_shift,
    magic_multiplier32,  ///< the same for 32-bit arithmetic
    magic_shift32,
    first_row,      ///< first row of the output that a launch writes (LaunchParts); 0 if it writes all
    elements,       ///< number of output elements that it writes; `value` if it writes all
    from_origin,    ///< `value` less the origin of an input, the low 64 bits
    from_origin32,  ///< the same, clamped to [-kFarthest, kFarthest], beyond which no launch reads
  };
  static constexpr std::int64_t kFarthest = (std::int64_t{1} << 31) - (std::int64_t{1} << 16);
  ir::Expr value;
  Encoding fit = Encoding::wrap;
  std::uint32_t input = 0;  ///< index into KernelAbi::inputs, for `from_origin`
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
  index32 = 1,        ///< indices fit in 32 bits
  offset32 = 2,       ///< so do element offsets
  few_tiles = 3,      ///< a GPU's tiles of the usual size would be too few
  in_range = 4,       ///< loads lie in their tensors; other variants test that
  few_vectors = 6,    ///< a GPU's output is small, or its rows are short: each thread takes one vector
  narrow_output = 7,  ///< so few rows or columns that a GPU's tiles would be mostly empty
  boxes = 8,          ///< rows so short that each block of a GPU takes several whole rows
  row_table = 9,      ///< a GPU's blocks have memory for what data says of their rows
  many_edges = 10,    ///< so many of a GPU's vectors lie in several segments that each is made element by element
  no_edges = 11,      ///< each of a GPU's vectors lies in one segment
};
inline constexpr auto kLastAssumption = Assumption::no_edges;

[[nodiscard]] std::string_view name_of(Assumption a);

/// A constraint on the sizes of a launch that an assumption requires.
struct Guard {
  Assumption assumption = Assumption::index32;
  ir::Constraint holds;
};

/// Returns the guards of an assumption.
[[nodiscard]] std::vector<Guard> guards_of(std::span<const Guard> guards, Assumption what);
/// Returns whether an assumption has guards.
[[nodiscard]] bool assumes(std::span<const Guard> guards, Assumption what);

/// Bounds the elements of an input that a kernel reads for one row of its output: they lie in [least + offset, most +
/// offset]. `offset` is the sum over outer axes i of step i times the row's coordinate i.
struct Reach {
  std::uint32_t input = 0;      ///< index into KernelAbi::inputs
  std::vector<ir::Expr> steps;  ///< in elements, one for each outer axis
  ir::Expr least, most;         ///< in elements
};

/// Splits a launch for code with 32-bit element offsets: tensors of more elements take several launches, each of
/// consecutive output rows. A launch receives the result's pointer at its first row, and each input's pointer at an
/// origin: the first element that it may read. Offsets count from there.
struct LaunchParts {
  std::vector<ir::Expr> extents;    ///< of the output's outer axes; their product is the number of rows
  ir::Expr columns;                 ///< extent of the output's innermost axis
  std::vector<ir::Expr> spans;      ///< elements of each input's storage
  std::vector<Reach> reaches;       ///< each element read lies in a reach of its input
  std::int64_t block_elements = 1;  ///< per block: n elements take ceildiv(n + lanes - 1, block_elements) blocks
  std::int64_t lanes = 1;           ///< elements of a vector
  std::int64_t most_elements = 0;   ///< limit of a launch: elements written, span of the reads of an input
};

/// The launch contract of one kernel: what it expects, in which order, as expressions of the program. It is stored with
/// the code, so that a launcher derives nothing.
struct KernelAbi {
  std::string name;
  /// Inputs that the kernel reads, then results that it writes; their base pointers are passed in this order.
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
  /// Bytes that one row writes, over all results; they decide how many rows make a task.
  ir::Expr row_bytes;
  /// Threads per block of a GPU kernel; 0 on the host. On a GPU `rows` counts tiles, one per block, and `columns` is 1.
  int threads = 0;
  /// Bytes of memory besides buffers: a GPU block's shared memory, or the host's launch plan (HostPlanner). Not valid
  /// for a kernel that needs none.
  ir::Expr shared_bytes = {};
  /// The code itself waits for earlier work in its stream before it touches memory, and lets later work begin likewise
  /// (PTX ISA, griddepcontrol). Then a launch need not wait.
  bool waits = false;
  /// Descriptions of the accesses, for error messages: AccessFault::access is an index into them.
  std::vector<std::string> accesses;
  /// Bounds of sizes that every variant requires, even the one without assumptions: beyond them an index would not fit
  /// in 64 bits. Empty for nearly all programs, which bound their indices themselves.
  std::vector<ir::Constraint> preconditions = {};
  /// Guards that must all hold for this code to be correct. Empty in the variant that assumes nothing.
  std::vector<Guard> guards = {};
  /// Splits larger launches of a GPU's code with 32-bit offsets. If no split is small enough, a launch takes a variant
  /// that assumes less.
  std::optional<LaunchParts> parts = {};
};

/// Returns the name of a kernel's HostPlanner. `abi` is the contract of the kernel's first variant.
[[nodiscard]] inline std::string planner_name(const KernelAbi& abi) { return abi.name + ".plan"; }

/// The parameters of a GPU kernel, as 64-bit words: the address of its AccessFault, then its buffers, scalars and
/// sizes, each in the contract's order.
struct ParameterWords {
  static constexpr std::size_t kMost = 512;  ///< 4096 bytes: every architecture and driver accepts them

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
  /// `shared_bytes` that a HostPlanner has written for these sizes, aligned to kPlanAlignment. Null: the kernel
  /// computes rows without a plan. Read only.
  void* plan = nullptr;
};
inline constexpr std::size_t kPlanAlignment = 64;

/// Writes the launch's plan, which depends on its sizes alone; reads no other field. The plan serves every launch with
/// these sizes, of any variant of the kernel. Calls nothing.
using HostPlanner = void (*)(const HostLaunch* launch);

/// Computes rows [row_first, row_last) x columns [column_first, column_last). Thread-safe for disjoint ranges. The
/// caller's floating-point environment does not affect it and is left unchanged. Uses no other memory and calls
/// nothing.
using HostEntry = void (*)(const HostLaunch* launch, std::int64_t row_first, std::int64_t row_last,
                           std::int64_t column_first, std::int64_t column_last);

}  // namespace padlock::abi
