#include "compiler/prover/gpu/boxes_proof.h"

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// After those of a loop (compiler/prover/core/loop_proof.cpp).
enum VariableOrder {
  kIndex = 1260,
  kPhase,
  kElements,
  kVector,
  kOther,
  kStart,
  kWindow,
  kLane,
  kFirstRead,
  kLastRead,
  kRead,
  kExtent,
  kAhead,
  kBehind
};

class BoxesProof : private ScheduleProof {
 public:
  BoxesProof(ProofSession& session, const Schedule& schedule, Proof& proof)
      : ScheduleProof(session, schedule, proof),
        boxes_(*schedule.boxes()),
        zero_(exprs_.constant(0)),
        one_(exprs_.constant(1)),
        lanes_(exprs_.constant(boxes_.lanes)) {}

  void prove() {
    prove_rows();
    for (std::size_t i = 0; i < boxes_.stage_of.size(); ++i)
      if (boxes_.stage_of[i] >= 0) prove_stage(i, boxes_.stages[static_cast<std::size_t>(boxes_.stage_of[i])]);
    prove_places();
    prove_vectors();
    prove_margins();
    prove_ends();
  }

 private:
  void require(ObligationKind kind, std::string access, bool holds, const char* violation) {
    Obligation made{.kind = kind, .access = std::move(access)};
    if (!holds) {
      made.verdict = Verdict::refuted;
      made.found.violation = violation;
    }
    record(std::move(made));
  }

  /// Box b has the rows from b * step on, as many as the step or what is left: each row has one number r div step and
  /// one place r mod step. A launch has a step of 1 or more.
  void prove_rows() {
    const Expr first = exprs_.mul(boxes_.box, boxes_.step);
    require(ObligationKind::cover, "rows of boxes",
            boxes_.first_row == first && boxes_.rows == exprs_.min(boxes_.step, exprs_.sub(schedule_.rows, first)) &&
                boxes_.boxes == exprs_.ceildiv(schedule_.rows, boxes_.step),
            "a launch has boxes that are none of the output's, or lacks some");
    const auto describe = [this](const Evaluate& at) { return fmt::format("boxes of {} rows", at(boxes_.launched)); };
    decide(ObligationKind::cover, "step of boxes", {}, {{{less(boxes_.launched, one_)}, describe}});
  }

  // --- stages -------------------------------------------------------------------------------------------------------

  /// What the lemma of boxes asks (docs/proofs.md): the tensor's axes continue each other and go with those of the
  /// output, in their order; of the last but one an element that is read lies between the run's ends where its row is
  /// of the same coordinates before as the first, or the last, and these ends are at most one outside of the axis.
  void prove_stage(std::size_t load, const BoxStage& stage) {
    const LoadSource& source = schedule_.cases[0].calls[0].sources[load];
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const std::string name = fmt::format("boxes of {}", kernel_.program->value(source.tensor).name);
    const std::size_t rank = source.coordinates.size();
    bool continues = rank == kernel_.extents.size();
    for (std::size_t axis = 0; axis + 1 < rank && continues; ++axis) {
      continues = layout.next_axis_continues(exprs_, static_cast<int>(axis));
      if (axis + 2 < rank)
        continues = continues && source.coordinates[axis] == kernel_.coordinate(static_cast<int>(axis)) &&
                    layout.extents()[axis] == kernel_.extents[axis] && stage.from[axis] == boxes_.first[axis] &&
                    stage.last[axis] == boxes_.last[axis];
    }
    require(ObligationKind::load, "rows in order of " + name, continues,
            "a box reads rows that do not follow each other");
    if (!continues) return;
    require(ObligationKind::load, name, reads_between(source, layout, stage),
            "a run is not that from where its first row reads to where its last does");
    const Expr first = layout.offset_of(exprs_, stage.from);
    const Expr elements = exprs_.add(exprs_.sub(layout.offset_of(exprs_, stage.last), first), one_);
    const Expr rows = box_stage_rows(exprs_, kernel_, boxes_, source, layout);
    const Expr capacity = exprs_.add(exprs_.mul(exprs_.sub(rows, one_), layout.strides()[rank - 2]), stage.columns);
    require(ObligationKind::store, "runs of " + name,
            first == stage.first && elements == stage.elements && capacity == stage.capacity &&
                stage.columns == exprs_.sub(exprs_.add(stage.last[rank - 1], one_), stage.from[rank - 1]),
            "a run is not that from its first to its last coordinates");
  }

  /// The ends of a run along the last two axes are those of run_ends, which is proved for any rows and axis.
  [[nodiscard]] bool reads_between(const LoadSource& source, const ir::Layout& layout, const BoxStage& stage) {
    const auto ends_at = [&](int axis, Expr first, Expr last) {
      const auto place = static_cast<std::size_t>(axis);
      const auto form = affine_in(exprs_, source.coordinates[place], kernel_.coordinate(axis));
      if (!form || form->slope != 1) return false;
      const RunEnds ends = run_ends(exprs_, first, last, form->rest, layout.extents()[place]);
      return stage.from[place] == ends.from && stage.last[place] == ends.last;
    };
    return ends_at(kernel_.rank() - 1, zero_, exprs_.sub(schedule_.columns, one_)) &&
           ends_at(kernel_.rank() - 2, boxes_.first.back(), boxes_.last.back());
  }

