#pragma once

#include <span>
#include <vector>

#include "ir/expr/product_form.h"

namespace padlock::compiler {

/// Adjacent axes of an operand, and axes of its reshaped result with as many elements: [first, last) each.
struct ReshapeGroup {
  std::size_t operand_first = 0, operand_last = 0;
  std::size_t result_first = 0, result_last = 0;
};

/// Factors a reshape into the shortest groups that the extents' expressions show. At a boundary, the axes before it, or
/// those after it, have as many elements on both sides. Without a boundary all axes are one group.
[[nodiscard]] std::vector<ReshapeGroup> reshape_groups(ir::Products& products, std::span<const ir::Expr> operand,
                                                       std::span<const ir::Expr> result);

}  // namespace padlock::compiler
