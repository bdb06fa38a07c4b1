#include "compiler/prover/thread_proof.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/prover/access_regions.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of a loop (compiler/prover/loop_proof.cpp).
enum VariableOrder { kIndex = 1200, kRows, kColumns, kFirst, kSecond, kFirstTurn, kSecondTurn };

/// Proves of a range that is cut into tiles that each index below its extent is in one tile, and no other index is.
class Tiling {
 public:
  /// `size`: of the first tile; 0 where it is the only one.
  Tiling(ProofSession& session, const TileBounds& bounds, Expr extent, int size, std::string what)
      : session_(session),
        exprs_(session.exprs()),
        bounds_(bounds),
        extent_(extent),
        size_(size),
        index_(exprs_.variable("index", kIndex)),
        tile_(exprs_.variable("tile", kFirst)),
        what_(std::move(what)) {}

  /// Under the conditions of `region`.
  [[nodiscard]] Obligation decide(ObligationKind kind, solver::Region region) {
    std::vector<Goal> goals;
    if (kind == ObligationKind::cover)
      goals = uncovered(region);
    else if (kind == ObligationKind::disjoint)
      goals = twice(region);
    else
      goals = outside(region);
    return session_.decide(kind, fmt::format("tiles of {}s", what_), region, goals);
  }

 private:
  /// The witness is index div size.
  std::vector<Goal> uncovered(solver::Region& region) {
    region.nonnegative.push_back(less(exprs_, index_, extent_));
    const Expr tile = size_ > 0 ? exprs_.floordiv(index_, exprs_.constant(size_)) : exprs_.constant(0);
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("{} {} is not in tile {} of {}", what_, at(index_), at(tile), at(bounds_.tiles));
    };
    return {{{at_least(exprs_, tile, bounds_.tiles)}, describe},
            {{less(exprs_, index_, at(bounds_.first, tile))}, describe},
            {{at_least(exprs_, index_, at(bounds_.last, tile))}, describe}};
  }

  std::vector<Goal> twice(solver::Region& region) {
    const Expr other = exprs_.variable("other_tile", kSecond);
    region.nonnegative.push_back(less(exprs_, index_, extent_));
    for (const Expr tile : {tile_, other}) hold(region, tile);
    return {{{less(exprs_, tile_, other)}, [=, this](const Evaluate& at) {
               return fmt::format("{} {} is in the tiles {} and {}", what_, at(index_), at(tile_), at(other));
             }}};
  }

  /// A tile that is not empty ends, and so begins, in the extent. Indices are not negative.
  std::vector<Goal> outside(solver::Region& region) {
    hold(region, tile_);
    const Expr first = at(bounds_.first, tile_);
    return {{{less(exprs_, first, exprs_.constant(0))},
             [=, this](const Evaluate& at) {
               return fmt::format("{} {} is in tile {}, before {} 0", what_, at(first), at(tile_), what_);
             }},
            {{at_least(exprs_, index_, extent_)}, [=, this](const Evaluate& at) {
               return fmt::format("{} {} is in tile {}, the extent is {}", what_, at(index_), at(tile_), at(extent_));
             }}};
  }

  /// The index is in that tile.
  void hold(solver::Region& region, Expr tile) const {
    region.nonnegative.push_back(less(exprs_, tile, bounds_.tiles));
    region.nonnegative.push_back(at_least(exprs_, index_, at(bounds_.first, tile)));
    region.nonnegative.push_back(less(exprs_, index_, at(bounds_.last, tile)));
  }
  [[nodiscard]] Expr at(Expr bound, Expr tile) const {
    return exprs_.substitute(bound, [&](Expr symbol) { return symbol == bounds_.tile ? tile : symbol; });
  }

  ProofSession& session_;
  ir::ExprContext& exprs_;
  TileBounds bounds_;
  Expr extent_;
  int size_;
  Expr index_, tile_;
  std::string what_;
};

Obligation dealt(ProofSession& session, int count, const char* what) {
  Obligation made{.kind = ObligationKind::disjoint, .access = fmt::format("{} dealt to {}", what, count)};
  if (is_dealt_once(session, count)) return made;
  made.verdict = Verdict::checked;
  made.reason = "that each is one's is not shown";
  return made;
}

/// Proves how the tiles of a schedule share out its output.
class GridProof {
 public:
  GridProof(ProofSession& session, const Schedule& schedule)
      : session_(session), exprs_(session.exprs()), schedule_(schedule), map_(*schedule.threads) {
    for (const Expr extent : schedule.kernel.extents)
      nonempty_.nonnegative.push_back(less(exprs_, exprs_.constant(0), extent));
  }

