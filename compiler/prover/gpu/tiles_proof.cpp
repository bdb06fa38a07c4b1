#include "compiler/prover/gpu/tiles_proof.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {
namespace {

// Numbered after the variables of a loop (compiler/prover/core/loop_proof.cpp).
enum VariableOrder { kOtherTile = 1240, kOtherRow, kOtherColumn, kVectorLane, kElement };

class TileProof : private ScheduleProof {
 public:
  TileProof(ProofSession& session, const Schedule& schedule, const TransposeTile& tile, Proof& proof)
      : ScheduleProof(session, schedule, proof),
        tile_(tile),
        zero_(exprs_.constant(0)),
        lanes_(exprs_.constant(tile.lanes)),
        cross_(kernel_.coordinate(tile_.axis)),
        column_(kernel_.column()),
        made_cross_(exprs_.add(tile.cross_first, tile.row)),
        made_column_(exprs_.add(tile.column_first, tile.column)),
        name_(fmt::format("tiles of {} x {}", tile.side(), tile.stored_columns())) {}

  void prove() {
    prove_geometry();
    prove_digits();
    prove_output();
    prove_inside();
    prove_left_out();
    prove_once();
    if (tile_.holds_results) prove_words();
  }

 private:
  using Values = std::vector<std::pair<Expr, Expr>>;
  using Path = std::vector<std::pair<PredicateId, bool>>;

  /// Positions and words depend on no size: tests try every shape (compiler_geometry_test), and a tile has one of
  /// these.
  void prove_geometry() {
    Obligation tested{.kind = ObligationKind::cover, .access = "tested positions of " + name_};
    const std::vector<TileShape> shapes = tile_shapes();
    if (std::ranges::find(shapes, TileShape(tile_)) == shapes.end() || tile_ != tile_geometry(exprs_, tile_)) {
      tested.verdict = Verdict::refuted;
      tested.found.violation = fmt::format("{} by {} threads are of no shape that is tested", name_, tile_.threads);
    }
    record(std::move(tested));
  }

  // --- tiles --------------------------------------------------------------------------------------------------------

  /// A launch has as many tiles as its digits have values; axes that are not cut are digits.
  void prove_digits() {
    Expr product = exprs_.constant(1);
    for (const TileDigit& digit : tile_.digits) product = exprs_.mul(product, digit.count);
    const auto compare = [&](Expr made, Expr needed, const char* what) {
      return differ(made, needed,
                    [=](const Evaluate& at) { return fmt::format("{} {} {}", at(made), what, at(needed)); });
    };
    std::vector<Goal> goals = compare(tile_.tiles, product, "tiles are launched of");
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      if (axis != tile_.axis)
        append(goals,
               compare(count_of(kernel_.coordinate(axis)), kernel_.extent(axis), "values of a coordinate are made of"));
    decide(ObligationKind::cover, "digits of a tile's number", nonempty(), goals);
  }

  [[nodiscard]] Expr count_of(Expr value) {
    for (const TileDigit& digit : tile_.digits)
      if (digit.value == value) return digit.count;
    return zero_;
  }

  /// The witness: in a row of phase f, an element is at position (cross mod side, (column + f) mod columns + halo - f)
  /// of the tile numbered by the quotients, and is stored from there.
  void prove_output() {
    const Expr side = exprs_.constant(tile_.side());
    const Expr columns = exprs_.constant(tile_.stored_columns());
    const Expr cross_tile = exprs_.floordiv(cross_, side);
    const Expr from_phase = exprs_.add(column_, tile_.phase);
    const Expr column_tile = exprs_.floordiv(from_phase, columns);
    const Expr first = exprs_.sub(exprs_.constant(tile_.halo()), tile_.phase);
    const auto at_witness = [&](Expr e) {
      return replaced(e, {{tile_.cross_tile, cross_tile},
                          {tile_.column_tile, column_tile},
                          {tile_.row, exprs_.mod(cross_, side)},
                          {tile_.column, exprs_.add(first, exprs_.mod(from_phase, columns))}});
    };
    const auto missing = [=, this](const Evaluate& at) {
      return fmt::format("element ({}, {}) is not in tile ({}, {})", at(cross_), at(column_), at(cross_tile),
                         at(column_tile));
    };
    std::vector<Goal> goals = {{{at_least(cross_tile, count_of(tile_.cross_tile))}, missing},
                               {{at_least(column_tile, count_of(tile_.column_tile))}, missing}};
    append(goals, differ(at_witness(made_cross_), cross_, missing));
    append(goals, differ(at_witness(made_column_), column_, missing));
    for (const Expr test : tile_.tests) goals.push_back({{less(at_witness(test), zero_)}, missing});
    for (const Expr e : stored().nonnegative) goals.push_back({{less(at_witness(e), zero_)}, missing});
    const solver::Region region = bounded({{cross_, kernel_.extent(tile_.axis)},
                                           {column_, this->columns()},
                                           {tile_.phase, exprs_.constant(tile_.halo())}});
    decide(ObligationKind::cover, name_, region, goals);
  }

