#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/kernel_abi.h"
#include "ir/binding/binding.h"
#include "ir/expr/expr_tape.h"

// Evaluation of a kernel's contract under a binding.
namespace padlock::abi {

/// Returns whether a guard holds; false if it cannot be evaluated in 128 bits.
[[nodiscard]] bool guard_holds(const Guard& guard, const ir::Binding& binding);
/// Returns whether all guards of a contract hold.
[[nodiscard]] bool guards_hold(const KernelAbi& abi, const ir::Binding& binding);

/// Everything a launch needs except pointers and scalars.
struct LaunchPlan {
  std::size_t variant = 0;
  std::vector<std::int64_t> sizes = {};  // of the variant's contract
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_bytes = 0;

  /// Returns whether there is no output to compute; the other fields may then be zero, too.
  [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
};

/// The contracts of one kernel's variants, made ready for many bindings: guards, grid and sizes of all of them are on
/// one tape. Immutable, thread-safe.
class LaunchPlanner {
 public:
  /// `variants` begins with the one that assumes nothing; they are only read here, not kept. Borrows the program.
  LaunchPlanner(const ir::Program& program, std::span<const KernelAbi* const> variants);

  /// Selects the last variant whose guards hold, else the first. Precondition: the binding is one of the program.
  /// Allocates only `sizes`. Errors, where there is an output: failed_precondition for the kernel's first precondition
  /// that does not hold in 128 bits, with the values; invalid_argument as evaluate_int64; internal, where rows, columns
  /// or row bytes are negative.
  [[nodiscard]] Result<LaunchPlan> plan(const ir::Binding& binding) const;

 private:
  /// Positions of a variant's expressions among the tape's roots. `guards`: two roots for each guard. `grid`: columns,
  /// rows, the bytes of a row, then the sizes.
  struct Variant {
    std::size_t guards, grid;
    std::vector<ir::Comparison> comparisons = {};
    std::vector<SizeArgument::Encoding> fits = {};
  };
  class Evaluated;

  std::string name_;
  std::size_t results_ = 0;                    // results of the kernel; their element counts are the first roots
  std::vector<ir::Comparison> preconditions_;  // two roots for each follow
  std::vector<Variant> variants_;
  ir::ExprTape tape_;
};

}  // namespace padlock::abi
