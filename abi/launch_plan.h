#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "abi/kernel_abi.h"
#include "abi/parts_tape.h"
#include "ir/binding/binding.h"
#include "ir/expr/expr_tape.h"

// Evaluates a kernel's contract under a binding.
namespace padlock::abi {

/// Returns whether a guard holds; false if it cannot be evaluated in 128 bits.
[[nodiscard]] bool guard_holds(const Guard& guard, const ir::Binding& binding);
/// Returns whether all guards of a contract hold.
[[nodiscard]] bool guards_hold(const KernelAbi& abi, const ir::Binding& binding);

/// One of several launches that serve a binding together (LaunchParts).
struct LaunchPart {
  std::int64_t rows = 0;                   // blocks
  std::vector<std::int64_t> sizes = {};    // the variant's sizes, for this launch
  std::int64_t first_element = 0;          // of each result: the element at which its pointer must point
  std::vector<std::int64_t> origins = {};  // the same of each input, in elements
};

/// Everything a launch needs except pointers and scalars.
struct LaunchPlan {
  std::size_t variant = 0;
  std::vector<std::int64_t> sizes = {};  // the variant's sizes; with parts, those of the first
  std::int64_t rows = 0;                 // with parts, their sum
  std::int64_t columns = 0;
  std::int64_t row_bytes = 0;
  std::int64_t shared_bytes = 0;  // per block, or of the host's plan
  /// The launches in order. Empty: a single launch suffices, with the caller's pointers.
  std::vector<LaunchPart> parts = {};

  /// Returns whether there is no output to compute; the other fields may then be zero, too.
  [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
  /// Returns how many launches it takes.
  [[nodiscard]] std::size_t launches() const { return empty() ? 0 : parts.empty() ? 1 : parts.size(); }
};

/// The contracts of one kernel's variants, prepared for many bindings: guards, grids and sizes of all variants are on
/// one tape. Immutable, thread-safe.
class LaunchPlanner {
 public:
  /// The first of `variants` assumes nothing. They are read here and not kept. Borrows the program.
  LaunchPlanner(const ir::Program& program, std::span<const KernelAbi* const> variants);

  /// Selects the last variant whose guards hold, else the first. If its launch may not take all elements, it is
  /// launched in parts. If that is impossible, selects the last variant without parts whose guards hold. Without parts
  /// it allocates only `sizes`. Precondition: the binding is one of the program. Errors, unless the output is empty:
  /// failed_precondition, with the values, for the kernel's first precondition that does not hold in 128 bits;
  /// invalid_argument as evaluate_int64; internal for negative rows, columns or row bytes.
  [[nodiscard]] Result<LaunchPlan> plan(const ir::Binding& binding) const;

 private:
  struct Size {
    SizeArgument::Encoding fit;
    std::uint32_t input;
  };
  /// Positions of a variant's expressions among the tape's roots. `guards`: two roots for each guard. `grid`: columns,
  /// rows, bytes of a row, shared bytes, then the sizes, and with parts the spans.
  struct Variant {
    std::size_t guards, grid;
    std::vector<ir::Comparison> comparisons = {};
    std::vector<Size> sizes = {};
    std::size_t spans = 0;  // number of spans
    std::optional<PartsTape> parts = {};
  };
  static constexpr std::size_t kGridRoots = 4;  // before the sizes
  struct Share;
  class Evaluated;

  /// Returns whether the selected variant can cover the output within its limit of elements per launch. Adds the parts
  /// to the plan unless one launch suffices.
  [[nodiscard]] Result<bool> plan_parts(const Evaluated& evaluated, LaunchPlan& plan) const;

  std::string name_;
  std::size_t results_ = 0;                    // results of the kernel; their element counts are the first roots
  std::vector<ir::Comparison> preconditions_;  // each has two roots after those
  std::vector<Variant> variants_;
  ir::ExprTape tape_;
};

}  // namespace padlock::abi