  /// Proves that a position that passes the tests is an element of the output.
  void prove_inside() { prove_elements(name_, joined(positions(), tile_.tests), "is made"); }

  /// Proves that each position of a region holds an element of the output.
  void prove_elements(const std::string& name, const solver::Region& region, const char* what) {
    std::vector<Goal> goals;
    for (const auto& [made, extent] : {std::pair(made_cross_, kernel_.extent(tile_.axis)), {made_column_, columns()}}) {
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("coordinate {} {}, the extent is {}", at(made), what, at(extent));
      };
      append(goals, outside(made, zero_, extent, describe));
    }
    decide(ObligationKind::store, name, region, goals);
  }

  /// Proves that a skipped tile stores nothing, for all phases that its first needed column allows.
  void prove_left_out() {
    const auto missing = [=, this](const Evaluate& at) {
      return fmt::format("position ({}, {}) is stored by a tile that is left out", at(tile_.row), at(tile_.column));
    };
    const Expr halo = exprs_.constant(tile_.halo());
    solver::Region region = joined(stored(), {tile_.needed, exprs_.sub(exprs_.sub(halo, tile_.needed), tile_.phase)});
    decide(ObligationKind::cover, "tiles that are left out", joined(std::move(region), tile_.tests),
           {{{less(tile_.some, zero_)}, missing}});
  }

  /// Along each axis a tile's stored coordinates lie before those of later tiles, and two positions of a tile have two
  /// coordinates. Rows are distinguished first; a row has one phase.
  void prove_once() {
    const Values other = {{tile_.row, exprs_.variable("other_row", kOtherRow)},
                          {tile_.column, exprs_.variable("other_column", kOtherColumn)}};
    solver::Region region = stored();
    for (const Expr e : stored().nonnegative) region.nonnegative.push_back(replaced(e, other));
    const Expr later = exprs_.variable("later_tile", kOtherTile);
    std::vector<Goal> goals;
    const auto ask = [&](Expr tile, Expr made, Expr own) {
      const auto twice = [=](const Evaluate& at) { return fmt::format("coordinate {} is made twice", at(made)); };
      const Expr made_other = replaced(made, other);
      const Expr in_later = replaced(made_other, {{tile, later}});
      goals.push_back({{less(tile, later), at_least(made, in_later)}, twice});
      goals.push_back({{less(own, replaced(own, other)), at_least(made, made_other)}, twice});
    };
    ask(tile_.cross_tile, made_cross_, tile_.row);
    ask(tile_.column_tile, made_column_, tile_.column);
    decide(ObligationKind::disjoint, name_, region, goals);
  }

  // --- tiles by words -----------------------------------------------------------------------------------------------

  /// A run holds all positions of a tile, so proofs of its segment's loads hold for all positions. Words loaded around
  /// misaligned ones lie in the tensor.
  void prove_words() {
    prove_elements("whole tiles", whole(), "is made of a whole tile");
    Path path;
    prove_runs(0, path);
    prove_stored_vectors();
    prove_loads();
  }

