#include "compiler/prover/gpu/tile_words_proof.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/access_regions.h"
#include "compiler/prover/gpu/tile_shares.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of the rest of a tile (compiler/prover/gpu/tiles_proof.cpp).
enum VariableOrder { kLane = 1270, kVectorLane, kElement };

class TileWordsProof {
 public:
  TileWordsProof(ProofSession& session, const Schedule& schedule, const TransposeTile& tile)
      : session_(session),
        exprs_(session.exprs()),
        schedule_(schedule),
        kernel_(session.kernel()),
        tile_(tile),
        zero_(exprs_.constant(0)),
        lanes_(exprs_.constant(tile_.lanes)),
        words_(exprs_.constant(kTileWords)),
        lane_(exprs_.variable("lane_of_word", kLane)),
        cross_(kernel_.coordinate(tile_.axis)),
        column_(kernel_.coordinate(kernel_.rank() - 1)) {}

  std::vector<Obligation> prove() {
    prove_whole();
    std::vector<std::pair<PredicateId, bool>> path;
    prove_runs(0, path);
    prove_blocks();
    prove_copies();
    prove_loads();
    return std::move(all_);
  }

 private:
  using Values = std::vector<std::pair<Expr, Expr>>;
  using Describe = std::function<std::string(const Evaluate&)>;

  // --- runs ---------------------------------------------------------------------------------------------------------

  void prove_whole() {
    std::vector<Goal> goals;
    for (const auto& [made, extent] :
         {std::pair(exprs_.add(tile_.cross_first, tile_.row), kernel_.extents[static_cast<std::size_t>(tile_.axis)]),
          std::pair(exprs_.add(tile_.column_first, tile_.column), kernel_.extents.back())}) {
      const auto outside = [=](const Evaluate& at) {
        return fmt::format("coordinate {} is made of a whole tile, the extent is {}", at(made), at(extent));
      };
      goals.push_back({{at_least(exprs_, made, extent)}, outside});
      goals.push_back({{less(exprs_, made, zero_)}, outside});
    }
    add(session_.decide(ObligationKind::store, "whole tiles", whole(), goals));
  }

  /// Finds the path to each case.
  void prove_runs(std::size_t index, std::vector<std::pair<PredicateId, bool>>& path) {
    const ScheduledCase& row = schedule_.cases[index];
    for (const TileRun& run : tile_.runs)
      if (run.row_case == index) prove_run(run, row.calls[run.call], path);
    for (const TileCase& part : tile_.cases)
      if (part.row_case == index) prove_part(part, row, path);
    if (!row.is_test()) return;
    for (const bool held : {true, false}) {
      path.emplace_back(row.test, held);
      prove_runs(static_cast<std::size_t>(held ? row.holds : row.fails), path);
      path.pop_back();
    }
  }

  /// All rows of a tile that passes the tests are in the case. Whether a column is in a segment is asked of each.
  void prove_part(const TileCase& part, const ScheduledCase& row,
                  const std::vector<std::pair<PredicateId, bool>>& path) {
    const std::string name = fmt::format("tiles of rows in case {}", part.row_case);
    const Describe other = [=, this](const Evaluate& at) {
      return fmt::format("row {} of the tile is in another case", at(tile_.row));
    };
    std::vector<Goal> goals;
    for (const auto& [predicate, held] : path) add_path(goals, predicate, held, other);
    solver::Region region = positions_of(exprs_, tile_);
    add_outer(region);
    region.nonnegative.insert(region.nonnegative.end(), part.tests.begin(), part.tests.end());
    add(session_.decide(ObligationKind::load, name, region, goals));
    if (tile_.lanes == 1) return;
    for (const SegmentCall& call : row.calls) prove_neighbours(name, call);
  }

  /// Adds the ranges of the coordinates that a tile has one of.
  void add_outer(solver::Region& region) {
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      if (axis != tile_.axis)
        region.nonnegative.push_back(
            less(exprs_, kernel_.coordinate(axis), kernel_.extents[static_cast<std::size_t>(axis)]));
  }

