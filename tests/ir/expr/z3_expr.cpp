#include "tests/ir/expr/z3_expr.h"

#include <sstream>

namespace padlock::testing {

using ir::Expr;
using ir::ExprKind;

Z3Judge::Z3Judge(const ir::ExprContext& context, unsigned effort) : context_(context), solver_(z3_) {
  z3::params params(z3_);
  params.set("rlimit", effort);
  solver_.set(params);
}

z3::expr Z3Judge::integer(Int128 value) { return z3_.int_val(padlock::to_string(value).c_str()); }

z3::expr Z3Judge::quotient(const z3::expr& a, const z3::expr& b) { return z3::expr(z3_, Z3_mk_div(z3_, a, b)); }

z3::expr Z3Judge::symbol(Expr e) {
  const ir::Symbol& s = context_.symbol(e.symbol());
  const z3::expr x = z3_.int_const(s.name.c_str());
  if (s.range.lo > ir::Range::kMin) solver_.add(x >= integer(s.range.lo));
  if (s.range.hi < ir::Range::kMax) solver_.add(x <= integer(s.range.hi));
  if (s.congruence.modulus > 1) solver_.add(z3::mod(x, integer(s.congruence.modulus)) == integer(s.congruence.residue));
  return x;
}

z3::expr Z3Judge::of(Expr e) {
  if (const auto found = made_.find(e.id()); found != made_.end()) return found->second;
  z3::expr r = integer(e.kind() == ExprKind::product ? 1 : e.constant());
  if (e.kind() == ExprKind::symbol) r = symbol(e);
  const auto ops = e.operands();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const z3::expr x = of(ops[i]);
    switch (e.kind()) {
      case ExprKind::sum:
        r = r + integer(e.coefficients()[i]) * x;
        break;
      case ExprKind::product:
        r = i == 0 ? x : r * x;
        break;
      case ExprKind::floordiv:
        r = i == 0 ? x : quotient(r, x);
        break;
      case ExprKind::mod:
        r = i == 0 ? x : z3::mod(r, x);
        break;
      case ExprKind::min:
        r = i == 0 ? x : z3::ite(r <= x, r, x);
        break;
      case ExprKind::max:
        r = i == 0 ? x : z3::ite(r >= x, r, x);
        break;
      default:
        break;
    }
  }
  made_.emplace(e.id(), r);
  return r;
}

Verdict Z3Judge::judge(const z3::expr& claim) {
  solver_.push();
  solver_.add(!claim);
  const z3::check_result result = solver_.check();
  if (result == z3::sat) {
    std::ostringstream text;
    text << solver_.get_model();
    model_ = text.str();
  }
  solver_.pop();
  return result == z3::unsat ? Verdict::valid : result == z3::sat ? Verdict::refuted : Verdict::unknown;
}

}  // namespace padlock::testing
