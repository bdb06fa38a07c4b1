#include "compiler/prover/core/load_prover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "compiler/schedule/index/size_bounds.h"
#include "ir/expr/affine.h"
#include "ir/expr/product_form.h"
#include "support/steps.h"

namespace padlock::compiler {

class LoadProver::Implementation : private ScheduleProof {
 public:
  Implementation(ProofSession& session, const Schedule& schedule, Proof& proof)
      : ScheduleProof(session, schedule, proof), run_(exprs_), one_(exprs_.constant(1)), column_(kernel_.column()) {}

  void enter_case(const solver::Region& rows) {
    rows_ = rows;
    excluded_by_row_.clear();
  }

  void prove(const SegmentCall& call, bool inside) {
    const Body& body = schedule_.body_of(call);
    if (inside && !body.loads.empty()) enter_segment(call);
    for (std::size_t i = 0; i < body.loads.size(); ++i) record(prove_load(call, body, static_cast<int>(i), inside));
  }

  void prove_row_data(const SegmentCall& call) {
    claims_ = segment_ = rows_;
    const Body& body = schedule_.body_of(call);
    for (std::size_t i = 0; i < body.loads.size(); ++i) record(prove_load(call, body, static_cast<int>(i), true));
  }

 private:
  // One undecided axis suffices for the code to test a load. After so many the prover asks about no further axes: the
  // rest is guarded if possible.
  static constexpr int kMostUndecided = 8;
  static constexpr std::int64_t kBoundSteps = 3'000'000;  // a kernel's steps for bounds by sizes; then loads are tested

  Obligation prove_load(const SegmentCall& call, const Body& body, int index, bool inside) {
    const BodyLoad& load = body.loads[static_cast<std::size_t>(index)];
    const LoadSource& source = call.sources[static_cast<std::size_t>(index)];
    const std::string name = kernel_.program->value(source.tensor).name;
    std::string text;
    for (const Expr c : source.coordinates) text += (text.empty() ? "" : ", ") + session_.text(c);
    const std::string access =
        fmt::format("{}[{}] in columns [{}, {})", name, text, session_.text(call.begin), session_.text(call.end));
    Obligation all{.kind = ObligationKind::load, .access = access};
    if (inside) {
      bounds_.emplace(exprs_, [&](Expr coordinate) { return bounds_of(call, load, coordinate); });
      idle_.reset();
      solver::Region known = claims_;
      solver::Region region = segment_;
      for (solver::Region* part : {&known, &region}) {
        add_guard(*part, load, column_);
        add_facts(*part, source, column_);
        add_walks(*part, body, load, column_);
        add_data_bounds(exprs_, *part, body);
      }
      all = decide_load(access, region, source, load, {}, &known);
    } else {
      for (const AccessedColumns& lanes : accessed_columns(schedule_, call, rows_, false)) {
        if (all.verdict == Verdict::refuted) break;
        LoadSource moved = source;
        for (Expr& c : moved.coordinates) c = at_column(c, lanes.first);
        solver::Region region = lanes.region;
        add_guard(region, load, lanes.first);
        add_facts(region, source, lanes.first);
        add_walks(region, body, load, lanes.first);
        add_data_bounds(exprs_, region, body);
        Obligation one = decide_load(access, region, moved, load, lanes.first);
        if (one.verdict == Verdict::refuted || one.verdict == Verdict::checked) all = std::move(one);
      }
    }
    if (!walks_rise(body, load)) {
      all.verdict = Verdict::checked;
      all.reason = "ranges do not show that a walk rises from 0 or above";
    }
    all.body = call.body;
    all.load = index;
    return all;
  }

  Expr at_column(Expr e, Expr column) {
    if (column == column_ || !mentions(e, column_)) return e;
    return replaced(exprs_, e, column_, column);
  }

  void add_guard(solver::Region& region, const BodyLoad& load, Expr column) {
    for (const ConditionId id : kernel_.graph.conditions_of(load.guard)) {
      const Condition& condition = kernel_.graph.condition(id);
      (condition.kind == Condition::Kind::zero ? region.zero : region.nonnegative)
          .push_back(at_column(condition.expr, column));
    }
  }