  void prove_run(const TileRun& run, const SegmentCall& call, const std::vector<std::pair<PredicateId, bool>>& path) {
    const std::string name =
        fmt::format("tiles in columns [{}, {})", session_.text(call.begin), session_.text(call.end));
    const Describe other = [=, this](const Evaluate& at) {
      return fmt::format("position ({}, {}) of the tile is of another segment", at(tile_.row), at(tile_.column));
    };
    std::vector<Goal> goals;
    for (const auto& [predicate, held] : path) add_path(goals, predicate, held, other);
    const Expr column = exprs_.add(tile_.column_first, tile_.column);
    goals.push_back({{less(exprs_, column, call.begin)}, other});
    goals.push_back({{at_least(exprs_, column, call.end)}, other});
    solver::Region region = whole();
    region.nonnegative.insert(region.nonnegative.end(), run.tests.begin(), run.tests.end());
    add_outer(region);
    add(session_.decide(ObligationKind::load, name, region, goals));
    if (tile_.lanes > 1) prove_neighbours(name, call);
  }

  /// The goal that a test on the way to a case has another answer at some position.
  void add_path(std::vector<Goal>& goals, PredicateId predicate, bool held, const Describe& other) {
    const Expr cross = exprs_.add(tile_.cross_first, tile_.row);
    std::vector<Expr> all;
    for (const ConditionId id : kernel_.graph.conditions_of(predicate)) {
      const Condition& condition = kernel_.graph.condition(id);
      const Expr e = replaced(condition.expr, {{cross_, cross}});
      all.push_back(e);
      if (condition.kind == Condition::Kind::zero) all.push_back(exprs_.neg(e));
    }
    if (!held) return goals.push_back({all, other});
    for (const Expr e : all) goals.push_back({{less(exprs_, e, zero_)}, other});
  }

  /// Rows of a square read neighbouring elements.
  void prove_neighbours(const std::string& name, const SegmentCall& call) {
    std::vector<Goal> goals;
    for (const LoadSource& source : call.sources) {
      const Expr later = replaced(source.base, {{cross_, exprs_.add(cross_, tile_.line)}});
      const auto describe = [=, this](const Evaluate& at) {
        return fmt::format("element {} is read {} rows after {}", at(later), at(tile_.line), at(source.base));
      };
      add_difference(exprs_, goals, later, exprs_.add(source.base, tile_.line), describe);
    }
    solver::Region region;
    region.nonnegative = {tile_.line, less(exprs_, tile_.line, lanes_)};
    add(session_.decide(ObligationKind::load, "words of " + name, region, goals));
  }

  // --- squares and words ---------------------------------------------------------------------------------------------

  /// The witness: position (row, column) is in square (row div lanes) + 32 * (column div lanes), and in no other.
  void prove_blocks() {
    const Expr row = exprs_.add(tile_.square_row, tile_.line);
    const Expr column = exprs_.add(tile_.square_column, lane_);
    const Expr count = exprs_.constant(tile_.squares());
    TileShares shares{.name = "squares",
                      .share = tile_.square,
                      .count = count,
                      .row = row,
                      .column = column,
                      .its = block_of(tile_.row, tile_.column)};
    shares.values = {{tile_.line, exprs_.mod(tile_.row, lanes_)}, {lane_, exprs_.mod(tile_.column, lanes_)}};
    shares.domain = domain();
    for (Obligation& one : prove_shares(session_, tile_, shares)) add(std::move(one));
    prove_places("squares in shared memory", shares_of(shares), row, column, tile_.square_word, lane_);
  }

  [[nodiscard]] Expr block_of(Expr row, Expr column) {
    return exprs_.add(exprs_.floordiv(row, lanes_), exprs_.mul(words_, exprs_.floordiv(column, lanes_)));
  }

  // --- vectors that are stored --------------------------------------------------------------------------------------

