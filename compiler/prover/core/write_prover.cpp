#include "compiler/prover/core/write_prover.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace padlock::compiler {

WriteProver::WriteProver(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof)
    : ScheduleProof(session, schedule, proof), lemmas_(lemmas), run_(exprs_), column_(kernel_.column()) {}

void WriteProver::prove(const ScheduledCase& row, const solver::Region& rows) {
  prove_segments_cover(row, rows);
  for (const SegmentCall& call : row.calls) prove_segment(call, rows);
}

/// Proves that every column lies in a segment: the first one that ends after it.
void WriteProver::prove_segments_cover(const ScheduledCase& row, const solver::Region& rows) {
  Obligation all{.kind = ObligationKind::cover, .access = fmt::format("segments of {}", kernel_.name)};
  Expr reached = exprs_.constant(0);
  const auto ask = [&](solver::Region region, Expr violated, Expr from, Expr to) {
    region.nonnegative.push_back(at_least(column_, from));
    region.nonnegative.push_back(less(column_, schedule_.columns));
    const auto describe = [=](const Evaluate& at) {
      return fmt::format("no segment holds the columns from {} to {}", at(from), at(to));
    };
    add_answer(all, session_.decide(all.kind, all.access, region, {{{violated}, describe}}));
  };
  for (const SegmentCall& call : row.calls) {
    solver::Region region = rows;
    region.nonnegative.push_back(less(column_, call.end));
    if (call.begin != reached) ask(std::move(region), less(column_, call.begin), reached, call.begin);
    reached = call.end;
  }
  if (reached != schedule_.columns) ask(rows, at_least(column_, reached), reached, schedule_.columns);
  record(std::move(all));
}

void WriteProver::prove_segment(const SegmentCall& call, const solver::Region& rows) {
  const Body& body = schedule_.body_of(call);
  where_ = fmt::format("columns [{}, {})", session_.text(call.begin), session_.text(call.end));
  prove_stores(call, rows, lemmas_.stays_inside(body.strategies));
  prove_cover(call, body, rows);
  prove_alignment(body);
}

void WriteProver::prove_stores(const SegmentCall& call, const solver::Region& rows, bool inside) {
  std::string names;
  for (std::size_t i = 0; i < kernel_.results.size(); ++i) names += (i > 0 ? ", " : "") + kernel_.result(i).name;
  const std::string access = fmt::format("{} in {}", names, where_);
  Obligation store{.kind = ObligationKind::store, .access = access};
  Obligation disjoint{.kind = ObligationKind::disjoint, .access = access};
  bool dead = true;
  std::vector<std::string> contradiction;
  for (const AccessedColumns& lanes : accessed_columns(schedule_, call, rows, inside)) {
    const auto column = [&](Expr at_column, const char* what, Expr bound) {
      return [=](const Evaluate& at) {
        return fmt::format("column {} is written, {} {}", at(at_column), what, at(bound));
      };
    };
    const Expr zero = exprs_.constant(0);
    const Expr columns = kernel_.extents.back();
    const auto ask = [&](Obligation& all, const std::vector<Goal>& goals) {
      if (all.verdict == Verdict::refuted) return;
      add_answer(all, session_.decide(all.kind, access, lanes.region, goals));
    };
    contradiction = session_.why_dead(lanes.region);
    if (!contradiction.empty()) continue;
    dead = false;
    if (inside && is_clamped(call)) break;
    ask(store, {{{less(lanes.first, zero)}, column(lanes.first, "before column", zero)},
                {{at_least(lanes.last, columns)}, column(lanes.last, "the extent is", columns)}});
    ask(disjoint,
        {{{less(lanes.first, run_.column_first)}, column(lanes.first, "the task begins at", run_.column_first)},
         {{at_least(lanes.last, run_.column_last)}, column(lanes.last, "the task ends before", run_.column_last)}});
  }
  if (dead) {
    store.verdict = disjoint.verdict = Verdict::dead;
    store.contradiction = disjoint.contradiction = contradiction;
  }
  store.body = disjoint.body = call.body;
  record(std::move(store));
  record(std::move(disjoint));
}

/// A run written as max(.., first column of the task) to min(.., last) needs no question: its columns are the task's,
/// which lie in the result.
bool WriteProver::is_clamped(const SegmentCall& call) {
  return exprs_.max(call.run_begin, run_.column_first) == call.run_begin &&
         exprs_.min(call.run_end, run_.column_last) == call.run_end && schedule_.columns == kernel_.extents.back();
}

/// Proves that every column of the run is written.
void WriteProver::prove_cover(const SegmentCall& call, const Body& body, const solver::Region& rows) {
  Obligation cover{.kind = ObligationKind::cover, .access = where_};
  if (!lemmas_.covers(body.strategies)) {
    solver::Region task = task_of(schedule_, call, rows);
    task.zero = {exprs_.sub(run_.begin, call.run_begin), exprs_.sub(run_.end, call.run_end)};
    for (const LoopStrategy& strategy : body.strategies)
      for (const Uncovered& way : uncovered_by(exprs_, strategy, column_)) {
        if (cover.verdict == Verdict::refuted) break;
        solver::Region region = task;
        join(region, way.region);
        const auto describe = [&](const Evaluate& at) {
          return fmt::format("column {} is written by no chunk", at(column_));
        };
        add_answer(cover, session_.decide(cover.kind, where_, region, {{way.goal, describe}}));
      }
  }
  record(std::move(cover));
}

/// Proves that aligned loops are aligned: a run-time test aligns the first vector, the others follow at whole vectors.
void WriteProver::prove_alignment(const Body& body) {
  for (const LoopStrategy& strategy : body.strategies)
    for (const VectorLoop& loop : strategy.loops) {
      if (!loop.nontemporal) continue;
      for (std::size_t i = 0; i < kernel_.results.size(); ++i)
        prove_alignment(strategy, loop, kernel_.result(i).name, kernel_.result(i).dtype);
    }
}

void WriteProver::prove_alignment(const LoopStrategy& strategy, const VectorLoop& loop, const std::string& name,
                                  ir::DType dtype) {
  const int size = ir::byte_size(dtype);
  const Expr trip = exprs_.mul(exprs_.constant(Int128{loop.step()} * size), lanes_of(exprs_, strategy, loop).trip);
  const std::int64_t bytes = std::int64_t{loop.lanes} * size;  // bytes of a vector
  Obligation align{.kind = ObligationKind::align, .access = fmt::format("{} in {}, {} bytes", name, where_, bytes)};
  if (trip.congruence().residue % bytes != 0 || trip.congruence().modulus % bytes != 0) {
    align.verdict = Verdict::refuted;
    align.found.violation = fmt::format("a trip advances by {} bytes", loop.step() * size);
  }
  record(std::move(align));
}

}  // namespace padlock::compiler