  void add_facts(solver::Region& region, const LoadSource& source, Expr column) {
    for (const Expr fact : source.facts) region.nonnegative.push_back(at_column(fact, column));
    region.nonnegative.insert(region.nonnegative.end(), source.read_facts.begin(), source.read_facts.end());
  }

  /// Calls `visit` with each walk that contains a load.
  template <class Visit>
  static void for_each_walk(const Body& body, const BodyLoad& load, Visit&& visit) {
    for (int sum = load.scope; sum >= 0; sum = body.nodes[static_cast<std::size_t>(sum)].scope)
      for (const Walk& walk : body.nodes[static_cast<std::size_t>(sum)].walks) visit(walk);
  }

  /// Adds that a walk's variable lies in [0, limit). The loop tests the upper side. From 0 or above, steps of 1 or more
  /// keep the lower one. (The next value is at most limit + step, whose width is proved.)
  void add_walks(solver::Region& region, const Body& body, const BodyLoad& load, Expr column) {
    for_each_walk(body, load, [&](const Walk& walk) {
      region.nonnegative.push_back(walk.variable);
      region.nonnegative.push_back(less(walk.variable, at_column(walk.limit, column)));
    });
    for_each_search(body, load, [&](const Search& search) {
      region.nonnegative.push_back(search.variable);
      region.nonnegative.push_back(less(search.variable, search.extent));
    });
  }

  /// Calls `visit` with each search that contains a load. Its elements lie in [0, extent): see prove_searches.
  template <class Visit>
  static void for_each_search(const Body& body, const BodyLoad& load, Visit&& visit) {
    for (int at = load.scope; at >= 0; at = body.nodes[static_cast<std::size_t>(at)].scope)
      if (const BodyNode& node = body.nodes[static_cast<std::size_t>(at)]; node.kind == NodeKind::search)
        visit(search_of(node.terms));
  }

  static bool walks_rise(const Body& body, const BodyLoad& load) {
    bool rise = true;
    for_each_walk(body, load, [&](const Walk& walk) {
      rise &= walk.first.range().lo >= 0 && walk.step.range().lo >= 1 && walk.other.range().lo >= 1;
    });
    return rise;
  }

  /// Enters the columns of a segment: its ends, and the claims that hold there, which mostly suffice.
  void enter_segment(const SegmentCall& call) {
    solver::Region columns;
    columns.nonnegative = {at_least(column_, call.begin), less(column_, call.end)};
    claims_ = rows_;
    claims_.nonnegative.push_back(less(column_, schedule_.columns));
    const std::vector<Expr> claims = claims_of(call);
    claims_.nonnegative.insert(claims_.nonnegative.end(), claims.begin(), claims.end());
    segment_ = claims_;
    join(segment_, columns);
  }

  /// Returns bounds of a coordinate where a load of a segment happens.
  std::optional<SizeBounds> bounds_of(const SegmentCall& call, const BodyLoad& load, Expr coordinate) {
    if (coordinate == column_) return SizeBounds{call.begin, exprs_.sub(call.end, one_)};
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      if (coordinate == kernel_.coordinate(axis)) return up_to(kernel_.extent(axis));
    std::optional<SizeBounds> walked;  // bounds from its loop's test, not from the axis that it should stay in
    for_each_walk(schedule_.body_of(call), load, [&](const Walk& walk) {
      if (coordinate == walk.variable) walked = up_to(walk.limit);
    });
    for_each_search(schedule_.body_of(call), load, [&](const Search& search) {
      if (coordinate == search.variable) walked = up_to(search.extent);
    });
    const auto add = [&](const Body& body) {
      for (const BodyNode& node : body.nodes)
        if (node.kind == NodeKind::data && data_of(node.terms).variable == coordinate)
          walked = SizeBounds{exprs_.constant(0), data_of(node.terms).extent};
    };
    add(schedule_.body_of(call));
    if (const SegmentCall* rows = schedule_.row_data_call()) add(schedule_.body_of(*rows));
    return walked;
  }
  SizeBounds up_to(Expr extent) { return {exprs_.constant(0), exprs_.sub(extent, one_)}; }

