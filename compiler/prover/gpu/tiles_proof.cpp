#include "compiler/prover/gpu/tiles_proof.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/access_regions.h"
#include "compiler/prover/gpu/tile_shares.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of a loop (compiler/prover/core/loop_proof.cpp).
enum VariableOrder { kOtherTile = 1240, kOtherRow, kOtherColumn, kDigit, kLaterDigit = kDigit + 5 };

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
    prove_left_out();
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

  /// Proves that a tile that is left out stores nothing, whatever the phases are that its first needed column allows.
  void prove_left_out() {
    const auto missing = [=, this](const Evaluate& at) {
      return fmt::format("position ({}, {}) is stored by a tile that is left out", at(tile_.row), at(tile_.column));
    };
    solver::Region region = stored_of(exprs_, tile_);
    const Expr halo = exprs_.constant(tile_.halo());
    for (const Expr e : {tile_.needed, exprs_.sub(exprs_.sub(halo, tile_.needed), tile_.phase)})
      region.nonnegative.push_back(e);
    region.nonnegative.insert(region.nonnegative.end(), tile_.tests.begin(), tile_.tests.end());
    add(session_.decide(ObligationKind::cover, "tiles that are left out", region,
                        {{{less(exprs_, tile_.some, zero_)}, missing}}));
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

  /// Threads take squares in turn, and load all of their positions. The witness: position (row, column) is in square
  /// (row div lanes) + 32 * (column div lanes).
  void prove_loaded() {
    const Expr lanes = exprs_.constant(tile_.lanes);
    const Expr words = exprs_.constant(kTileWords);
    TileShares shares{
        .name = "positions that are loaded",
        .share = tile_.square,
        .count = exprs_.constant(tile_.squares()),
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

  /// Both sides of the barrier find a position at one place, and no two have the same: positions are numbered by
  /// digits, of which the first that differs says which place is later.
  void prove_memory() {
    prove_places_differ();
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

  /// A digit of a position's number, and how many values it has.
  struct Digit {
    Expr value;
    int count = 0;
  };

  /// Returns the digits of a position, the most significant first: its plane, group of lines, line, word and lane.
  [[nodiscard]] std::array<Digit, 5> digits_of(const Position& position) {
    const Expr lanes = exprs_.constant(tile_.lanes);
    const Expr line = exprs_.floordiv(position.row, lanes);
    return {Digit{exprs_.mod(position.row, lanes), tile_.lanes},
            {exprs_.floordiv(position.row, exprs_.constant(tile_.halo())), kTileWords / kHaloWords},
            {exprs_.mod(line, exprs_.constant(kHaloWords)), kHaloWords},
            {exprs_.floordiv(position.column, lanes), tile_.columns() / tile_.lanes},
            {exprs_.mod(position.column, lanes), tile_.lanes}};
  }
  [[nodiscard]] Position position_of(const std::array<Expr, 5>& digits) {
    const Expr lanes = exprs_.constant(tile_.lanes);
    const auto [plane, group, line, word, lane] = digits;
    const Expr row = exprs_.add(exprs_.mul(exprs_.constant(tile_.halo()), group), exprs_.mul(lanes, line));
    return {exprs_.add(row, plane), exprs_.add(exprs_.mul(lanes, word), lane)};
  }

  /// Returns the word that has the position with these digits.
  [[nodiscard]] Expr word_of(const std::array<Expr, 5>& digits) {
    const auto [plane, group, line, word, lane] = digits;
    const auto scaled = [&](int by, Expr e) { return exprs_.mul(exprs_.constant(by), e); };
    return exprs_.add(exprs_.add(scaled(tile_.plane_words(), plane), scaled(kHaloWords * tile_.pitch() + 1, group)),
                      exprs_.add(scaled(tile_.pitch(), line), word));
  }

  /// Digits tell the position, and where it lies. Of two that differ in a word's digits, that which has the greater
  /// first one lies in a later word.
  void prove_places_differ() {
    const std::array<Digit, 5> digits = digits_of(here_);
    std::array<Expr, 5> values, later;
    for (std::size_t i = 0; i < digits.size(); ++i) values[i] = digits[i].value;
    solver::Region region = positions_of(exprs_, tile_);
    std::vector<Goal> goals;
    add_digits(goals, values);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const Expr count = exprs_.constant(digits[i].count);
      const auto unnumbered = [=](const Evaluate& at) { return fmt::format("{} is no digit", at(digits[i].value)); };
      goals.push_back({{less(exprs_, digits[i].value, zero_)}, unnumbered});
      goals.push_back({{at_least(exprs_, digits[i].value, count)}, unnumbered});
      values[i] = exprs_.variable(fmt::format("digit{}", i), kDigit + static_cast<int>(i));
      later[i] = exprs_.variable(fmt::format("later_digit{}", i), kLaterDigit + static_cast<int>(i));
      for (const Expr e : {values[i], later[i]}) {
        region.nonnegative.push_back(e);
        region.nonnegative.push_back(less(exprs_, e, count));
      }
    }
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
      std::array<Expr, 5> other = later;
      std::copy_n(values.begin(), i, other.begin());
      const Expr word = word_of(values);
      goals.push_back({{less(exprs_, values[i], later[i]), at_least(exprs_, word, word_of(other))},
                       [=](const Evaluate& at) { return fmt::format("word {} holds two positions", at(word)); }});
    }
    add(session_.decide(ObligationKind::disjoint, "positions in shared memory", region, goals));
  }

  /// Adds the goals that a position is not the one with its digits, or lies elsewhere.
  void add_digits(std::vector<Goal>& goals, const std::array<Expr, 5>& digits) {
    const Position numbered = position_of(digits);
    const Expr word = word_of(digits);
    const auto twice = [=, this](const Evaluate& at) {
      return fmt::format("word {}, lane {} holds the position ({}, {}), and word {}, lane {} should", at(tile_.word),
                         at(tile_.lane), at(tile_.row), at(tile_.column), at(word), at(digits.back()));
    };
    add_difference(exprs_, goals, numbered.row, tile_.row, twice);
    add_difference(exprs_, goals, numbered.column, tile_.column, twice);
    add_difference(exprs_, goals, word, tile_.word, twice);
    add_difference(exprs_, goals, digits.back(), tile_.lane, twice);
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
