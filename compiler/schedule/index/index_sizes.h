#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Collects the sizes that emitted expressions are computed from, each once: the parts that arrive as one number.
class IndexSizes {
 public:
  enum class Coordinates : std::uint8_t { by_extent, bounded };

  /// `by_extent`: a coordinate counts as the extent that bounds it; `bounded`: as nothing, since every coordinate lies
  /// below 2^47. Borrows the kernel.
  explicit IndexSizes(const Kernel& kernel, Coordinates coordinates = Coordinates::by_extent)
      : kernel_(kernel), exprs_(kernel.program->exprs()), coordinates_(coordinates) {}

  void add(ir::Expr e);
  [[nodiscard]] const std::vector<ir::Expr>& found() const { return found_; }

 private:
  void add_size(ir::Expr e);
  void add_extent(ir::Expr coordinate);

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Coordinates coordinates_;
  std::unordered_set<std::uint32_t> seen_;  // by Expr::id
  std::vector<ir::Expr> found_;
};

}  // namespace padlock::compiler