  /// Returns whether `violated` is negative at all coordinates of the segment, under any conditions. This is a question
  /// about sizes alone, however deep coordinates nest.
  bool excluded_by_bounds(const solver::Region& region, Expr violated) {
    if (bound_steps_left_ < 0) return false;
    const StepBudget steps(bound_steps_left_);
    const auto bounds = bounds_->of(violated);
    bound_steps_left_ -= steps.taken();
    return bounds && session_.excludes(sizes_of(region), {bounds->most});
  }

  /// Returns the conditions on sizes under which a segment has an element.
  solver::Region sizes_of(const solver::Region& region) {
    solver::Region sizes;
    for (const Expr extent : kernel_.extents) sizes.nonnegative.push_back(exprs_.sub(extent, one_));
    const auto add = [](std::vector<Expr>& to, const std::vector<Expr>& from) {
      std::ranges::copy_if(from, std::back_inserter(to), [](Expr e) { return !e.has_coordinate(); });
    };
    add(sizes.nonnegative, region.nonnegative);
    add(sizes.zero, region.zero);
    return sizes;
  }

  /// Returns the claims that hold for every column of a segment: those that the cuts of all its pieces justify.
  std::vector<Expr> claims_of(const SegmentCall& call) {
    std::optional<std::vector<Expr>> common;
    for (const Segment& piece : call.pieces) {
      std::vector<Expr> claims;
      Expr begin = exprs_.constant(0);
      Expr end = schedule_.columns;
      for (const Cut& cut : piece.cuts) {
        if (!justifies(cut)) return {};
        claims.push_back(cut.claim);
        (cut.above ? begin : end) = exprs_.min(exprs_.max(cut.at, begin), end);
      }
      if (begin != piece.begin || end != piece.end) return {};
      if (common)
        std::erase_if(*common, [&](Expr claim) { return std::ranges::find(claims, claim) == claims.end(); });
      else
        common = std::move(claims);
    }
    return common.value_or(std::vector<Expr>{});
  }

  /// Checks that the columns that a cut leaves of any piece satisfy the cut's claim. The piece is arbitrary, so the
  /// question stays small however deep the cuts nest.
  bool justifies(const Cut& cut) {
    const auto [it, inserted] = justified_.try_emplace({cut.at.id(), cut.claim.id(), cut.above}, false);
    if (!inserted) return it->second;
    const Expr at = exprs_.min(exprs_.max(cut.at, run_.begin), run_.end);
    solver::Region part;
    part.nonnegative = {cut.above ? at_least(column_, at) : at_least(column_, run_.begin),
                        less(column_, cut.above ? run_.end : at)};
    const Expr outside = cut.above ? less(column_, run_.begin) : at_least(column_, run_.end);
    it->second = session_.excludes(part, {outside}) && session_.excludes(part, {less(cut.claim, exprs_.constant(0))});
    return it->second;
  }

