#include "compiler/prover/host/row_chunks_proof.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index_width.h"
#include "compiler/schedule/model/row_chunks.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// Numbered after the variables of a chunk (compiler/schedule/model/row_chunks.cpp).
enum VariableOrder { kVector = 1300, kNextVector, kWindowOffset, kChunkLane, kElement, kIndex, kLaterUnits };

class ChunkProver : private ScheduleProof {
 public:
  ChunkProver(ProofSession& session, const Schedule& schedule, Proof& proof)
      : ScheduleProof(session, schedule, proof),
        chunks_(*schedule.row_chunks()),
        loop_(chunks_.loop),
        at_(exprs_),
        vector_(exprs_.variable("vector", kVector)),
        lane_(exprs_.variable("chunk_lane", kChunkLane)),
        unit_(kernel_.coordinate(chunks_.unit_axis(kernel_))),
        later_(exprs_.variable("later_units", kLaterUnits)),
        lanes_(exprs_.constant(loop_.lanes)) {
    lane_region_.nonnegative = {less(lane_, lanes_)};
  }

  void run() {
    prove_stores();
    prove_cover();
    prove_alike();
    prove_widths();
    for (std::size_t i = 0; i < chunks_.sources.size(); ++i) {
      prove_window(i);
      prove_map(i);
    }
  }

 private:
  /// Region of one iteration of the loop: the chunk may begin there, and the vector lies in it.
  [[nodiscard]] solver::Region trip() const {
    solver::Region region;
    region.nonnegative = {exprs_.sub(loop_.limit, at_.chunk), exprs_.sub(at_.last, vector_)};
    return region;
  }

  /// All lanes of all vectors lie in the task's rows, also those stored past the chunk, which are stored again later.
  void prove_stores() {
    solver::Region region = trip();
    join(region, lane_region_);
    const Expr element = exprs_.add(exprs_.add(at_.chunk, vector_), lane_);
    const Goal past{{at_least(element, at_.elements)}, [=, elements = at_.elements](const Evaluate& at) {
                      return fmt::format("element {} is written of the {} of a task", at(element), at(elements));
                    }};
    decide(ObligationKind::store, "row chunks", region, {past});
  }

  /// Every element from a chunk's first to the next chunk's first is in a lane: vectors follow each other without a
  /// gap, and so do chunks. Elements stored past a vector's part or a chunk are stored again by the next.
  void prove_cover() {
    const Expr element = exprs_.variable("element", kElement);
    const Expr next_vector = exprs_.variable("next_vector", kNextVector);
    const Expr in_chunk = exprs_.sub(element, at_.chunk);
    const auto describe = [=](const Evaluate& at) { return fmt::format("element {} is in no vector", at(element)); };
    // Take the last vector that begins at or before the element. The next one begins at most one full vector later.
    solver::Region vectors = trip();
    const Expr most = exprs_.add(loop_.filled_limit, exprs_.constant(1));
    vectors.nonnegative.insert(vectors.nonnegative.end(), {at_least(in_chunk, vector_), less(in_chunk, next_vector),
                                                           at_least(exprs_.add(vector_, most), next_vector)});
    decide(ObligationKind::cover, "vectors of a row chunk", vectors,
           {{{at_least(exprs_.sub(in_chunk, vector_), lanes_)}, describe}});
    solver::Region chunks = trip();
    chunks.nonnegative.insert(chunks.nonnegative.end(), {at_least(in_chunk, at_.size), less(element, loop_.next)});
    decide(ObligationKind::cover, "row chunks", chunks, {{{exprs_.constant(0)}, describe}});
  }

  /// Units that are alike lie in the output, and the conditions that the body relies on hold for each.
  void prove_alike() {
    const int axis = chunks_.unit_axis(kernel_);
    solver::Region units;
    units.nonnegative = {less(later_, chunks_.alike)};
    for (int other = 0; other <= axis; ++other)
      units.nonnegative.push_back(less(kernel_.coordinate(other), kernel_.extent(other)));
    std::vector<Goal> goals = {{{at_least(later(unit_), kernel_.extent(axis))}, [=, this](const Evaluate& at) {
                                  return fmt::format("unit {} is taken of {}", at(later(unit_)),
                                                     at(kernel_.extent(axis)));
                                }}};
    for (const ConditionId id : kernel_.graph.conditions_of(chunks_.holds)) {
      const Expr condition = kernel_.graph.condition(id).expr;
      units.nonnegative.push_back(condition);
      const Expr there = later(condition);
      goals.push_back({{less(there, exprs_.constant(0))}, [=, this](const Evaluate& at) {
                         return fmt::format("a unit is taken for which {} is {}, below 0",
                                            ir::to_string(exprs_, condition), at(there));
                       }});
    }
    decide(ObligationKind::cover, "units alike in row chunks", units, goals);
  }

  /// Decided by ranges alone: no size is bounded for this.
  void prove_widths() {
    Obligation all{.kind = ObligationKind::width, .access = "row chunks in 64 bits"};
    IndexWidths widths(kernel_);
    std::vector<Expr> indices = {chunks_.alike};
    for (const ConditionId id : kernel_.graph.conditions_of(chunks_.holds))
      indices.push_back(kernel_.graph.condition(id).expr);
    Body body = chunks_.body;
    for (const LoadSource& source : chunks_.sources) {
      BodyLoad base;
      base.offset = source.base;
      body.loads.push_back(base);
    }
    for (const ExactIndices& place : exact_indices(schedule_, body))
      indices.insert(indices.end(), place.exact.begin(), place.exact.end());
    if (!std::ranges::all_of(indices, [&](Expr e) { return widths.fit(e, 64); })) {
      all.verdict = Verdict::checked;
      all.reason = "ranges do not show it";
    }
    record(std::move(all));
  }

