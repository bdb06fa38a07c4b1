#include "compiler/kernel/reshape_groups.h"

#include "support/steps.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Products of the extents before and after each boundary.
struct Boundaries {
  Boundaries(ir::Products& products, std::span<const Expr> extents) {
    for (std::size_t i = 0; i <= extents.size(); ++i) {
      before.push_back(products.of(extents.first(i)));
      after.push_back(products.of(extents.subspan(i)));
    }
  }
  std::vector<ir::ProductForm> before, after;
};

}  // namespace

std::vector<ReshapeGroup> reshape_groups(ir::Products& products, std::span<const Expr> operand,
                                         std::span<const Expr> result) {
  const Boundaries from(products, operand), to(products, result);
  std::vector<ReshapeGroup> groups;
  std::size_t i = 0, j = 0;  // end of the last group
  const auto close = [&](std::size_t operand_end, std::size_t result_end) {
    groups.push_back({i, operand_end, j, result_end});
    i = operand_end;
    j = result_end;
  };
  for (std::size_t a = 0; a <= operand.size(); ++a)
    for (std::size_t b = j; b <= result.size(); ++b) {
      take_steps(1 + from.before[a].factors.size() / 4);
      if ((a == i && b == j) || a < i) continue;
      if (from.before[a] == to.before[b] || from.after[a] == to.after[b]) close(a, b);
    }
  if (i < operand.size() || j < result.size()) close(operand.size(), result.size());
  return groups;
}

}  // namespace padlock::compiler