  /// The same by stored vectors, each of which is part of a row. The witness: of a position's number in its row, and of
  /// its row in a group, the digits of the thread that stores it.
  void prove_copies() {
    const auto count = [this](int digit) { return tile_.copied_digits[static_cast<std::size_t>(digit)].count; };
    const Expr number = stored_number(exprs_, tile_, tile_.column);
    const Expr elements = exprs_.constant(tile_.vector_elements());
    const Expr halo = exprs_.constant(tile_.halo());
    const Expr vector = exprs_.floordiv(number, elements);
    const Expr row = exprs_.mod(tile_.row, halo);
    const Expr lane = exprs_.variable("lane_of_vector", kVectorLane);
    const Expr column = exprs_.add(tile_.copied_column, lane);
    TileShares shares{.name = "stored vectors",
                      .share = tile_.copied_digits[0].value,
                      .count = count(0),
                      .row = tile_.copied_row,
                      .column = column,
                      .its = exprs_.mod(vector, count(0)),
                      .stored = true};
    shares.values = {{tile_.copied_digits[1].value, exprs_.floordiv(tile_.row, halo)},
                     {tile_.copied_digits[2].value, exprs_.floordiv(vector, count(0))},
                     {tile_.copied_digits[3].value, exprs_.mod(row, count(3))},
                     {tile_.round, exprs_.floordiv(row, count(3))},
                     {lane, exprs_.mod(number, elements)}};
    const std::array<Expr, 5> counts = {count(1), count(2), count(3), exprs_.constant(tile_.rounds()), elements};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      shares.domain.push_back(shares.values[i].first);
      shares.domain.push_back(less(exprs_, shares.values[i].first, counts[i]));
    }
    for (Obligation& one : prove_shares(session_, tile_, shares)) add(std::move(one));
    prove_copiers();
    // Element `lane` of a vector is number `copied_lane + lane` of the words that the code takes it from.
    const Expr taken = exprs_.add(tile_.copied_lane, lane);
    prove_places("stored vectors in shared memory", shares_of(shares), tile_.copied_row, column,
                 exprs_.add(tile_.copied_word, exprs_.floordiv(taken, lanes_)), exprs_.mod(taken, lanes_));
    prove_copied_words(shares_of(shares));
    prove_copied_tests(shares_of(shares), column);
  }

  /// Proves that the product of the digits' counts is the number of threads that store vectors.
  void prove_copiers() {
    Expr product = exprs_.constant(1);
    for (const TileDigit& digit : tile_.copied_digits) product = exprs_.mul(product, digit.count);
    const Expr threads = exprs_.constant(tile_.copiers());
    std::vector<Goal> goals;
    add_difference(exprs_, goals, product, threads, [=](const Evaluate& at) {
      return fmt::format("{} threads store vectors of {}", at(threads), at(product));
    });
    add(session_.decide(ObligationKind::cover, "threads that store vectors", {}, goals));
  }

  /// Code loads one word more than a vector has, whether it needs it or not.
  void prove_copied_words(const solver::Region& region) {
    const Expr last = exprs_.add(tile_.copied_word, exprs_.constant(tile_.vector_words()));
    const auto outside = [=, this](const Evaluate& at) {
      return fmt::format("words {} to {} of an array of {} are loaded", at(tile_.copied_word), at(last),
                         tile_.array_words());
    };
    add(session_.decide(ObligationKind::load, "words of stored vectors", region,
                        {{{less(exprs_, tile_.copied_word, zero_)}, outside},
                         {{at_least(exprs_, last, exprs_.constant(tile_.array_words()))}, outside}}));
  }

  /// Proves that vectors that pass their tests have no position that is no element of the output.
  void prove_copied_tests(solver::Region region, Expr column) {
    const auto outside = [=, this](const Evaluate& at) {
      return fmt::format("a vector has position ({}, {}), which is no element", at(tile_.copied_row), at(column));
    };
    const Values here = {{tile_.row, tile_.copied_row}, {tile_.column, column}};
    std::vector<Goal> goals;
    for (const Expr test : tile_.tests) goals.push_back({{less(exprs_, replaced(test, here), zero_)}, outside});
    region.nonnegative.insert(region.nonnegative.end(), tile_.copied_tests.begin(), tile_.copied_tests.end());
    add(session_.decide(ObligationKind::store, "stored vectors", region, goals));
  }

  /// Position (row, column) of a share lies where the code takes it from.
  void prove_places(const std::string& name, const solver::Region& region, Expr row, Expr column, Expr word,
                    Expr lane) {
    const Values here = {{tile_.row, row}, {tile_.column, column}};
    const Expr its_word = replaced(tile_.word, here);
    const Expr its_lane = replaced(tile_.lane, here);
    const auto elsewhere = [=](const Evaluate& at) {
      return fmt::format("word {}, lane {} is taken for word {}, lane {}", at(word), at(lane), at(its_word),
                         at(its_lane));
    };
    std::vector<Goal> goals;
    add_difference(exprs_, goals, word, its_word, elsewhere);
    add_difference(exprs_, goals, lane, its_lane, elsewhere);
    add(session_.decide(ObligationKind::store, name, region, goals));
  }

  [[nodiscard]] solver::Region shares_of(const TileShares& shares) {
    solver::Region region;
    region.nonnegative = shares.domain;
    for (const Expr e : phases_of(exprs_, tile_)) region.nonnegative.push_back(e);
    region.nonnegative.push_back(shares.share);
    region.nonnegative.push_back(less(exprs_, shares.share, shares.count));
    return region;
  }

  // --- misaligned words ---------------------------------------------------------------------------------------------

  /// An element between the lowest and the highest lies in a word that begins `shift` elements before it; the next one
  /// is loaded, too.
  void prove_loads() {
    const TileLoads& loads = tile_.loads;
    const Expr element = exprs_.variable("loaded_element", kElement);
    const Expr first = exprs_.sub(element, loads.shift);
    const Expr end = exprs_.add(first, lanes_);
    const auto outside = [=](const Evaluate& at) {
      return fmt::format("words from element {} on are loaded of a tensor that has {}", at(first), at(loads.extent));
    };
    solver::Region region;
    region.nonnegative = {loads.shift, less(exprs_, loads.shift, lanes_), at_least(exprs_, element, loads.lowest),
                          at_least(exprs_, loads.highest, element)};
    region.nonnegative.insert(region.nonnegative.end(), loads.tests.begin(), loads.tests.end());
    add(session_.decide(
        ObligationKind::load, "words around elements", region,
        {{{less(exprs_, first, zero_)}, outside}, {{less(exprs_, loads.extent, exprs_.add(end, lanes_))}, outside}}));
    prove_words();
  }

  /// Words that are asked for one by one: from that which begins `shift` elements before `lowest` to that at `highest`.
  void prove_words() {
    const TileLoads& loads = tile_.loads;
    const Expr first = exprs_.sub(loads.lowest, loads.shift);
    const Expr end = exprs_.add(loads.highest, lanes_);
    const auto outside = [=](const Evaluate& at) {
      return fmt::format("words of elements from {} to {} are loaded of a tensor that has {}", at(first), at(end),
                         at(loads.extent));
    };
    solver::Region region;
    region.nonnegative = {loads.shift, less(exprs_, loads.shift, lanes_), at_least(exprs_, loads.highest, first)};
    region.nonnegative.insert(region.nonnegative.end(), loads.word_tests.begin(), loads.word_tests.end());
    add(session_.decide(ObligationKind::load, "words one by one", region,
                        {{{less(exprs_, first, zero_)}, outside}, {{less(exprs_, loads.extent, end)}, outside}}));
  }

  // --- regions ------------------------------------------------------------------------------------------------------

  [[nodiscard]] solver::Region whole() {
    solver::Region region = positions_of(exprs_, tile_);
    region.nonnegative.push_back(tile_.needed);
    region.nonnegative.push_back(at_least(exprs_, tile_.column, tile_.needed));
    region.nonnegative.insert(region.nonnegative.end(), tile_.whole.begin(), tile_.whole.end());
    return region;
  }
  /// Bounds the variables for the rows of a block and for the elements of a word.
  [[nodiscard]] std::vector<Expr> domain() {
    return {tile_.line, less(exprs_, tile_.line, lanes_), lane_, less(exprs_, lane_, lanes_)};
  }
  [[nodiscard]] Expr replaced(Expr e, const Values& values) { return compiler::replaced(exprs_, e, values); }
  void add(Obligation obligation) { all_.push_back(std::move(obligation)); }

  ProofSession& session_;
  ir::ExprContext& exprs_;
  const Schedule& schedule_;
  const Kernel& kernel_;
  const TransposeTile& tile_;
  Expr zero_, lanes_, words_;
  Expr lane_;  // of a word
  Expr cross_, column_;
  std::vector<Obligation> all_;
};

}  // namespace

std::vector<Obligation> prove_tile_words(ProofSession& session, const Schedule& schedule, const TransposeTile& tile) {
  return TileWordsProof(session, schedule, tile).prove();
}

}  // namespace padlock::compiler