  [[nodiscard]] const std::string& name(std::size_t load) const {
    return kernel_.program->value(chunks_.sources[load].tensor).name;
  }

  /// A window lies in its tensor's storage, and so do the elements that lanes take from it.
  void prove_window(std::size_t load) {
    const Expr offset = exprs_.variable("window_offset", kWindowOffset);
    const Expr index = exprs_.variable("index", kIndex);
    solver::Region region = lane_region_;
    region.nonnegative.insert(region.nonnegative.end(),
                              {exprs_.sub(at_.window, loop_.window_least), exprs_.sub(loop_.window_limit, at_.window),
                               exprs_.sub(at_.spread, offset)});
    const Expr element = exprs_.add(exprs_.add(at_.window, offset), lane_);
    const auto describe = [=, this, storage = at_.storage](const Evaluate& at) {
      return fmt::format("element {} of {} is read where its storage has {}", at(element), name(load), at(storage));
    };
    decide(ObligationKind::load, fmt::format("windows of {}", name(load)), region,
           outside(element, exprs_.constant(0), at_.storage, describe));
    solver::Region planned;
    planned.nonnegative = {exprs_.sub(loop_.span_limit, at_.span), exprs_.sub(at_.span, index)};
    const auto beyond = [=, lanes = lanes_](const Evaluate& at) {
      return fmt::format("index {} is taken of a window of {}", at(index), at(lanes));
    };
    decide(ObligationKind::load, fmt::format("indices into windows of {}", name(load)), planned,
           {{{at_least(index, lanes_)}, beyond}});
  }

  /// A number of units later, a load's element is as far along as its unit's base. Compared term by term, since
  /// coordinates are sums; only a difference is asked about as a whole.
  void prove_map(std::size_t load) {
    const LoadSource& source = chunks_.sources[load];
    const Expr offset = kernel_.graph.layout(source.layout).offset_of(exprs_, source.coordinates);
    const UnitOffset& within = chunks_.offsets[load];
    const Expr first = exprs_.add(exprs_.add(source.base, within.row), within.column);
    const Expr named = later(offset);
    const Expr taken = exprs_.add(first, exprs_.mul(later_, source.step));
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("element {} of {} is taken for element {}", at(taken), name(load), at(named));
    };
    std::vector<Goal> goals;
    if (taken != named && (first != offset || step_of_units(source) != source.step))
      goals = differ(taken, named, describe);
    solver::Region region;
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      region.nonnegative.push_back(less(later(kernel_.coordinate(axis)), kernel_.extent(axis)));
    decide(ObligationKind::load, fmt::format("units of {} in chunks", name(load)), region, goals);
  }

  /// Returns the expression some units later.
  Expr later(Expr e) { return replaced(exprs_, e, unit_, exprs_.add(unit_, later_)); }
  /// Returns the elements from a unit to the next if each coordinate grows by the same amount in every unit; else none.
  Expr step_of_units(const LoadSource& source) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    Expr step = exprs_.constant(0);
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      const Expr grown = exprs_.sub(later(source.coordinates[axis]), source.coordinates[axis]);
      const auto form = affine_in(exprs_, grown, later_);
      if (!form || !form->rest.is_constant(0)) return {};
      step = exprs_.add(step, layout.step_of(exprs_, static_cast<int>(axis), form->slope));
    }
    return step;
  }

  const RowChunks& chunks_;
  const RowChunkLoop& loop_;
  RowChunkVariables at_;
  Expr vector_, lane_, unit_, later_, lanes_;
  solver::Region lane_region_;
};

/// Withdraws a permutation with an undecided obligation: its rows are then taken one by one, and none of its accesses
/// happen. A refuted obligation stays, since it shows a fault in the compiler.
void withdraw_undecided(std::vector<Obligation>& obligations) {
  const auto find = [&](Verdict verdict) { return std::ranges::find(obligations, verdict, &Obligation::verdict); };
  const auto undecided = find(Verdict::checked);
  if (undecided == obligations.end() || find(Verdict::refuted) != obligations.end()) return;
  const std::vector<std::string> contradiction = {
      "row chunks are taken where all of it is decided",
      fmt::format("{} {} is not: {}", name_of(undecided->kind), undecided->access, undecided->reason)};
  for (Obligation& obligation : obligations) {
    obligation.verdict = Verdict::dead;
    obligation.contradiction = contradiction;
  }
}

}  // namespace

void prove_row_chunks(ProofSession& session, const Schedule& schedule, Proof& proof) {
  if (schedule.row_chunks() == nullptr) return;
  Proof own;
  ChunkProver(session, schedule, own).run();
  for (Obligation& obligation : own.obligations) obligation.of_row_chunks = true;
  withdraw_undecided(own.obligations);
  std::ranges::move(own.obligations, std::back_inserter(proof.obligations));
}

}  // namespace padlock::compiler
