#include "compiler/schedule/index/exact_indices.h"

#include <set>
#include <span>

#include "support/steps.h"

namespace padlock::compiler {

using ir::ExprKind;

namespace {

class Collector {
 public:
  explicit Collector(std::string place) { made_.place = std::move(place); }

  void exact(Expr e) {
    if (e.valid() && e.has_coordinate() && seen_.insert(e.id()).second) made_.exact.push_back(e);
  }

  void exact(const Graph& graph, PredicateId predicate) {
    for (const ConditionId id : graph.conditions_of(predicate)) exact(graph.condition(id).expr);
  }

  /// Collects the operands of divisions and comparisons inside an address.
  void address(Expr e) {
    if (!e.valid() || !e.has_coordinate() || !walked_.insert(e.id()).second) return;
    const ExprKind kind = e.kind();
    const bool adds = kind == ExprKind::sum || kind == ExprKind::product || kind == ExprKind::symbol;
    if (!adds) return exact(e);
    for (const Expr operand : e.operands()) address(operand);
  }

  void into(std::vector<ExactIndices>& all) {
    if (!made_.exact.empty()) all.push_back(std::move(made_));
  }

 private:
  ExactIndices made_;
  std::set<std::uint32_t> seen_, walked_;  // by Expr::id
};

/// Collects the exact indices of bodies.
class BodyCollector {
 public:
  void add(ir::ExprContext& exprs, const Graph& graph, const Body& body) {
    for (const LoopStrategy& strategy : body.strategies) add(strategy);
    for (const Turn& turn : body.turns) {
      add(turn.along_rows);
      add(turn.along_columns);
      for (const TurnedLoad& load : turn.loads) strategies_.exact(load.last_block);
    }
    for (const Interleave& interleave : body.interleaves) add(interleave.along_rows);
    for (const BodyNode& node : body.nodes) {
      conditions_.exact(graph, node.guard);
      elements_.exact(node.index);
      for (const Expr e : node.terms) walks_.exact(e);
      for (const Walk& walk : node.walks)
        for (const Expr e : {walk.first, walk.step, walk.other, walk.limit, exprs.add(walk.variable, walk.step),
                             exprs.add(walk.variable, walk.other)})
          walks_.exact(e);
    }
    for (const BodyLoad& load : body.loads) {
      conditions_.exact(graph, load.guard);
      offsets_.address(load.offset);
    }
  }
  void into(std::vector<ExactIndices>& all) {
    for (Collector* collector : {&strategies_, &conditions_, &elements_, &walks_, &offsets_}) collector->into(all);
  }

 private:
  void add(const LoopStrategy& strategy) {
    for (const Expr test : strategy.entry_conditions) strategies_.exact(test);
    for (const VectorLoop& loop : strategy.loops)
      for (const Expr e : {loop.from, loop.limit, loop.last}) strategies_.exact(e);
  }