  std::vector<Obligation> prove() {
    const TileBounds rows = schedule_.row_bounds();
    if (map_.flat) {
      add_tiling(&Schedule::row_bounds, map_.tile_columns, "element", [&](Expr r, Expr c) { return exprs_.mul(r, c); });
      add_launched(rows.tiles);
      all_.push_back(dealt(session_, map_.threads, "elements of a tile"));
      return std::move(all_);
    }
    add_tiling(&Schedule::row_bounds, map_.tile_rows, "row", [](Expr r, Expr) { return r; });
    add_tiling(&Schedule::column_bounds, map_.tile_columns, "column", [](Expr, Expr c) { return c; });
    add_launched(exprs_.mul(rows.tiles, schedule_.column_bounds().tiles));
    all_.push_back(dealt(session_, map_.teams(), "rows of a tile"));
    return std::move(all_);
  }

 private:
  using Bounds = TileBounds (Schedule::*)(Expr rows, Expr columns) const;

  /// Proves a tiling for arbitrary numbers of rows and columns, since the kernel's own may be large expressions; for
  /// those where that fails. `extent`: makes the extent that is cut, from rows and columns.
  template <class Extent>
  void add_tiling(Bounds bounds, int size, const char* what, Extent&& extent) {
    const auto decide = [&](ObligationKind kind, Expr rows, Expr columns, const solver::Region& region) {
      return Tiling(session_, (schedule_.*bounds)(rows, columns), extent(rows, columns), size, what)
          .decide(kind, region);
    };
    const Expr rows = exprs_.variable("rows", kRows);
    const Expr columns = exprs_.variable("columns", kColumns);
    for (const ObligationKind kind : {ObligationKind::cover, ObligationKind::disjoint, ObligationKind::store}) {
      Obligation made = decide(kind, rows, columns, {});
      if (made.verdict != Verdict::proved) made = decide(kind, schedule_.rows, schedule_.columns, nonempty_);
      all_.push_back(std::move(made));
    }
  }

  /// A tile for each row and column of tiles.
  void add_launched(Expr needed) {
    const Expr launched = schedule_.tiles();
    const auto describe = [=](const Evaluate& at) {
      return fmt::format("{} tiles are launched of {}", at(launched), at(needed));
    };
    const auto add = [&](ObligationKind kind, Expr violated) {
      all_.push_back(session_.decide(kind, "tiles of the grid", nonempty_, {{{violated}, describe}}));
    };
    add(ObligationKind::cover, less(exprs_, launched, needed));
    add(ObligationKind::store, less(exprs_, needed, launched));
  }

  ProofSession& session_;
  ir::ExprContext& exprs_;
  const Schedule& schedule_;
  const ThreadMap& map_;
  solver::Region nonempty_;  // else nothing is written, and no counter-example can be executed
  std::vector<Obligation> all_;
};

}  // namespace

std::vector<Obligation> prove_tiles(ProofSession& session, const Schedule& schedule) {
  return GridProof(session, schedule).prove();
}

bool teams_are_whole(const Schedule& schedule) {
  const ThreadMap& map = *schedule.threads;
  if (map.team < 1 || map.teams() * map.team != map.threads) return false;
  return std::ranges::all_of(schedule.bodies, [&](const Body& body) {
    return std::ranges::all_of(body.strategies, [&](const LoopStrategy& strategy) {
      return std::ranges::all_of(strategy.loops, [&](const VectorLoop& loop) { return loop.team == schedule.team(); });
    });
  });
}

bool is_dealt_once(ProofSession& session, int count) {
  ir::ExprContext& exprs = session.exprs();
  const Expr size = exprs.constant(count);
  const Expr first = exprs.variable("tile", kFirst);
  const Expr second = exprs.variable("other_tile", kSecond);
  const Expr turn = exprs.variable("turn", kFirstTurn);
  const Expr other = exprs.variable("other_turn", kSecondTurn);
  solver::Region region{
      .nonnegative = {less(exprs, first, size), less(exprs, second, size)}, .zero = {}, .alternatives = {}};
  region.zero.push_back(exprs.sub(exprs.add(first, exprs.mul(size, turn)), exprs.add(second, exprs.mul(size, other))));
  return session.excludes(region, {less(exprs, first, second)});
}

}  // namespace padlock::compiler