  /// A coordinate between the first and the last that reads one of the axis reads one between the ends, and these are
  /// at most one outside of it. (That a load reads one of the axis is an obligation of its own.)
  void prove_ends() {
    const Expr first = exprs_.variable("first_read", kFirstRead), last = exprs_.variable("last_read", kLastRead);
    const Expr read = exprs_.variable("read", kRead), extent = exprs_.variable("read_extent", kExtent);
    const Expr moved = exprs_.sub(exprs_.variable("ahead", kAhead), exprs_.variable("behind", kBehind));
    const RunEnds ends = run_ends(exprs_, first, last, moved, extent);
    const Expr coordinate = exprs_.add(read, moved);
    solver::Region region;
    for (const Expr e : {first, last, extent}) region.nonnegative.push_back(e);
    const auto outside = [=](const Evaluate& at) {
      return fmt::format("a run goes from {} to {} on an axis of {}", at(ends.from), at(ends.last), at(extent));
    };
    decide(ObligationKind::load, "ends of runs", region,
           {{{less(ends.from, zero_)}, outside},
            {{less(extent, ends.from)}, outside},
            {{less(ends.last, exprs_.constant(-1))}, outside},
            {{at_least(ends.last, extent)}, outside}});
    for (const Expr e : {at_least(read, first), at_least(last, read), coordinate, less(coordinate, extent)})
      region.nonnegative.push_back(e);
    const auto missing = [=](const Evaluate& at) {
      return fmt::format("coordinate {} is read, a run has those from {} to {}", at(coordinate), at(ends.from),
                         at(ends.last));
    };
    decide(ObligationKind::load, "what is read between the ends of runs", region,
           {{{less(coordinate, ends.from)}, missing}, {{less(ends.last, coordinate)}, missing}});
  }

  /// Stages lie one after the other in what a launch asks for, each with room for its run, wherever in a vector that
  /// begins, and for the margins.
  void prove_places() {
    Obligation places{.kind = ObligationKind::store, .access = "places of stages"};
    Expr next = exprs_.constant(kStageVectorBytes);  // what begins there is the first that is read in vectors
    for (const BoxStage& stage : boxes_.stages) {
      const std::int64_t size = ir::byte_size(kernel_.program->value(stage.tensor).dtype);
      const Expr vector = exprs_.constant(kStageVectorBytes);
      const Expr bytes = exprs_.mul(exprs_.max(stage.capacity, zero_), exprs_.constant(size));
      const Expr needed = exprs_.mul(
          exprs_.add(exprs_.ceildiv(bytes, vector), exprs_.constant(1 + 2 * kStageMargin / kStageVectorBytes)), vector);
      if (stage.place != next || stage.bytes != needed) places.verdict = Verdict::refuted;
      next = exprs_.add(next, stage.bytes);
    }
    if (boxes_.shared_bytes != next) places.verdict = Verdict::refuted;
    if (places.verdict == Verdict::refuted) places.found.violation = "stages overlap, or leave the memory of a block";
    record(std::move(places));
  }

  // --- vectors ------------------------------------------------------------------------------------------------------

  /// Vector v of a box has its elements from lanes * v - phase on: each element is in one, and a launch's threads go
  /// from v to v + threads.
  void prove_vectors() {
    const Expr index = exprs_.variable("index", kIndex);
    const Expr phase = exprs_.variable("phase", kPhase);
    const Expr vector = exprs_.variable("vector", kVector);
    const Expr other = exprs_.variable("other_vector", kOther);
    solver::Region region;
    region.nonnegative = {index, phase, less(phase, lanes_)};
    const auto first = [&](Expr of) { return exprs_.sub(exprs_.mul(lanes_, of), phase); };
    const Expr witness = exprs_.floordiv(exprs_.add(index, phase), lanes_);
    const auto missing = [=](const Evaluate& at) { return fmt::format("element {} is in no vector", at(index)); };
    decide(ObligationKind::cover, "vectors of boxes", region,
           {{{less(index, first(witness))}, missing},
            {{at_least(index, exprs_.add(first(witness), lanes_))}, missing},
            {{less(witness, zero_)}, missing}});
    for (const Expr which : {vector, other})
      for (const Expr e : {at_least(index, first(which)), less(index, exprs_.add(first(which), lanes_))})
        region.nonnegative.push_back(e);
    const auto twice = [=](const Evaluate& at) { return fmt::format("element {} is in two vectors", at(index)); };
    decide(ObligationKind::disjoint, "vectors of boxes", region, {{{less(vector, other)}, twice}});
  }

  /// A vector of which one lane lies among the elements of a stage ends in its margins, for elements of any size: in
  /// bytes, with the rest of a word before it and a word after it.
  void prove_margins() {
    const Expr start = exprs_.variable("vector_start", kStart);  // bytes after the run's first vector
    const Expr window = exprs_.variable("window", kWindow);      // bytes of what is copied, with the rest of vectors
    const Expr lane = exprs_.variable("lane_bytes", kLane);
    const Expr vector = exprs_.constant(kStageVectorBytes);
    const Expr word = exprs_.constant(4);
    const Expr margin = exprs_.constant(kStageMargin);
    solver::Region region;
    const Expr needed = exprs_.add(start, lane);
    const Expr from = exprs_.sub(start, margin);  // variables are not negative: a start may be
    region.nonnegative = {lane, less(lane, vector), exprs_.sub(needed, margin),
                          less(exprs_.sub(needed, margin), window)};
    const auto outside = [=](const Evaluate& at) {
      return fmt::format("a vector begins {} bytes after a stage's first", at(from));
    };
    decide(ObligationKind::load, "margins of stages", region,
           {{{less(exprs_.sub(from, word), exprs_.neg(margin))}, outside},
            {{less(exprs_.add(window, margin), exprs_.add(from, exprs_.add(vector, word)))}, outside}});
  }

  const Boxes& boxes_;
  Expr zero_, one_, lanes_;
};

}  // namespace

void prove_boxes(ProofSession& session, const Schedule& schedule, Proof& proof) {
  BoxesProof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
