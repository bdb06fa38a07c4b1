// A program for gdb to stop in: gdb_test.py compares the printer's text of its expressions with to_string's.

#include <cstdio>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/expr_node.h"

namespace padlock::ir {
namespace {

[[gnu::noinline]] void stop_here(const Expr& e) { std::printf("%u\n", e.id()); }

/// Has the context as a member, like most code that works on expressions.
class Holder {
 public:
  explicit Holder(ExprContext& exprs) : exprs_(exprs) {}
  [[gnu::noinline]] void stop(Expr e) const {
    std::printf("text %s\n", to_string(exprs_, e).c_str());
    stop_here(e);
  }

 private:
  ExprContext& exprs_;
};

std::vector<Expr> expressions(ExprContext& exprs) {
  const Expr s = exprs.declare({.name = "S", .kind = SymbolKind::dim, .range = {.lo = -100, .hi = 1000}});
  const Expr t = exprs.declare({.name = "T", .kind = SymbolKind::dim, .range = {.lo = -100, .hi = 1000}});
  const Expr column = exprs.coordinate(1);
  const Expr sum = exprs.add(exprs.mul(exprs.constant(-3), s), exprs.sub(column, exprs.constant(7)));
  return {exprs.constant(Int128{1} << 100),
          exprs.neg(s),
          sum,
          exprs.mul(exprs.add(s, t), exprs.max(s, column)),
          exprs.neg(exprs.mod(exprs.neg(sum), exprs.constant(8))),
          exprs.add(exprs.floordiv(sum, exprs.constant(4)), exprs.mul(exprs.constant(2), exprs.mul(s, t))),
          exprs.min(exprs.variable("begin", 100), exprs.max(exprs.sub(s, t), exprs.constant(0)))};
}

}  // namespace
}  // namespace padlock::ir

int main() {
  padlock::ir::ExprContext exprs;
  padlock::ir::ExprContext other;  // with other names for the same numbers
  other.declare({.name = "wrong"});
  const padlock::ir::Holder holder(exprs);
  for (const padlock::ir::Expr e : padlock::ir::expressions(exprs)) holder.stop(e);
}
