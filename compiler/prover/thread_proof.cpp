#include "compiler/prover/thread_proof.h"

#include <fmt/format.h>

#include "compiler/prover/run_region.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After those of a loop (compiler/prover/walk_proof.cpp).
enum VariableOrder { kIndex = 1200, kExtent, kFirst, kSecond, kFirstTurn, kSecondTurn };

/// Of one thing that is cut into tiles: each index of it is in one of them.
class Tiling {
 public:
  Tiling(ProofSession& session, TileBounds bounds, std::string what)
      : session_(session),
        exprs_(session.exprs()),
        bounds_(bounds),
        index_(exprs_.variable("index", kIndex)),
        what_(std::move(what)) {}

  /// The witness is index div size, the size being what the first tile is long.
  Obligation cover(int size) {
    const Expr tile = exprs_.floordiv(index_, exprs_.constant(size));
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("{} {} is not in tile {} of {}", what_, at(index_), at(tile), at(bounds_.tiles));
    };
    return session_.decide(ObligationKind::cover, fmt::format("tiles of {}s", what_), known(),
                           {{{at_least(exprs_, tile, bounds_.tiles)}, describe},
                            {{less(exprs_, index_, at(bounds_.first, tile))}, describe},
                            {{at_least(exprs_, index_, at(bounds_.last, tile))}, describe}});
  }

  Obligation disjoint() {
    const Expr first = exprs_.variable("tile", kFirst);
    const Expr second = exprs_.variable("other_tile", kSecond);
    Region region = known();
    for (const Expr tile : {first, second}) {
      region.nonnegative.push_back(less(exprs_, tile, bounds_.tiles));
      region.nonnegative.push_back(at_least(exprs_, index_, at(bounds_.first, tile)));
      region.nonnegative.push_back(less(exprs_, index_, at(bounds_.last, tile)));
    }
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("{} {} is in the tiles {} and {}", what_, at(index_), at(first), at(second));
    };
    return session_.decide(ObligationKind::disjoint, fmt::format("tiles of {}s", what_), region,
                           {{{less(exprs_, first, second)}, describe}});
  }

 private:
  [[nodiscard]] Region known() const {
    return {.nonnegative = {less(exprs_, index_, bounds_.extent)}, .zero = {}, .alternatives = {}};
  }
  [[nodiscard]] Expr at(Expr bound, Expr tile) const {
    return exprs_.substitute(bound, [&](Expr symbol) { return symbol == bounds_.tile ? tile : symbol; });
  }

  ProofSession& session_;
  ir::ExprContext& exprs_;
  TileBounds bounds_;
  Expr index_;
  std::string what_;
};

Obligation dealt(ProofSession& session, int count, const char* what) {
  Obligation made{.kind = ObligationKind::disjoint, .access = fmt::format("{} dealt to {}", what, count)};
  if (is_dealt_once(session, count)) return made;
  made.verdict = Verdict::checked;
  made.reason = "that each is one's is not shown";
  return made;
}

}  // namespace

std::vector<Obligation> prove_tiles(ProofSession& session, const Schedule& schedule) {
  const ThreadMap& map = *schedule.threads;
  std::vector<Obligation> all;
  // Of an arbitrary extent, which may be a large expression; of the kernel's own where that fails.
  const Expr any = session.exprs().variable("extent", kExtent);
  using Bounds = TileBounds (Schedule::*)(std::optional<Expr>) const;
  const auto add = [&](Bounds bounds, int size, const char* what) {
    for (const bool covers : {true, false}) {
      const auto ask = [&](std::optional<Expr> extent) {
        Tiling tiling(session, (schedule.*bounds)(extent), what);
        return covers ? tiling.cover(size) : tiling.disjoint();
      };
      Obligation made = ask(any);
      all.push_back(made.verdict == Verdict::proved ? std::move(made) : ask({}));
    }
  };
  if (map.flat) {
    add(&Schedule::row_bounds, map.tile_columns, "element");
    all.push_back(dealt(session, map.threads, "elements of a tile"));
    return all;
  }
  add(&Schedule::row_bounds, map.tile_rows, "row");
  if (map.tile_columns > 0) add(&Schedule::column_bounds, map.tile_columns, "column");
  all.push_back(dealt(session, map.teams(), "rows of a tile"));
  return all;
}

bool is_dealt_once(ProofSession& session, int count) {
  ir::ExprContext& exprs = session.exprs();
  const Expr size = exprs.constant(count);
  const Expr first = exprs.variable("tile", kFirst);
  const Expr second = exprs.variable("other_tile", kSecond);
  const Expr turn = exprs.variable("turn", kFirstTurn);
  const Expr other = exprs.variable("other_turn", kSecondTurn);
  Region region{.nonnegative = {less(exprs, first, size), less(exprs, second, size)}, .zero = {}, .alternatives = {}};
  region.zero.push_back(exprs.sub(exprs.add(first, exprs.mul(size, turn)), exprs.add(second, exprs.mul(size, other))));
  return session.excludes(region, {less(exprs, first, second)});
}

}  // namespace padlock::compiler
