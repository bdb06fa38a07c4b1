#include "compiler/prover/emitted_indices.h"

#include <set>

namespace padlock::compiler {

using ir::Expr;
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

  /// What is divided or compared inside an address.
  void address(Expr e) {
    if (!e.valid() || !e.has_coordinate() || !walked_.insert(e.id()).second) return;
    const ExprKind kind = e.kind();
    const bool adds = kind == ExprKind::sum || kind == ExprKind::product || kind == ExprKind::symbol;
    if (!adds) return exact(e);
    for (const Expr operand : e.operands()) address(operand);
  }

  void into(std::vector<EmittedIndices>& all) {
    if (!made_.exact.empty()) all.push_back(std::move(made_));
  }

 private:
  EmittedIndices made_;
  std::set<std::uint32_t> seen_, walked_;  // by Expr::id
};

}  // namespace

std::vector<EmittedIndices> emitted_indices(const HostSchedule& schedule) {
  const Graph& graph = schedule.kernel.graph;
  std::vector<EmittedIndices> all;
  Collector tests("tests of rows");
  Collector runs("columns of runs");
  Collector streams("rows of loads");
  for (const ScheduledCase& row : schedule.cases) {
    if (row.is_test()) tests.exact(graph, row.test);
    for (const SegmentCall& call : row.calls) {
      runs.exact(call.run_begin);
      runs.exact(call.run_end);
      for (const Stream& stream : call.streams) streams.address(stream.base);
    }
  }
  Collector walks("loops");
  Collector conditions("conditions of elements");
  Collector offsets("offsets of elements");
  for (const Body& body : schedule.bodies) {
    for (const Walk& walk : body.walks) {
      for (const Expr test : walk.tests) walks.exact(test);
      for (const ChunkLoop& loop : walk.loops)
        for (const Expr e : {loop.from, loop.limit, loop.last}) walks.exact(e);
    }
    for (const BodyNode& node : body.nodes) conditions.exact(graph, node.guard);
    for (const BodyLoad& load : body.loads) {
      conditions.exact(graph, load.guard);
      offsets.address(load.offset);
    }
  }
  for (Collector* collector : {&tests, &runs, &streams, &walks, &conditions, &offsets}) collector->into(all);
  return all;
}

}  // namespace padlock::compiler