  /// `column`: replaces the coordinate. `known`: a superset of the region with fewer conditions, asked first.
  Obligation decide_load(const std::string& access, const solver::Region& region, const LoadSource& source,
                         const BodyLoad& load, std::optional<Expr> column, const solver::Region* known = nullptr) {
    const ir::Value& tensor = kernel_.program->value(source.tensor);
    const ir::Layout& view = kernel_.graph.layout(source.layout);
    std::vector<Goal> goals;
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      const Expr coordinate = source.coordinates[axis];
      const Expr limit = view.extents()[axis];
      const auto describe = [=, name = tensor.name](const Evaluate& at) {
        return fmt::format("coordinate {} on axis {} of {}, whose extent is {}", at(coordinate), axis, name, at(limit));
      };
      append(goals, outside(coordinate, exprs_.constant(0), limit, describe));
    }
    add_view(goals, tensor, view);
    add_offset(goals, tensor, view, source, load, column.value_or(column_));
    Obligation dead{.kind = ObligationKind::load, .access = access, .verdict = Verdict::dead};
    dead.contradiction = session_.why_dead(region);
    if (!dead.contradiction.empty()) return dead;
    Obligation all{.kind = ObligationKind::load, .access = access};
    std::vector<ir::Constraint> guards;
    int undecided = 0;
    const auto is_ended = [&] {
      return all.verdict == Verdict::refuted || (all.verdict == Verdict::checked && undecided >= kMostUndecided);
    };
    for (std::size_t i = 0; i < goals.size() && !is_ended(); ++i) {
      const Expr violated = goals[i].violated.front();
      if (excluded_by_row(violated)) continue;
      if (known != nullptr && session_.excludes(*known, goals[i].violated)) continue;
      if (known != nullptr && excluded_by_bounds(region, violated)) continue;
      Obligation one{.kind = ObligationKind::load, .access = access, .verdict = Verdict::checked};
      if (undecided < kMostUndecided) one = session_.decide(ObligationKind::load, access, region, {goals[i]});
      if (one.verdict == Verdict::checked) {
        ++undecided;
        if (known != nullptr && add_guard_of(region, violated, guards)) one.verdict = Verdict::guarded;
      }
      add_answer(all, std::move(one));
    }
    if (all.verdict == Verdict::guarded) guard(all, guards);
    return all;
  }

  /// Adds a condition on sizes under which `violated`, or a condition of the region, is negative at all coordinates of
  /// the segment. Returns false if no such condition holds at ordinary sizes.
  bool add_guard_of(const solver::Region& region, Expr violated, std::vector<ir::Constraint>& guards) {
    if (bound_steps_left_ < 0) return false;
    const StepBudget steps(bound_steps_left_);
    if (!idle_) idle_ = session_.often_negative(upper_bounds(region.nonnegative));
    std::vector<Expr> most = upper_bounds({violated});
    most.insert(most.end(), idle_->begin(), idle_->end());
    const std::vector<Expr> negative = session_.often_negative(most);
    Expr least = negative.empty() ? one_ : negative.front();
    for (const Expr one : negative) least = exprs_.min(least, one);
    bound_steps_left_ -= steps.taken();
    if (negative.empty()) return false;
    guards.push_back({least, ir::Comparison::lt, exprs_.constant(0)});
    return true;
  }

  std::vector<Expr> upper_bounds(const std::vector<Expr>& expressions) {
    std::vector<Expr> all;
    for (const Expr e : expressions)
      if (const auto bounds = bounds_->of(e)) all.push_back(bounds->most);
    return all;
  }

  void guard(Obligation& load, const std::vector<ir::Constraint>& guards) {
    load.guard = session_.text(guards);
    load.reason.clear();
    for (const ir::Constraint& one : guards)
      if (std::ranges::none_of(proof_.in_range, [&](const ir::Constraint& known) { return known.lhs == one.lhs; }))
        proof_.in_range.push_back(one);
  }

  /// Returns whether `violated` is excluded at every row and column of the case: decided once for all segments.
  bool excluded_by_row(Expr violated) {
    const auto [it, inserted] = excluded_by_row_.try_emplace(violated.id(), false);
    if (inserted && !mentions(violated, column_)) it->second = session_.excludes(rows_, {violated});
    return it->second;
  }

  /// Adds the goal that reads through a view stay in the tensor's storage: the view's span is at most as long.
  void add_view(std::vector<Goal>& goals, const ir::Value& tensor, const ir::Layout& view) {
    if (view.merges(exprs_, tensor.layout)) return;
    const Expr used = view.span(exprs_);
    const Expr stored = tensor.layout.span(exprs_);
    if (used == stored || is_reshaped(view, tensor.layout)) return;
    const std::int64_t bytes = ir::byte_size(tensor.dtype);
    goals.push_back({{less(stored, used)}, [=, name = tensor.name](const Evaluate& at) {
                       return fmt::format("{} bytes are accessed of {}, whose storage is {} bytes", at(used) * bytes,
                                          name, at(stored) * bytes);
                     }});
  }

