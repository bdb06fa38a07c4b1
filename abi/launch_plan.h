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

// Evaluation of a kernel's contract under a binding.
namespace padlock::abi {

/// Returns whether a guard holds; false if it cannot be evaluated in 128 bits.
[[nodiscard]] bool guard_holds(const Guard& guard, const ir::Binding& binding);
/// Returns whether all guards of a contract hold.
[[nodiscard]] bool guards_hold(const KernelAbi& abi, const ir::Binding& binding);

/// One of the launches that serve a binding together (LaunchParts).
struct LaunchPart {
  std::int64_t rows = 0;                   // blocks
  std::vector<std::int64_t> sizes = {};    // of the variant's contract, for this launch
  std::int64_t first_element = 0;          // of each result: where its pointer is to point
  std::vector<std::int64_t> origins = {};  // the same of each input, in elements
};

/// Everything a launch needs except pointers and scalars.
struct LaunchPlan {
  std::size_t variant = 0;
  std::vector<std::int64_t> sizes = {};  // of the variant's contract; with parts, the first one's
  std::int64_t rows = 0;                 // with parts, of all of them
  std::int64_t columns = 0;
  std::int64_t row_bytes = 0;
  std::int64_t shared_bytes = 0;  // of a block, or of a host's plan
  /// Empty where one launch does it all, with pointers as the caller has them; else the launches, in order.
  std::vector<LaunchPart> parts = {};

  /// Returns whether there is no output to compute; the other fields may then be zero, too.
  [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
  /// Returns how many launches it takes.
  [[nodiscard]] std::size_t launches() const { return empty() ? 0 : parts.empty() ? 1 : parts.size(); }
};

/// The contracts of one kernel's variants, made ready for many bindings: guards, grid and sizes of all of them are on
/// one tape. Immutable, thread-safe.
class LaunchPlanner {
 public:
  /// `variants` begins with the one that assumes nothing; they are only read here, not kept. Borrows the program.
  LaunchPlanner(const ir::Program& program, std::span<const KernelAbi* const> variants);

  /// Selects the last variant whose guards hold, else the first. Where its launch may take only fewer elements than
  /// there are, it is launched in parts, or, where it cannot be, the last without parts whose guards hold is taken.
  /// Precondition: the binding is one of the program. Allocates only `sizes`, without parts. Errors, where there is an
  /// output: failed_precondition for the kernel's first precondition that does not hold in 128 bits, with the values;
  /// invalid_argument as evaluate_int64; internal, where rows, columns or row bytes are negative.
  [[nodiscard]] Result<LaunchPlan> plan(const ir::Binding& binding) const;

 private:
  struct Size {
    SizeArgument::Encoding fit;
    std::uint32_t input;
  };
  /// Positions of a variant's expressions among the tape's roots. `guards`: two roots for each guard. `grid`: columns,
  /// rows, the bytes of a row and of shared memory, then the sizes, then, of one with parts, the spans.
  struct Variant {
    std::size_t guards, grid;
    std::vector<ir::Comparison> comparisons = {};
    std::vector<Size> sizes = {};
    std::size_t spans = 0;  // how many
    std::optional<PartsTape> parts = {};
  };
  static constexpr std::size_t kGridRoots = 4;  // before the sizes
  struct Share;
  class Evaluated;

  /// Returns whether the selected variant can do it all in launches of the elements that each may take, and adds them
  /// to the plan, unless one with pointers as the caller has them suffices.
  [[nodiscard]] Result<bool> plan_parts(const Evaluated& evaluated, LaunchPlan& plan) const;

  std::string name_;
  std::size_t results_ = 0;                    // results of the kernel; their element counts are the first roots
  std::vector<ir::Comparison> preconditions_;  // two roots for each follow
  std::vector<Variant> variants_;
  ir::ExprTape tape_;
};

}  // namespace padlock::abi