  /// Finds the path to each case.
  void prove_runs(std::size_t index, Path& path) {
    const ScheduledCase& row = schedule_.cases[index];
    for (const TileRun& run : tile_.runs)
      if (run.row_case == index) prove_run(run, row.calls[run.call], path);
    for (const TileCase& tile_case : tile_.cases)
      if (tile_case.row_case == index) prove_case(tile_case, row, path);
    if (!row.is_test()) return;
    for (const bool held : {true, false}) {
      path.emplace_back(row.test, held);
      prove_runs(static_cast<std::size_t>(held ? row.holds : row.fails), path);
      path.pop_back();
    }
  }

  /// All rows of a tile that passes the tests are in the case. Whether a column is in a segment is a question for each
  /// segment.
  void prove_case(const TileCase& tile_case, const ScheduledCase& row, const Path& path) {
    const std::string name = fmt::format("tiles of rows in case {}", tile_case.row_case);
    const Describe other = [=, this](const Evaluate& at) {
      return fmt::format("row {} of the tile is in another case", at(tile_.row));
    };
    decide(ObligationKind::load, name, joined(in_launch(positions()), tile_case.tests), goals_of(path, other));
    if (tile_.lanes == 1) return;
    for (const SegmentCall& call : row.calls) prove_neighbours(name, call);
  }

  void prove_run(const TileRun& run, const SegmentCall& call, const Path& path) {
    const std::string name =
        fmt::format("tiles in columns [{}, {})", session_.text(call.begin), session_.text(call.end));
    const Describe other = [=, this](const Evaluate& at) {
      return fmt::format("position ({}, {}) of the tile is of another segment", at(tile_.row), at(tile_.column));
    };
    std::vector<Goal> goals = goals_of(path, other);
    append(goals, outside(made_column_, call.begin, call.end, other));
    decide(ObligationKind::load, name, in_launch(joined(whole(), run.tests)), goals);
    if (tile_.lanes > 1) prove_neighbours(name, call);
  }

  /// Returns goals that together are violated if, at some position, a test on the path to a case has the other answer.
  std::vector<Goal> goals_of(const Path& path, const Describe& other) {
    std::vector<Goal> goals;
    for (const auto& [predicate, held] : path) {
      std::vector<Expr> all;
      for (const ConditionId id : kernel_.graph.conditions_of(predicate)) {
        const Condition& condition = kernel_.graph.condition(id);
        const Expr e = replaced(condition.expr, {{cross_, made_cross_}});
        all.push_back(e);
        if (condition.kind == Condition::Kind::zero) all.push_back(exprs_.neg(e));
      }
      if (!held) goals.push_back({all, other});
      for (const Expr e : all)
        if (held) goals.push_back({{less(e, zero_)}, other});
    }
    return goals;
  }

  /// Proves that rows of a square read neighbouring elements.
  void prove_neighbours(const std::string& name, const SegmentCall& call) {
    std::vector<Goal> goals;
    for (const LoadSource& source : call.sources) {
      const Expr later = replaced(source.base, {{cross_, exprs_.add(cross_, tile_.line)}});
      const auto describe = [=, this](const Evaluate& at) {
        return fmt::format("element {} is read {} rows after {}", at(later), at(tile_.line), at(source.base));
      };
      append(goals, differ(later, exprs_.add(source.base, tile_.line), describe));
    }
    decide(ObligationKind::load, "words of " + name, bounded({{tile_.line, lanes_}}), goals);
  }

  /// Proves that vectors that pass their tests store only elements of the output.
  void prove_stored_vectors() {
    const Expr lane = exprs_.variable("lane_of_vector", kVectorLane);
    const Expr column = exprs_.add(tile_.copied_column, lane);
    const auto outside = [=, this](const Evaluate& at) {
      return fmt::format("a vector has position ({}, {}), which is no element", at(tile_.copied_row), at(column));
    };
    const Values here = {{tile_.row, tile_.copied_row}, {tile_.column, column}};
    std::vector<Goal> goals;
    for (const Expr test : tile_.tests) goals.push_back({{less(replaced(test, here), zero_)}, outside});
    Values ranges = {{tile_.phase, exprs_.constant(tile_.halo())},
                     {tile_.round, exprs_.constant(tile_.rounds())},
                     {lane, exprs_.constant(tile_.vector_elements())}};
    for (const TileDigit& digit : tile_.copied_digits) ranges.emplace_back(digit.value, digit.count);
    decide(ObligationKind::store, "stored vectors", joined(bounded(ranges), tile_.copied_tests), goals);
  }

