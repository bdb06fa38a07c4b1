#include "compiler/prover/core/dealt_once.h"

#include "compiler/prover/core/access_regions.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of a loop (compiler/prover/core/loop_proof.cpp).
enum VariableOrder { kFirst = 1200, kSecond, kFirstTurn, kSecondTurn };

}  // namespace

bool is_dealt_once(ProofSession& session, int count) {
  ir::ExprContext& exprs = session.exprs();
  const Expr size = exprs.constant(count);
  const Expr first = exprs.variable("thread", kFirst);
  const Expr second = exprs.variable("other_thread", kSecond);
  const Expr turn = exprs.variable("turn", kFirstTurn);
  const Expr other = exprs.variable("other_turn", kSecondTurn);
  solver::Region region{
      .nonnegative = {less(exprs, first, size), less(exprs, second, size)}, .zero = {}, .alternatives = {}};
  region.zero.push_back(exprs.sub(exprs.add(first, exprs.mul(size, turn)), exprs.add(second, exprs.mul(size, other))));
  return session.excludes(region, {less(exprs, first, second)});
}

}  // namespace padlock::compiler
