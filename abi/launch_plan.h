#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/kernel_abi.h"
#include "ir/binding/binding.h"
#include "ir/expr/expr_tape.h"

// What a kernel's contract comes to under a binding.
namespace padlock::abi {

/// Whether it holds. One that cannot be evaluated in 128 bits does not.
[[nodiscard]] bool guard_holds(const Guard& guard, const ir::Binding& binding);
/// Whether all of a contract do.
[[nodiscard]] bool guards_hold(const KernelAbi& abi, const ir::Binding& binding);

/// All that a launch needs but pointers and scalars.
struct LaunchPlan {
  std::size_t variant = 0;
  std::vector<std::int64_t> sizes = {};  // of the variant's contract
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_bytes = 0;

  /// Then the rest may be zero, too.
  [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
};

/// The contracts of one kernel's variants, made ready for many bindings: guards, grid and sizes of all of them are on
/// one tape. Immutable, thread-safe.
class LaunchPlanner {
 public:
  /// `variants`: the one that assumes nothing first; read here and not kept. Borrows the program.
  LaunchPlanner(const ir::Program& program, std::span<const KernelAbi* const> variants);

  /// Takes the last variant whose guards hold, else the first. The binding is one of the program. Allocates the sizes
  /// and nothing else. Errors: invalid_argument as evaluate_int64, where there is an output; internal, where rows,
  /// columns or row bytes are negative.
  [[nodiscard]] Result<LaunchPlan> plan(const ir::Binding& binding) const;

 private:
  /// Where a variant's expressions stand among the tape's roots: two for each guard; columns, rows, the bytes of a row
  /// and then the sizes.
  struct Variant {
    std::size_t guards, grid;
    std::vector<ir::Comparison> comparisons = {};
    std::vector<SizeArgument::Encoding> fits = {};
  };
  class Evaluated;

  std::string name_;
  std::size_t results_ = 0;  // their numbers of elements are the first roots
  std::vector<Variant> variants_;
  ir::ExprTape tape_;
};

}  // namespace padlock::abi
