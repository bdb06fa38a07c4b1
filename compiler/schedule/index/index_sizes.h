#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Collects the sizes that emitted expressions are computed from, each once: the parts that arrive as one number.
/// Borrows the context.
class IndexSizes {
 public:
  explicit IndexSizes(ir::ExprContext& exprs) : exprs_(exprs) {}

  void add(ir::Expr e);
  [[nodiscard]] const std::vector<ir::Expr>& found() const { return found_; }

 private:
  void add_size(ir::Expr e);

  ir::ExprContext& exprs_;
  std::unordered_set<std::uint32_t> seen_;  // by Expr::id
  std::vector<ir::Expr> found_;
};

}  // namespace padlock::compiler
