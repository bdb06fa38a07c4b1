#include "compiler/prover/gpu/boxes_proof.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// Numbered after the variables of a loop (compiler/prover/core/loop_proof.cpp).
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
  kBehind,
  kInStrip,
  kHead,
  kVectors,
  kVectorsApart,
  kFrom,
  kAcross,
  kStepAcross
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
    prove_parts();
    for (std::size_t i = 0; i < boxes_.stage_of.size(); ++i) {
      if (boxes_.stage_of[i] < 0) continue;
      const BoxStage& stage = boxes_.stages[static_cast<std::size_t>(boxes_.stage_of[i])];
      if (stage.turn)
        prove_turned(i, stage);
      else
        prove_stage(i, stage);
    }
    prove_places();
    prove_vectors();
    prove_margins();
    prove_ends();
    if (has_strips(boxes_)) prove_strips();
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

  /// Part b covers [b * step, min((b + 1) * step, total)): each r has one number r div step and one place r mod step. A
  /// launch has steps >= 1.
  void prove_part(const std::string& what, const BoxPart& part, Expr total) {
    const Expr first = exprs_.mul(part.number, part.step);
    require(ObligationKind::cover, what + " of boxes",
            part.total == total && part.first == first &&
                part.count == exprs_.min(part.step, exprs_.sub(total, first)) &&
                part.parts == exprs_.ceildiv(total, part.step),
            "a launch has boxes that are none of the output's, or lacks some");
    const auto describe = [=](const Evaluate& at) { return fmt::format("boxes of {} {}", at(part.launched), what); };
    decide(ObligationKind::cover, "step of boxes: " + what, {}, {{{less(part.launched, one_)}, describe}});
  }

  /// A block's number has a digit for each part, and one for each axis with one coordinate per box.
  void prove_parts() {
    Expr rows = one_;
    for (int axis = boxes_.row_axis; axis < boxes_.column_axis; ++axis) rows = exprs_.mul(rows, kernel_.extent(axis));
    prove_part("rows", boxes_.rows, rows);
    if (boxes_.slices) prove_part("slices", *boxes_.slices, kernel_.extent(boxes_.slice));
    if (boxes_.columns) prove_part("columns", *boxes_.columns, kernel_.extent(boxes_.column_axis));
    std::vector<std::pair<Expr, Expr>> digits;
    for (const auto& part : {boxes_.columns, boxes_.slices, std::optional(boxes_.rows)})
      if (part) digits.emplace_back(part->number, part->parts);
    for (int axis = boxes_.row_axis - 1; axis >= 0; --axis)
      if (axis != boxes_.slice) digits.emplace_back(kernel_.coordinate(axis), kernel_.extent(axis));
    const bool all = std::ranges::equal(digits, boxes_.digits, [](const auto& digit, const BoxDigit& made) {
      return digit.first == made.value && digit.second == made.count;
    });
    require(ObligationKind::cover, "numbers of boxes", all, "a launch lacks some boxes, or has some twice");
    if (!boxes_.columns || boxes_.kind == BoxKind::parts) return;
    const Expr apart = box_rows_apart(kernel_, boxes_);
    const bool asked = std::ranges::any_of(schedule_.serves, [&](const abi::Guard& guard) {
      return guard.holds.lhs == apart && guard.holds.comparison == ir::Comparison::le && guard.holds.rhs.is_constant(0);
    });
    require(ObligationKind::store, "rows of boxes", asked, "several rows of a box may not follow each other");
  }

  // --- stages -------------------------------------------------------------------------------------------------------

  /// Proves the conditions of the lemma of boxes (docs/proofs.md). The tensor's axes are adjacent and match the
  /// output's, in order. On the last but one axis an element read lies between the run's ends where its row shares the
  /// outer coordinates with the first or the last row; these ends are at most one outside of the axis.
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
    require(ObligationKind::load, name, reads_between(source, stage),
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

  /// Returns whether the ends of a tensor axis equal the ends of the box on an output axis, which is proved for any
  /// rows and axis.
  [[nodiscard]] bool ends_at(const LoadSource& source, const BoxStage& stage, std::size_t place, int axis) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const auto form = affine_in(exprs_, source.coordinates[place], kernel_.coordinate(axis));
    if (!form || form->slope != 1) return false;
    const RunEnds range = box_range(kernel_, boxes_, axis);
    const RunEnds ends = run_ends(exprs_, range.from, range.last, form->rest, layout.extents()[place]);
    return stage.from[place] == ends.from && stage.last[place] == ends.last;
  }

  [[nodiscard]] bool reads_between(const LoadSource& source, const BoxStage& stage) {
    for (const int axis : {kernel_.rank() - 1, kernel_.rank() - 2})
      if (!ends_at(source, stage, static_cast<std::size_t>(axis), axis)) return false;
    return true;
  }

  /// Each tensor axis matches an output axis, where the box has a range or one coordinate. The stage has a place for
  /// each coordinate between the ends; an axis without a match has one place.
  void prove_turned(std::size_t load, const BoxStage& stage) {
    const LoadSource& source = schedule_.cases[0].calls[0].sources[load];
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const BoxTurn& turn = *stage.turn;
    const std::string name = fmt::format("boxes of {}", kernel_.program->value(source.tensor).name);
    bool all = true;
    std::vector<int> taken;
    for (std::size_t place = 0; place < source.coordinates.size() && all; ++place) {
      int with = -1;
      for (int axis = 0; axis < kernel_.rank(); ++axis)
        if (std::ranges::find(taken, axis) == taken.end() && ends_at(source, stage, place, axis)) with = axis;
      all = with >= 0;
      taken.push_back(with);
      const std::optional<BoxAxis> goes = with < 0 ? std::nullopt : box_axis(kernel_, boxes_, with);
      all = all && (!goes || turn.axes[*goes] == static_cast<int>(place));
    }
    require(ObligationKind::load, name, all, "a stage lacks what a box reads");
    for (std::size_t i = 0; i < turn.axes.size() && all; ++i) {
      if (turn.axes[i] < 0) continue;
      const Expr from = stage.from[static_cast<std::size_t>(turn.axes[i])];
      const Expr word = i == turn.across ? exprs_.mod(from, exprs_.constant(turn.lanes)) : zero_;
      all = turn.origin[i] == exprs_.sub(from, word);
    }
    const int across = turn.axes[turn.across];
    all = all && across >= 0 && layout.strides()[static_cast<std::size_t>(across)].is_constant(1);
    require(ObligationKind::load, "origin of " + name, all, "a stage does not begin where its words do");
    const ir::Layout made = turned_layout(kernel_, boxes_, turn, layout);
    const bool fits = std::ranges::equal(made.extents(), turn.layout.extents()) &&
                      std::ranges::equal(made.strides(), turn.layout.strides()) && turn.layout.offset() == zero_ &&
                      stage.capacity == turn.layout.span(exprs_);
    require(ObligationKind::store, "room of " + name, fits, "a stage has no room for what a box reads");
    const bool whole = turn.words > 0 && turn.adjacent > 0 && turn.adjacent % turn.lanes == 0 &&
                       turn.columns % turn.adjacent == 0 &&
                       (boxes_.kind != BoxKind::joined || turn.adjacent == turn.columns);
    require(ObligationKind::cover, "squares of " + name, whole, "a thread's words are no squares");
    const auto overlap = [](const Evaluate&) { return std::string("rows of a stage overlap"); };
    const auto extents = turn.layout.extents(), strides = turn.layout.strides();
    decide(ObligationKind::disjoint, "rows of " + name, {},
           {{{less(strides[kBoxRow], extents[kBoxColumn])}, overlap},
            {{less(strides[kBoxSlice], exprs_.mul(extents[kBoxRow], strides[kBoxRow]))}, overlap}});
    prove_words(name, turn);
  }

  /// A stage begins at the word with its first coordinate, and has whole groups of words across.
  void prove_words(const std::string& name, const BoxTurn& turn) {
    const int lanes = turn.lanes;
    const Expr from = exprs_.variable("from_across", kFrom), at = exprs_.variable("at_across", kAcross);
    const Expr step = exprs_.variable("step_across", kStepAcross), word = exprs_.constant(lanes);
    const Expr group = exprs_.constant(Int128{lanes} * turn.words);
    const Expr place = exprs_.sub(at, exprs_.sub(from, exprs_.mod(from, word)));
    const Expr most = exprs_.add(step, exprs_.constant(lanes - 1));
    const Expr places = exprs_.mul(exprs_.ceildiv(most, group), group);
    solver::Region region;
    region.nonnegative = {from, step, exprs_.sub(at, from), less(at, exprs_.add(from, step))};
    decide(ObligationKind::store, "words of " + name, region, outside(place, zero_, places, [=](const Evaluate& value) {
             return fmt::format("place {} of {}", value(place), value(places));
           }));
  }

  /// A coordinate between the first and the last that reads inside the axis reads between the ends. The ends are at
  /// most one outside of it. (That a load reads inside the axis is an obligation of its own.)
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
    const Expr more = exprs_.sub(exprs_.sub(ends.last, ends.from), exprs_.sub(last, first));
    const auto many = [=](const Evaluate& at) { return fmt::format("{} more are copied than read", at(more)); };
    solver::Region some = region;
    some.nonnegative.push_back(at_least(last, first));
    decide(ObligationKind::store, "what is between the ends of runs", some, {{{less(zero_, more)}, many}});
    for (const Expr e : {at_least(read, first), at_least(last, read), coordinate, less(coordinate, extent)})
      region.nonnegative.push_back(e);
    const auto missing = [=](const Evaluate& at) {
      return fmt::format("coordinate {} is read, a run has those from {} to {}", at(coordinate), at(ends.from),
                         at(ends.last));
    };
    decide(ObligationKind::load, "what is read between the ends of runs", region,
           {{{less(coordinate, ends.from)}, missing}, {{less(ends.last, coordinate)}, missing}});
  }

  /// Stages lie one after the other in the memory that a launch asks for. Each has room for its elements, at any offset
  /// in a vector, and for the margins.
  void prove_places() {
    bool follow = true;
    Expr next = exprs_.constant(kStageVectorBytes);  // the first place to be read in vectors begins here
    for (const BoxStage& stage : boxes_.stages) {
      const Expr needed = box_stage_bytes(exprs_, stage, kernel_.program->value(stage.tensor).dtype);
      follow = follow && stage.place == next && stage.bytes == needed;
      next = exprs_.add(next, stage.bytes);
    }
    require(ObligationKind::store, "places of stages", follow && boxes_.shared_bytes == next,
            "stages overlap, or leave the memory of a block");
  }

  // --- vectors ------------------------------------------------------------------------------------------------------

  /// Vector v of a box holds its elements from lanes * v - phase on, so each element is in one vector. A launch's
  /// threads go from v to v + threads.
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

  /// An element of a strip lies before its first whole vector, in one of these, or after the last in one more vector.
  /// All are vectors of the lemma above, so none has it twice. A launch makes as many whole vectors of each strip as
  /// any has.
  void prove_strips() {
    const Expr most = box_strip_vectors(kernel_, boxes_);
    const Expr room = at_launch(exprs_, boxes_, box_strip_elements(kernel_, boxes_));
    decide(ObligationKind::cover, "whole vectors of strips", {},
           {{{less(exprs_.mul(lanes_, exprs_.add(most, one_)), exprs_.add(room, one_))},
             [=](const Evaluate& at) { return fmt::format("{} whole vectors for {} elements", at(most), at(room)); }}});
    const Expr index = exprs_.variable("in_strip", kInStrip), head = exprs_.variable("head", kHead);
    const Expr vectors = exprs_.variable("vectors", kVectors), elements = exprs_.variable("elements", kElements);
    const Expr vector = exprs_.floordiv(exprs_.sub(index, head), lanes_);
    const Expr end = exprs_.add(head, exprs_.mul(lanes_, exprs_.add(vector, one_)));
    const Expr last = exprs_.add(head, exprs_.mul(lanes_, exprs_.floordiv(exprs_.sub(elements, head), lanes_)));
    const auto missing = [=](const Evaluate& at) { return fmt::format("element {} is in no vector", at(index)); };
    solver::Region before;
    before.nonnegative = {head, less(head, lanes_), index, less(index, head)};
    decide(ObligationKind::cover, "heads of strips", before, {{{less(index, exprs_.sub(head, lanes_))}, missing}});
    solver::Region region;
    region.nonnegative = {head, less(head, lanes_), at_least(index, head), less(index, elements),
                          less(elements, exprs_.mul(lanes_, exprs_.add(vectors, one_)))};
    solver::Region whole = region, part = region;
    whole.nonnegative.push_back(at_least(elements, end));
    decide(ObligationKind::cover, "vectors of strips", whole, {{{at_least(vector, vectors)}, missing}});
    part.nonnegative.push_back(less(elements, end));
    decide(ObligationKind::cover, "ends of strips", part,
           {{{less(index, last)}, missing}, {{at_least(index, exprs_.add(last, lanes_))}, missing}});
    prove_strips_alike();
  }

  /// Strips a period apart begin at the same lane, so that one thread makes the same lanes of each. An element's number
  /// is linear in each coordinate: from strip to strip it grows by as much as from the first one. That is some vectors
  /// and `rest` elements. Strips of several slices have more than a period only if a row, and so a slice, is whole
  /// vectors.
  void prove_strips_alike() {
    const Expr columns = box_columns(kernel_, boxes_), most = box_strips(kernel_, boxes_);
    Expr step = columns, period = lane_period(exprs_, columns, boxes_.lanes);
    if (boxes_.slices) {
      step = box_slice_step(kernel_, boxes_);
      period = lane_period(exprs_, step, boxes_.lanes);
    }
    if (boxes_.slices && boxes_.kind == BoxKind::parts) {
      const bool has_rows = exprs_.mod(step, columns).is_constant(0);
      period = exprs_.add(one_, has_rows ? exprs_.mul(most, exprs_.min(exprs_.mod(columns, lanes_), one_)) : most);
    }
    require(ObligationKind::align, "period of strips of boxes", boxes_.period == period,
            "strips begin at other lanes after a period");
    const Expr vectors = exprs_.variable("vectors_apart", kVectorsApart);
    std::vector<Goal> later;
    for (int rest = 0; rest < boxes_.lanes; ++rest) {
      const Expr some = exprs_.add(exprs_.mul(lanes_, vectors), exprs_.constant(rest));
      const Expr past = exprs_.mod(exprs_.mul(lane_period(exprs_, some, boxes_.lanes), some), lanes_);
      later.push_back({{less(zero_, past)},
                       [=](const Evaluate& at) { return fmt::format("a strip begins {} lanes later", at(past)); }});
    }
    decide(ObligationKind::align, "strips that one thread makes", {}, later);
  }

  /// A vector with a lane among the elements of a stage ends within the stage's margins, for any element size. Computed
  /// in bytes, with the rest of a word before the vector and a word after it.
  void prove_margins() {
    const Expr start = exprs_.variable("vector_start", kStart);  // bytes past the run's first vector
    const Expr window = exprs_.variable("window", kWindow);      // bytes copied, rounded up to whole vectors
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
