#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/verify/verifier.h"
#include "ir/verify/verify_arguments.h"

namespace padlock::ir {

/// Reads the named arguments of one statement: lists of sizes and of integers, and axes. Internal to the verifier.
class ArgumentReader {
 public:
  /// Borrows all; they outlive the reader.
  ArgumentReader(Verifier& verifier, const Arguments& arguments) : verifier_(verifier), arguments_(arguments) {}

  /// From here on, lists have one entry for each axis of this tensor.
  void set_tensor(const Value& x) { x_ = &x; }

  /// Builds the expressions of a list, of any length if `any_length`.
  [[nodiscard]] Result<std::vector<Expr>> exprs(std::string_view keyword, bool any_length = false) const;
  /// Reads integer literals in [least, limit). If the argument is absent, returns `least` for each axis.
  [[nodiscard]] Result<std::vector<std::int64_t>> integers(std::string_view keyword, std::int64_t least, Int128 limit,
                                                           bool any_length = false) const;
  /// Reads distinct axis numbers below `limit`; one for each axis of the tensor, or any number of them.
  [[nodiscard]] Result<std::vector<int>> different_axes(std::string_view keyword, std::size_t limit,
                                                        bool any_length = false) const;
  /// Reads the argument 'axis', an integer literal in [0, rank).
  [[nodiscard]] Result<int> axis(int rank) const;
  /// Returns the location of entry `axis` of a list argument.
  [[nodiscard]] Location entry_where(std::string_view keyword, std::size_t axis) const;

 private:
  [[nodiscard]] Result<const std::vector<syntax::Dim>*> list(std::string_view keyword, bool any_length) const;

  Verifier& verifier_;
  const Arguments& arguments_;
  const Value* x_ = nullptr;
};

}  // namespace padlock::ir
