#include "compiler/prover/tile_proof.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/prover/access_regions.h"
#include "compiler/prover/tile_shares.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of a loop (compiler/prover/loop_proof.cpp).
enum VariableOrder { kOtherTile = 1240, kOtherRow, kOtherColumn };

/// A position, as expressions.
struct Position {
  Expr row, column;
};

class TileProof {
 public:
  TileProof(ProofSession& session, const TransposeTile& tile)
      : session_(session),
        exprs_(session.exprs()),
        kernel_(session.kernel()),
        tile_(tile),
        zero_(exprs_.constant(0)),
        here_{tile_.row, tile_.column},
        cross_(kernel_.coordinate(tile_.axis)),
        column_(kernel_.coordinate(kernel_.rank() - 1)) {}

  std::vector<Obligation> prove() {
    prove_digits();
    prove_output();
    prove_loaded();
    prove_stored();
    prove_memory();
    return std::move(all_);
  }

 private:
  // --- tiles --------------------------------------------------------------------------------------------------------

  /// A launch has as many tiles as the digits have values, and the axes that are not cut are digits.
  void prove_digits() {
    Expr product = exprs_.constant(1);
    for (const TileDigit& digit : tile_.digits) product = exprs_.mul(product, digit.count);
    std::vector<Goal> goals;
    differs(goals, tile_.tiles, product, "tiles are launched of");
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) {
      if (axis == tile_.axis) continue;
      const Expr extent = kernel_.extents[static_cast<std::size_t>(axis)];
      differs(goals, count_of(kernel_.coordinate(axis)), extent, "values of a coordinate are made of");
    }
    add(session_.decide(ObligationKind::cover, "digits of a tile's number", nonempty(), goals));
  }

  void differs(std::vector<Goal>& goals, Expr made, Expr needed, const char* what) {
    add_difference(exprs_, goals, made, needed,
                   [=](const Evaluate& at) { return fmt::format("{} {} {}", at(made), what, at(needed)); });
  }

  [[nodiscard]] Expr count_of(Expr value) {
    for (const TileDigit& digit : tile_.digits)
      if (digit.value == value) return digit.count;
    return zero_;
  }

  /// The witness: in a row of phase f, an element is at position (cross mod side, (column + f) mod columns + halo - f)
  /// of the tile of their quotients, and is stored of it.
  void prove_output() {
    const std::string name = fmt::format("tiles of {} x {}", tile_.side(), tile_.stored_columns());
    const Expr side = exprs_.constant(tile_.side());
    const Expr columns = exprs_.constant(tile_.stored_columns());
    const Expr part = exprs_.floordiv(cross_, side);
    const Expr from_phase = exprs_.add(column_, tile_.phase);
    const Expr inner_part = exprs_.floordiv(from_phase, columns);
    const Expr first = exprs_.sub(exprs_.constant(tile_.halo()), tile_.phase);
    const auto at_witness = [&](Expr e) {
      return replaced(e, {{tile_.cross_tile, part},
                          {tile_.column_tile, inner_part},
                          {tile_.row, exprs_.mod(cross_, side)},
                          {tile_.column, exprs_.add(first, exprs_.mod(from_phase, columns))}});
    };
    const auto missing = [=, this](const Evaluate& at) {
      return fmt::format("element ({}, {}) is not in tile ({}, {})", at(cross_), at(column_), at(part), at(inner_part));
    };
    const auto [made_cross, made_column] = made_at(here_);
    std::vector<Goal> goals = {{{at_least(exprs_, part, count_of(tile_.cross_tile))}, missing},
                               {{at_least(exprs_, inner_part, count_of(tile_.column_tile))}, missing}};
    add_difference(exprs_, goals, at_witness(made_cross), cross_, missing);
    add_difference(exprs_, goals, at_witness(made_column), column_, missing);
    for (const Expr test : tile_.tests) goals.push_back({{less(exprs_, at_witness(test), zero_)}, missing});
    for (const Expr e : stored_of(exprs_, tile_).nonnegative)
      goals.push_back({{less(exprs_, at_witness(e), zero_)}, missing});
    solver::Region region = elements();
    for (const Expr e : phases_of(exprs_, tile_)) region.nonnegative.push_back(e);
    add(session_.decide(ObligationKind::cover, name, region, goals));
    prove_inside(name);
    prove_once(name);
  }

  /// Proves that a position that passes the tests is an element of the output.
  void prove_inside(const std::string& name) {
    std::vector<Goal> goals;
    const auto [made_cross, made_column] = made_at(here_);
    for (const auto& [made, extent] : {std::pair(made_cross, cross_extent()), std::pair(made_column, columns())}) {
      const auto outside = [=](const Evaluate& at) {
        return fmt::format("coordinate {} is made, the extent is {}", at(made), at(extent));
      };
      goals.push_back({{less(exprs_, made, zero_)}, outside});
      goals.push_back({{at_least(exprs_, made, extent)}, outside});
    }
    solver::Region region = positions_of(exprs_, tile_);
    for (const Expr test : tile_.tests) region.nonnegative.push_back(test);
    add(session_.decide(ObligationKind::store, name, region, goals));
  }

  /// Along each axis the coordinates that a tile stores lie before those of later tiles, and two positions of a tile
  /// have two. Rows are told apart first; what has one row has one phase.
  void prove_once(const std::string& name) {
    const Position other{exprs_.variable("other_row", kOtherRow), exprs_.variable("other_column", kOtherColumn)};
    solver::Region region = stored_of(exprs_, tile_);
    for (const Expr e : stored_of(exprs_, tile_).nonnegative)
      region.nonnegative.push_back(replaced(e, {{tile_.row, other.row}, {tile_.column, other.column}}));
    const Expr later = exprs_.variable("later_tile", kOtherTile);
    std::vector<Goal> goals;
    const auto [made_cross, made_column] = made_at(here_);
    const auto [other_cross, other_column] = made_at(other);
    const auto ask = [&](Expr tile, Expr made, Expr own, Expr its_other, Expr made_other) {
      const auto twice = [=](const Evaluate& at) { return fmt::format("coordinate {} is made twice", at(made)); };
      const Expr in_later = replaced(made_other, {{tile, later}});
      goals.push_back({{less(exprs_, tile, later), at_least(exprs_, made, in_later)}, twice});
      goals.push_back({{less(exprs_, own, its_other), at_least(exprs_, made, made_other)}, twice});
    };
    ask(tile_.cross_tile, made_cross, here_.row, other.row, other_cross);
    ask(tile_.column_tile, made_column, here_.column, other.column, other_column);
    add(session_.decide(ObligationKind::disjoint, name, region, goals));
  }

  // --- positions ----------------------------------------------------------------------------------------------------

  /// Threads take blocks in turn, and load all of their positions. The witness: position (row, column) is in block
  /// (row div lanes) + 32 * (column div lanes).
  void prove_loaded() {
    const Expr lanes = exprs_.constant(tile_.lanes);
    const Expr words = exprs_.constant(kTileWords);
    TileShares shares{
        .name = "positions that are loaded",
        .share = tile_.block,
        .count = exprs_.constant(tile_.blocks()),
        .row = tile_.loaded_row,
        .column = tile_.loaded_column,
        .its = exprs_.add(exprs_.floordiv(tile_.row, lanes), exprs_.mul(words, exprs_.floordiv(tile_.column, lanes)))};
    shares.values = {
        {tile_.slot, exprs_.add(exprs_.mod(tile_.row, lanes), exprs_.mul(lanes, exprs_.mod(tile_.column, lanes)))}};
    shares.domain = {tile_.slot, less(exprs_, tile_.slot, exprs_.mul(lanes, lanes))};
    for (Obligation& one : prove_shares(session_, tile_, shares)) add(std::move(one));
  }

  /// Threads take positions in turn.
  void prove_stored() {
    const Expr its = exprs_.add(exprs_.mul(exprs_.constant(tile_.stored_columns()), tile_.row),
                                stored_number(exprs_, tile_, tile_.column));
    for (Obligation& one : prove_shares(session_, tile_,
                                        {.name = "positions that are stored",
                                         .share = tile_.slot,
                                         .count = exprs_.constant(tile_.positions()),
                                         .row = tile_.stored_row,
                                         .column = tile_.stored_column,
                                         .its = its,
                                         .stored = true}))
      add(std::move(one));
  }

  // --- shared memory ------------------------------------------------------------------------------------------------

  /// Both sides of the barrier find a position at one place. No two have the same, since a place tells whose it is:
  /// lines lie a pitch apart, and number 32 * k + i is that of row i * lanes + k.
  void prove_memory() {
    const Expr pitch = exprs_.constant(tile_.pitch());
    const Expr words = exprs_.constant(kTileWords);
    const Expr lanes = exprs_.constant(tile_.lanes);
    const Expr line = exprs_.floordiv(tile_.word, pitch);
    const Expr row = exprs_.add(exprs_.mul(lanes, exprs_.mod(line, words)), exprs_.floordiv(line, words));
    const Expr column = exprs_.add(exprs_.mul(lanes, exprs_.mod(tile_.word, pitch)), tile_.lane);
    const auto twice = [=, this](const Evaluate& at) {
      return fmt::format("word {}, lane {} holds the positions ({}, {}) and ({}, {})", at(tile_.word), at(tile_.lane),
                         at(tile_.row), at(tile_.column), at(row), at(column));
    };
    std::vector<Goal> goals;
    add_difference(exprs_, goals, row, tile_.row, twice);
    add_difference(exprs_, goals, column, tile_.column, twice);
    add(session_.decide(ObligationKind::disjoint, "positions in shared memory", positions_of(exprs_, tile_), goals));
    const auto outside = [=, this](const Evaluate& at) {
      return fmt::format("word {}, lane {} of an array of {} words", at(tile_.word), at(tile_.lane),
                         tile_.array_words());
    };
    add(session_.decide(ObligationKind::store, "positions in shared memory", positions_of(exprs_, tile_),
                        {{{less(exprs_, tile_.word, zero_)}, outside},
                         {{at_least(exprs_, tile_.word, exprs_.constant(tile_.array_words()))}, outside},
                         {{less(exprs_, tile_.lane, zero_)}, outside},
                         {{at_least(exprs_, tile_.lane, exprs_.constant(tile_.lanes))}, outside}}));
  }

  // --- regions ------------------------------------------------------------------------------------------------------

  [[nodiscard]] solver::Region nonempty() {
    solver::Region region;
    for (const Expr extent : kernel_.extents) region.nonnegative.push_back(less(exprs_, zero_, extent));
    return region;
  }
  [[nodiscard]] solver::Region elements() {
    solver::Region region;
    region.nonnegative = {less(exprs_, cross_, cross_extent()), less(exprs_, column_, columns())};
    return region;
  }
  /// The coordinates that are made at a position.
  [[nodiscard]] std::pair<Expr, Expr> made_at(const Position& position) {
    return {exprs_.add(tile_.cross_first, position.row), exprs_.add(tile_.column_first, position.column)};
  }

  [[nodiscard]] Expr cross_extent() const { return kernel_.extents[static_cast<std::size_t>(tile_.axis)]; }
  [[nodiscard]] Expr columns() const { return kernel_.extents.back(); }
  [[nodiscard]] Expr replaced(Expr e, const std::vector<std::pair<Expr, Expr>>& values) {
    return compiler::replaced(exprs_, e, values);
  }
  void add(Obligation obligation) { all_.push_back(std::move(obligation)); }

  ProofSession& session_;
  ir::ExprContext& exprs_;
  const Kernel& kernel_;
  const TransposeTile& tile_;
  Expr zero_;
  Position here_;
  Expr cross_, column_;
  std::vector<Obligation> all_;
};

}  // namespace

std::vector<Obligation> prove_tile(ProofSession& session, const TransposeTile& tile) {
  return TileProof(session, tile).prove();
}

}  // namespace padlock::compiler