  /// Returns whether a view gives a dense tensor other extents with as many elements.
  bool is_reshaped(const ir::Layout& view, const ir::Layout& stored) {
    ir::Products products(exprs_, kernel_.program->constraints());
    return view.is_dense() && stored.is_dense() && products.equal(view.extents(), stored.extents());
  }

  /// The code starts from `base` and takes steps; the result must be the offset of the coordinates.
  void add_offset(std::vector<Goal>& goals, const ir::Value& tensor, const ir::Layout& view, const LoadSource& source,
                  const BodyLoad& load, Expr column) {
    const Expr offset = view.offset_of(exprs_, source.coordinates);
    Expr emitted = at_column(first_of(source, load), column);
    if (load.kind == LoadKind::contiguous) emitted = exprs_.add(emitted, column);
    if (load.kind == LoadKind::reversed) emitted = exprs_.sub(emitted, column);
    if (load.kind == LoadKind::strided) emitted = exprs_.add(emitted, exprs_.mul(load.step, column));
    if (emitted == offset || (column == column_ && is_offset_of(source, load, view))) return;
    const Expr limit = tensor.layout.span(exprs_);
    const auto describe = [=, name = tensor.name](const Evaluate& at) {
      return fmt::format("element {} of {} is read where its storage has {}", at(emitted), name, at(limit));
    };
    append(goals, outside(emitted, exprs_.constant(0), limit, describe));
  }

  /// Returns the element at innermost coordinate 0.
  Expr first_of(const LoadSource& source, const BodyLoad& load) {
    return has_offset(load) ? exprs_.add(source.base, load.offset) : source.base;
  }

  /// Decides an offset by terms: coordinates r + s * column have the offset of r, and s strides for each column.
  bool is_offset_of(const LoadSource& source, const BodyLoad& load, const ir::Layout& view) {
    if (load.kind == LoadKind::general) return load.offset == view.offset_of(exprs_, source.coordinates);
    std::vector<Expr> at_zero = source.coordinates;
    Expr step = exprs_.constant(0);
    for (std::size_t axis = 0; axis < at_zero.size(); ++axis) {
      if (!mentions(at_zero[axis], column_)) continue;
      const auto form = linear_in(exprs_, at_zero[axis], column_);
      if (!form) return false;
      at_zero[axis] = form->rest;
      step = exprs_.add(step, view.step_of(exprs_, static_cast<int>(axis), form->slope));
    }
    const Expr emitted = load.kind == LoadKind::contiguous  ? one_
                         : load.kind == LoadKind::reversed  ? exprs_.constant(-1)
                         : load.kind == LoadKind::invariant ? exprs_.constant(0)
                                                            : load.step;
    return step == emitted && first_of(source, load) == view.offset_of(exprs_, at_zero);
  }

  RunVariables run_;
  Expr one_, column_;
  solver::Region rows_;                     // constraints of the case's rows
  solver::Region claims_, segment_;         // constraints of the segment
  std::optional<SizeBoundsFinder> bounds_;  // bounds at the load
  std::int64_t bound_steps_left_ = kBoundSteps;
  std::optional<std::vector<Expr>> idle_;          // expressions of which one may be negative at the load
  std::map<std::uint32_t, bool> excluded_by_row_;  // keys are Expr::id
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, bool> justified_;  // cuts, by Expr::id and side
};

LoadProver::LoadProver(ProofSession& session, const Schedule& schedule, Proof& proof)
    : implementation_(std::make_unique<Implementation>(session, schedule, proof)) {}
LoadProver::~LoadProver() = default;

void LoadProver::enter_case(const solver::Region& rows) { implementation_->enter_case(rows); }
void LoadProver::prove(const SegmentCall& call, bool inside) { implementation_->prove(call, inside); }
void LoadProver::prove_row_data(const SegmentCall& call) { implementation_->prove_row_data(call); }

}  // namespace padlock::compiler
