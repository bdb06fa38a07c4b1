#include "compiler/prover/gpu/tile_shares.h"

#include <fmt/format.h>

#include "compiler/prover/core/access_regions.h"
#include "compiler/prover/core/dealt_once.h"

namespace padlock::compiler {

using ir::Expr;

Expr replaced(ir::ExprContext& exprs, Expr e, const std::vector<std::pair<Expr, Expr>>& values) {
  return exprs.substitute(e, [&](Expr symbol) {
    for (const auto& [from, to] : values)
      if (symbol == from) return to;
    return symbol;
  });
}

void add_difference(ir::ExprContext& exprs, std::vector<Goal>& goals, Expr a, Expr b,
                    const std::function<std::string(const Evaluate&)>& describe) {
  if (a == b) return;
  goals.push_back({{less(exprs, a, b)}, describe});
  goals.push_back({{less(exprs, b, a)}, describe});
}

solver::Region positions_of(ir::ExprContext& exprs, const TransposeTile& tile) {
  const Expr side = exprs.constant(tile.side());
  const Expr columns = exprs.constant(tile.columns());
  solver::Region region;
  region.nonnegative = {tile.row, less(exprs, tile.row, side), tile.column, less(exprs, tile.column, columns)};
  return region;
}

std::vector<Expr> phases_of(ir::ExprContext& exprs, const TransposeTile& tile) {
  return {tile.phase, less(exprs, tile.phase, exprs.constant(tile.halo()))};
}

Expr stored_number(ir::ExprContext& exprs, const TransposeTile& tile, Expr column) {
  return exprs.add(exprs.sub(column, exprs.constant(tile.halo())), tile.phase);
}

solver::Region stored_of(ir::ExprContext& exprs, const TransposeTile& tile) {
  const Expr side = exprs.constant(tile.side());
  const Expr number = stored_number(exprs, tile, tile.column);
  solver::Region region;
  const Expr columns = exprs.constant(tile.stored_columns());
  region.nonnegative = phases_of(exprs, tile);
  for (const Expr e : {tile.row, less(exprs, tile.row, side), number, less(exprs, number, columns)})
    region.nonnegative.push_back(e);
  return region;
}

namespace {

/// Proves that a position tells whose it is, and which of its positions.
Obligation prove_shared_once(ProofSession& session, const TransposeTile& tile, const TileShares& shares) {
  ir::ExprContext& exprs = session.exprs();
  const auto told_by = [&](Expr e) {
    return replaced(exprs, e, {{tile.row, shares.row}, {tile.column, shares.column}});
  };
  const Expr told = told_by(shares.its);
  const auto twice = [=](const Evaluate& at) {
    return fmt::format("position ({}, {}) of number {} is in number {}", at(shares.row), at(shares.column),
                       at(shares.share), at(told));
  };
  std::vector<Goal> goals;
  add_difference(exprs, goals, shares.share, told, twice);
  for (const auto& [variable, value] : shares.values) add_difference(exprs, goals, variable, told_by(value), twice);
  solver::Region region;
  region.nonnegative = shares.domain;
  if (shares.stored)
    for (const Expr e : phases_of(exprs, tile)) region.nonnegative.push_back(e);
  region.nonnegative.push_back(shares.share);
  region.nonnegative.push_back(less(exprs, shares.share, shares.count));
  Obligation once = session.decide(ObligationKind::disjoint, shares.name, region, goals);
  if (once.verdict == Verdict::proved && !is_dealt_once(session, tile.threads)) {
    once.verdict = Verdict::checked;
    once.reason = "that a share is one thread's is not shown";
  }
  return once;
}

}  // namespace

std::vector<Obligation> prove_shares(ProofSession& session, const TransposeTile& tile, const TileShares& shares) {
  ir::ExprContext& exprs = session.exprs();
  const auto missing = [=](const Evaluate& at) {
    return fmt::format("position ({}, {}) is not in number {}", at(tile.row), at(tile.column), at(shares.its));
  };
  std::vector<std::pair<Expr, Expr>> values = shares.values;
  values.emplace_back(shares.share, shares.its);
  std::vector<Goal> goals = {{{less(exprs, shares.its, exprs.constant(0))}, missing},
                             {{at_least(exprs, shares.its, shares.count)}, missing}};
  add_difference(exprs, goals, replaced(exprs, shares.row, values), tile.row, missing);
  add_difference(exprs, goals, replaced(exprs, shares.column, values), tile.column, missing);
  for (const Expr e : shares.domain)
    goals.push_back({{less(exprs, replaced(exprs, e, values), exprs.constant(0))}, missing});
  const solver::Region shared_out = shares.stored ? stored_of(exprs, tile) : positions_of(exprs, tile);
  return {session.decide(ObligationKind::cover, shares.name, shared_out, goals),
          prove_shared_once(session, tile, shares)};
}

}  // namespace padlock::compiler