  Collector strategies_{"loops"}, conditions_{"conditions of elements"}, elements_{"indices that are elements"},
      walks_{"walks of sums"}, offsets_{"offsets of elements"};
};

}  // namespace

std::vector<ExactIndices> exact_indices(const Schedule& schedule, const Body& body) {
  BodyCollector collector;
  collector.add(schedule.exprs(), schedule.kernel.graph, body);
  std::vector<ExactIndices> all;
  collector.into(all);
  return all;
}

namespace {

void add_tile(std::vector<ExactIndices>& all, const TransposeTile& tile) {
  Collector tiles("tiles");
  for (const Expr e : {tile.cross_first, tile.column_first, tile.loaded_row, tile.loaded_column, tile.stored_row,
                       tile.stored_column, tile.word, tile.lane, tile.square_row, tile.square_column, tile.square_word,
                       tile.copied_row, tile.copied_column, tile.copied_word, tile.copied_lane, tile.some})
    tiles.exact(e);
  for (const std::vector<Expr>* tests : {&tile.tests, &tile.whole, &tile.copied_tests})
    for (const Expr test : *tests) tiles.exact(test);
  for (const TileCase& one : tile.cases)
    for (const Expr test : one.tests) tiles.exact(test);
  for (const TileRun& run : tile.runs)
    for (const Expr test : run.tests) tiles.exact(test);
  tiles.into(all);
}

/// Adds what the body's conditions compare columns with.
void add_column_conditions(Collector& made, const Schedule& schedule, int column_axis) {
  const Graph& graph = schedule.kernel.graph;
  const auto add = [&](PredicateId predicate) {
    for (const ConditionId id : graph.conditions_of(predicate))
      if (const auto condition = column_condition(schedule.kernel, column_axis, graph.condition(id)))
        made.exact(condition->rest);
  };
  for (const BodyLoad& load : schedule.bodies[0].loads) add(load.guard);
  for (const BodyNode& node : schedule.bodies[0].nodes) add(node.guard);
}

void add_boxes(std::vector<ExactIndices>& all, const Schedule& schedule, const Boxes& boxes) {
  ir::ExprContext& exprs = schedule.exprs();
  Collector made("boxes");
  const auto exact = [&](Expr e) { made.exact(at_launch(exprs, boxes, e)); };
  const auto address = [&](Expr e) { made.address(at_launch(exprs, boxes, e)); };
  add_column_conditions(made, schedule, boxes.column_axis);
  for (const BoxStage& stage : boxes.stages) {
    if (stage.turn) {
      for (const std::vector<Expr>& ends : {stage.from, stage.last})
        for (const Expr e : ends) exact(e);
      for (const Expr e : stage.turn->origin) exact(e);
    } else {
      exact(stage.columns);
      address(stage.elements);
      address(stage.first);
    }
  }
  made.into(all);
}

std::vector<ExactIndices> exact_indices(const Schedule& schedule, std::span<const TransposeTile> shapes) {
  const Graph& graph = schedule.kernel.graph;
  std::vector<ExactIndices> all;
  Collector tests("tests of rows");
  Collector runs("columns of runs");
  Collector sources("rows of loads");
  for (const ScheduledCase& row : schedule.cases) {
    if (row.is_test()) tests.exact(graph, row.test);
    for (const SegmentCall& call : row.calls) {
      runs.exact(call.run_begin);
      runs.exact(call.run_end);
      for (const LoadSource& source : call.sources) {
        for (const Expr e : {source.base, source.step}) sources.address(e);
        sources.exact(source.rows);
      }
    }
  }
  BodyCollector bodies;
  for (const Body& body : schedule.bodies) bodies.add(schedule.exprs(), graph, body);
  for (const TransposeTile& tile : shapes) add_tile(all, tile);
  if (const Boxes* const boxes = schedule.boxes()) add_boxes(all, schedule, *boxes);
  if (schedule.grid() != nullptr && schedule.grid()->by_element) {
    Collector made("elements of vectors");
    add_column_conditions(made, schedule, schedule.kernel.rank() - 1);
    made.into(all);
  }
  for (Collector* collector : {&tests, &runs, &sources}) collector->into(all);
  bodies.into(all);
  return all;
}

}  // namespace

std::vector<ExactIndices> exact_indices(const Schedule& schedule, const TransposeTile* tile) {
  return exact_indices(schedule, std::span(tile, tile == nullptr ? 0 : 1));
}

std::vector<ExactIndices> exact_indices(const Schedule& schedule) {
  const Tiles* const tiles = schedule.tiles();
  return exact_indices(schedule, tiles == nullptr ? std::span<const TransposeTile>() : tiles->shapes);
}

std::uint32_t count_index_operations(const std::vector<ExactIndices>& places, std::size_t most) {
  std::uint32_t count = 0;
  std::vector<Expr> left;
  for (const ExactIndices& place : places)
    for (const Expr root : place.exact) {
      std::set<std::uint32_t> seen;  // by Expr::id
      left = {root};
      while (!left.empty() && count <= most) {
        const Expr e = left.back();
        left.pop_back();
        if (!e.has_coordinate() || !seen.insert(e.id()).second) continue;
        take_steps(2 + e.operands().size());
        if (e.kind() != ExprKind::symbol) ++count;
        left.insert(left.end(), e.operands().begin(), e.operands().end());
      }
    }
  return count;
}

}  // namespace padlock::compiler
