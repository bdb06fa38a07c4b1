#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/tiles.h"

namespace padlock::compiler {

/// How the positions of a tile are shared out: number `share`, below `count`, has the positions (row, column), for all
/// values of other variables. The witness is `its`: which number has a position, with these values of the others.
struct TileShares {
  std::string name;
  ir::Expr share, count;
  ir::Expr row, column;  ///< over `share` and the other variables
  ir::Expr its;          ///< over the tile's `row` and `column`, as are the values
  std::vector<std::pair<ir::Expr, ir::Expr>> values = {};
  std::vector<ir::Expr> domain = {};  ///< of the other variables: each is >= 0, as it is for the witness
  bool stored = false;  ///< what is shared out is what is stored of a tile, with its phases, not all of it
};

/// Proves that each position of the tile is in one share, and that threads, who take shares in turn, have none twice.
[[nodiscard]] std::vector<Obligation> prove_shares(ProofSession& session, const TransposeTile& tile,
                                                   const TileShares& shares);

/// Returns an expression with other values of variables.
[[nodiscard]] ir::Expr replaced(ir::ExprContext& exprs, ir::Expr e,
                                const std::vector<std::pair<ir::Expr, ir::Expr>>& values);
/// Adds the goals that two expressions differ.
void add_difference(ir::ExprContext& exprs, std::vector<Goal>& goals, ir::Expr a, ir::Expr b,
                    const std::function<std::string(const Evaluate&)>& describe);
/// Returns the region of a tile's positions.
[[nodiscard]] solver::Region positions_of(ir::ExprContext& exprs, const TransposeTile& tile);
/// Returns that of phases.
[[nodiscard]] std::vector<ir::Expr> phases_of(ir::ExprContext& exprs, const TransposeTile& tile);
/// Returns which of its row's columns a stored position is: the first is number 0.
[[nodiscard]] ir::Expr stored_number(ir::ExprContext& exprs, const TransposeTile& tile, ir::Expr column);
/// Returns the region of those positions that are stored.
[[nodiscard]] solver::Region stored_of(ir::ExprContext& exprs, const TransposeTile& tile);

}  // namespace padlock::compiler