  /// An element between the lowest and the highest lies in a word that begins `shift` elements before it; the next word
  /// is loaded, too. Words loaded one by one run from the word with `lowest` to the word with `highest`.
  void prove_loads() {
    const TileLoads& loads = tile_.loads;
    const Expr element = exprs_.variable("loaded_element", kElement);
    const Expr first = exprs_.sub(element, loads.shift);
    const Expr lowest = exprs_.sub(loads.lowest, loads.shift);
    const Expr two = exprs_.add(lanes_, lanes_);
    prove_loaded("words around elements", first, exprs_.add(first, two), loads.tests,
                 {at_least(element, loads.lowest), at_least(loads.highest, element)});
    prove_loaded("words one by one", lowest, exprs_.add(loads.highest, lanes_), loads.word_tests,
                 {at_least(loads.highest, lowest)});
  }

  void prove_loaded(const char* name, Expr first, Expr end, const std::vector<Expr>& tests,
                    const std::vector<Expr>& conditions) {
    const Expr extent = tile_.loads.extent;
    const auto outside = [=](const Evaluate& at) {
      return fmt::format("words of elements from {} to {} are loaded of a tensor that has {}", at(first), at(end),
                         at(extent));
    };
    solver::Region region = joined(bounded({{tile_.loads.shift, lanes_}}), conditions);
    decide(ObligationKind::load, name, joined(std::move(region), tests),
           {{{less(first, zero_)}, outside}, {{less(extent, end)}, outside}});
  }

  // --- regions ------------------------------------------------------------------------------------------------------

  [[nodiscard]] solver::Region nonempty() {
    solver::Region region;
    for (const Expr extent : kernel_.extents) region.nonnegative.push_back(less(zero_, extent));
    return region;
  }
  /// The positions of a tile.
  [[nodiscard]] solver::Region positions() {
    return bounded({{tile_.row, exprs_.constant(tile_.side())}, {tile_.column, exprs_.constant(tile_.columns())}});
  }
  /// The positions that are stored.
  [[nodiscard]] solver::Region stored() {
    const Expr first = exprs_.sub(exprs_.constant(tile_.halo()), tile_.phase);
    return bounded({{tile_.phase, exprs_.constant(tile_.halo())},
                    {tile_.row, exprs_.constant(tile_.side())},
                    {exprs_.sub(tile_.column, first), exprs_.constant(tile_.stored_columns())}});
  }
  /// The positions of a tile that has all of them from the first needed column on.
  [[nodiscard]] solver::Region whole() {
    return joined(joined(positions(), {tile_.needed, at_least(tile_.column, tile_.needed)}), tile_.whole);
  }
  /// Adds the ranges of the coordinates that are fixed within a tile.
  [[nodiscard]] solver::Region in_launch(solver::Region region) {
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      if (axis != tile_.axis) region.nonnegative.push_back(less(kernel_.coordinate(axis), kernel_.extent(axis)));
    return region;
  }

  [[nodiscard]] Expr columns() const { return kernel_.extents.back(); }
  [[nodiscard]] Expr replaced(Expr e, const Values& values) {
    return exprs_.substitute(e, [&](Expr symbol) {
      for (const auto& [from, to] : values)
        if (symbol == from) return to;
      return symbol;
    });
  }

  const TransposeTile& tile_;
  Expr zero_, lanes_;
  Expr cross_, column_;
  Expr made_cross_, made_column_;  // at a position
  std::string name_;
};

}  // namespace

void prove_tile(ProofSession& session, const Schedule& schedule, const TransposeTile& tile, Proof& proof) {
  TileProof(session, schedule, tile, proof).prove();
}

}  // namespace padlock::compiler
