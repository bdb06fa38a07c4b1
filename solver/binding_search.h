#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "solver/feasibility.h"
#include "support/error.h"

namespace padlock::solver {

/// Values of a program's symbols, by name.
using SymbolValues = std::map<std::string, std::int64_t>;

/// Inclusive limits of each symbol's value; a symbol that is not named has none.
struct SizeLimits {
  SymbolValues min, max;
};

/// Searches for bindings that a program admits: affine requirements are solved, the others searched. Every result was
/// constructed as an ir::Binding, so it is valid. Not thread-safe. Borrows the program.
class BindingSearch {
 public:
  /// Prepares the search. Errors (invalid_argument): a name that is no symbol, a minimum above its maximum.
  [[nodiscard]] static Result<BindingSearch> create(const ir::Program& program, SizeLimits limits);

  /// Finds a binding within the limits near the wanted values: exactly these if the program admits them. A symbol
  /// without a wanted value defaults to `other`, a `dim` to 1, a stride to its dense value. Deterministic for a given
  /// seed. Error: not_found, saying whether none exists or none was found.
  [[nodiscard]] Result<ir::Binding> nearest(const SymbolValues& wanted, std::int64_t other, std::uint64_t seed);

  /// The program's symbols, in order.
  [[nodiscard]] const std::vector<ir::Expr>& symbols() const { return symbols_; }
  /// Returns the symbols' values under a binding.
  [[nodiscard]] SymbolValues values_of(const ir::Binding& binding) const;
  [[nodiscard]] const ir::Program& program() const { return *program_; }

 private:
  explicit BindingSearch(const ir::Program& program);
  [[nodiscard]] const ir::Symbol& symbol(ir::Expr e) const;
  [[nodiscard]] ir::Range limits_of(ir::Expr symbol) const;
  [[nodiscard]] std::int64_t admissible(ir::Expr symbol, std::int64_t value) const;
  [[nodiscard]] Values64 complete(const SymbolValues& wanted, std::int64_t other) const;
  void set_dense_strides(const SymbolValues& wanted, Values64& values) const;
  [[nodiscard]] Result<ir::Binding> bind(const Values64& values) const;
  [[nodiscard]] std::optional<Values64> solve(const Values64& wanted, bool& none);
  [[nodiscard]] std::optional<ir::Binding> scatter(const Values64& wanted, std::uint64_t seed) const;

  const ir::Program* program_;
  std::vector<ir::Expr> symbols_;
  SizeLimits limits_;
  Determined determined_;
  std::unique_ptr<Feasibility> feasibility_;
};

}  // namespace padlock::solver
