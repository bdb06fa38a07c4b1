#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compiler/affine.h"
#include "compiler/index_width.h"
#include "compiler/prover/emitted_indices.h"
#include "compiler/prover/proof_session.h"
#include "compiler/prover/proven_kernel.h"
#include "compiler/prover/walk_proof.h"

namespace padlock::compiler {

using ir::Expr;

/// States the obligations of a schedule for the host and decides them.
class HostProver {
 public:
  HostProver(HostSchedule schedule, const ProverOptions& options)
      : proven_(std::move(schedule)),
        schedule_(proven_.schedule_),
        kernel_(schedule_.kernel),
        exprs_(kernel_.program->exprs()),
        session_(kernel_, options),
        lemmas_(session_, options.cache),
        run_(exprs_),
        cache_(options.cache),
        explains_(options.explain),
        one_(exprs_.constant(1)),
        column_(kernel_.coordinate(kernel_.rank() - 1)) {}

  Result<ProvenKernel> prove() {
    const auto start = std::chrono::steady_clock::now();
    const std::string key = schedule_.mutation == Mutation::none && cache_ != nullptr ? identity() : "";
    if (!key.empty())
      if (std::optional<Proof> known = cache_->proof(key)) {
        proven_.proof_ = *std::move(known);
        return std::move(proven_);
      }
    PADLOCK_CHECK(session_.check_assumptions());
    prove_extents();
    prove_launch();
    prove_widths();
    prove_cases(0, Region{});
    Proof& proof = proven_.proof_;
    proof.kernel = kernel_.name;
    proof.config = schedule_.config.to_string();
    proof.solver_calls = session_.solver_calls();
    proof.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!key.empty()) cache_->add_proof(key, proof);
    return std::move(proven_);
  }

 private:
  /// What the schedule follows from.
  [[nodiscard]] std::string identity() const {
    return fmt::format("{}\n{}\n{}{}", ir::to_string(*kernel_.program), kernel_.name, schedule_.config.to_string(),
                       explains_ ? "\nexplained" : "");
  }

  void record(Obligation obligation) { proven_.proof_.obligations.push_back(std::move(obligation)); }
  Expr less(Expr a, Expr b) { return exprs_.sub(exprs_.sub(b, a), one_); }  // a < b, as an expression >= 0
  Expr at_least(Expr a, Expr b) { return exprs_.sub(a, b); }                // a >= b

  [[nodiscard]] const ir::Value& result(std::size_t i) const { return kernel_.program->value(kernel_.results[i]); }

  // --- the program's results, and what a launch covers -----------------------------------------------------------

  void prove_extents() {
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      for (int axis = 0; axis < result(i).rank(); ++axis) {
        const Expr extent = result(i).extents()[static_cast<std::size_t>(axis)];
        const std::string access = fmt::format("axis {} of {}: {}", axis, result(i).name, session_.text(extent));
        const Goal negative{.violated = {exprs_.sub(exprs_.neg(extent), one_)}, .describe = [=](const Evaluate& at) {
                              return fmt::format("the extent is {}", at(extent));
                            }};
        record(session_.decide(ObligationKind::extent, access, {}, {negative}));
      }
  }

  /// Rows and columns of the launch against the extents; flattening rows is a bijection (see docs/proofs.md).
  void prove_launch() {
    Expr rows = exprs_.constant(1);
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) rows = exprs_.mul(rows, extent(axis));
    Region nonempty;
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      nonempty.nonnegative.push_back(less(exprs_.constant(0), extent(axis)));
    const auto compare = [&](Expr launched, Expr needed, const char* what) {
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("{} {} are launched of {}", at(launched), what, at(needed));
      };
      const std::string access = fmt::format("{} of {}", what, kernel_.name);
      record(session_.decide(ObligationKind::cover, access, nonempty, {{{less(launched, needed)}, describe}}));
      record(session_.decide(ObligationKind::store, access, nonempty, {{{less(needed, launched)}, describe}}));
    };
    compare(schedule_.rows, rows, "rows");
    compare(schedule_.columns, extent(kernel_.rank() - 1), "columns");
  }

  // --- widths
  // ---------------------------------------------------------------------------------------------------------

  /// Indices are computed in 64 bits (a division in 32 where its operands fit them). Mostly the ranges of coordinates
  /// show it, which know no constraints; for the rest each sum with a factor is asked about.
  void prove_widths() {
    const CoordinateRanges ranges = coordinate_ranges(kernel_);
    Region inside;
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      inside.nonnegative.push_back(less(kernel_.coordinate(axis), extent(axis)));
    for (const EmittedIndices& place : emitted_indices(schedule_)) {
      std::vector<Goal> goals;
      std::set<std::uint32_t> seen;
      for (const Expr e : place.exact)
        if (!fits_width(exprs_, ranges, e, 64)) add_wide(e, goals, seen);
      Obligation one = session_.decide(ObligationKind::width, place.place + " in 64 bits", inside, goals);
      record(std::move(one));
    }
  }

  /// Each term of a sum, and the sum, beyond 2^62 either way.
  void add_wide(Expr e, std::vector<Goal>& goals, std::set<std::uint32_t>& seen) {
    if (!e.has_coordinate() || !seen.insert(e.id()).second) return;
    for (const Expr operand : e.operands()) add_wide(operand, goals, seen);
    std::vector<Expr> partial;
    if (e.kind() == ir::ExprKind::sum)
      for (std::size_t i = 0; i < e.operands().size(); ++i)
        partial.push_back(exprs_.mul(exprs_.constant(e.coefficients()[i]), e.operands()[i]));
    if (e.kind() == ir::ExprKind::sum || e.kind() == ir::ExprKind::product)
      partial.push_back(split_sum(exprs_, e).first);
    const Expr bound = exprs_.constant(Int128{1} << 61);
    for (const Expr part : partial) {
      if (!part.has_coordinate()) continue;
      const auto describe = [=](const Evaluate& at) { return fmt::format("an index is {}", at(part)); };
      goals.push_back({{exprs_.sub(part, bound)}, describe});
      goals.push_back({{exprs_.sub(exprs_.neg(part), bound)}, describe});
    }
  }

  [[nodiscard]] Expr extent(int axis) const { return kernel_.extents[static_cast<std::size_t>(axis)]; }

  // --- cases of a row -----------------------------------------------------------------------------------------------

  void prove_cases(int index, Region path) {
    const ScheduledCase& row = schedule_.cases[static_cast<std::size_t>(index)];
    if (!row.is_test()) return prove_case(row, path);
    Region holds = path;
    Region fails = std::move(path);
    std::vector<Expr> any;
    bool expressible = true;
    for (const ConditionId id : kernel_.graph.conditions_of(row.test)) {
      const Condition& condition = kernel_.graph.condition(id);
      const bool zero = condition.kind == Condition::Kind::zero;
      (zero ? holds.zero : holds.nonnegative).push_back(condition.expr);
      if (zero) {
        any.push_back(exprs_.sub(condition.expr, one_));
        any.push_back(exprs_.sub(exprs_.neg(condition.expr), one_));
      } else {
        any.push_back(exprs_.sub(exprs_.neg(condition.expr), one_));
      }
    }
    if (expressible && any.size() == 1)
      fails.nonnegative.push_back(any.front());
    else
      fails.alternatives.push_back(std::move(any));
    prove_cases(row.holds, std::move(holds));
    prove_cases(row.fails, std::move(fails));
  }

  void prove_case(const ScheduledCase& row, const Region& path) {
    Region rows = path;
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      rows.nonnegative.push_back(less(kernel_.coordinate(axis), extent(axis)));
    rows_ = rows;
    excluded_by_row_.clear();
    prove_segments_cover(row, rows);
    // Loads last: they are what a large program uses the budget up with, and what can be checked instead.
    for (const SegmentCall& call : row.calls) prove_writes(call, rows);
    for (const SegmentCall& call : row.calls) prove_loads(call, rows);
  }

  /// Every column lies in a segment: in the first that ends after it.
  void prove_segments_cover(const ScheduledCase& row, const Region& rows) {
    std::vector<Goal> goals;
    std::vector<Region> regions;
    Expr reached = exprs_.constant(0);
    const auto add = [&](Region region, Expr violated, Expr from, Expr to) {
      if (violated.is_constant() && violated.constant() < 0) return;
      region.nonnegative.push_back(at_least(column_, from));
      region.nonnegative.push_back(less(column_, schedule_.columns));
      regions.push_back(std::move(region));
      goals.push_back({{violated}, [=](const Evaluate& at) {
                         return fmt::format("no segment holds the columns from {} to {}", at(from), at(to));
                       }});
    };
    for (const SegmentCall& call : row.calls) {
      Region region = rows;
      region.nonnegative.push_back(less(column_, call.end));
      if (call.begin != reached) add(std::move(region), less(column_, call.begin), reached, call.begin);
      reached = call.end;
    }
    if (reached != schedule_.columns) add(rows, at_least(column_, reached), reached, schedule_.columns);
    Obligation all{.kind = ObligationKind::cover, .access = fmt::format("segments of {}", kernel_.name)};
    for (std::size_t i = 0; i < goals.size() && all.verdict != Verdict::refuted; ++i) {
      Obligation one = session_.decide(ObligationKind::cover, all.access, regions[i], {goals[i]});
      if (one.verdict != Verdict::proved) all = std::move(one);
    }
    record(std::move(all));
  }

  // --- one segment --------------------------------------------------------------------------------------------------

  const Body& enter(const SegmentCall& call) {
    where_ = fmt::format("columns [{}, {})", session_.text(call.begin), session_.text(call.end));
    return schedule_.bodies[static_cast<std::size_t>(call.body)];
  }

  void prove_writes(const SegmentCall& call, const Region& rows) {
    const Body& body = enter(call);
    prove_stores(call, body, rows, lemmas_.stays_inside(body.walks));
    prove_cover(call, body, rows);
    prove_alignment(body);
  }

  void prove_loads(const SegmentCall& call, const Region& rows) {
    const Body& body = enter(call);
    const bool inside = lemmas_.stays_inside(body.walks);
    if (inside && !body.loads.empty()) enter_segment(call, rows);
    for (std::size_t i = 0; i < body.loads.size(); ++i) prove_load(call, body, static_cast<int>(i), rows, inside);
  }

  /// The task's columns, and that the run is not empty.
  Region task_of(const SegmentCall& call, const Region& rows) {
    Region region = rows;
    region.nonnegative.push_back(less(run_.column_first, run_.column_last));
    region.nonnegative.push_back(at_least(schedule_.columns, run_.column_last));
    region.nonnegative.push_back(less(call.run_begin, call.run_end));
    return region;
  }

  /// One way in which lanes are where a column must be: the whole run, or, where a lane may leave it, each loop.
  struct Lanes {
    Region region;
    Expr first, last;  // columns, inclusive
    std::string text;
  };
  std::vector<Lanes> lanes_of_call(const SegmentCall& call, const Body& body, const Region& rows, bool inside) {
    const Region task = task_of(call, rows);
    if (inside) return {{task, call.run_begin, exprs_.sub(call.run_end, one_), ""}};
    std::vector<Lanes> all;
    for (const Walk& walk : body.walks)
      for (const ChunkLoop& loop : walk.loops) {
        const ChunkLanes chunk = lanes_of(exprs_, walk, loop);
        Region region = task;
        join(region, chunk.region);
        region.zero.push_back(exprs_.sub(run_.begin, call.run_begin));
        region.zero.push_back(exprs_.sub(run_.end, call.run_end));
        all.push_back({std::move(region), chunk.column, chunk.column, " (a vector)"});
      }
    return all;
  }
  static void join(Region& to, const Region& from) {
    to.nonnegative.insert(to.nonnegative.end(), from.nonnegative.begin(), from.nonnegative.end());
    to.zero.insert(to.zero.end(), from.zero.begin(), from.zero.end());
    to.alternatives.insert(to.alternatives.end(), from.alternatives.begin(), from.alternatives.end());
  }

  void prove_stores(const SegmentCall& call, const Body& body, const Region& rows, bool inside) {
    std::string names;
    for (std::size_t i = 0; i < kernel_.results.size(); ++i) names += (i > 0 ? ", " : "") + result(i).name;
    const std::string access = fmt::format("{} in {}", names, where_);
    Obligation store{.kind = ObligationKind::store, .access = access};
    Obligation disjoint{.kind = ObligationKind::disjoint, .access = access};
    bool dead = true;
    std::vector<std::string> contradiction;
    for (const Lanes& lanes : lanes_of_call(call, body, rows, inside)) {
      const auto column = [&](Expr at_column, const char* what, Expr bound) {
        return [=](const Evaluate& at) {
          return fmt::format("column {} is written, {} {}", at(at_column), what, at(bound));
        };
      };
      const Expr zero = exprs_.constant(0);
      const Expr columns = extent(kernel_.rank() - 1);
      const auto decide = [&](Obligation& all, const std::vector<Goal>& goals) {
        if (all.verdict == Verdict::refuted) return;
        Obligation one = session_.decide(all.kind, access, lanes.region, goals);
        if (one.verdict != Verdict::proved) all = std::move(one);
      };
      contradiction = session_.why_dead(lanes.region, {lanes.first});
      if (!contradiction.empty()) continue;
      dead = false;
      decide(store, {{{less(lanes.first, zero)}, column(lanes.first, "before column", zero)},
                     {{at_least(lanes.last, columns)}, column(lanes.last, "the extent is", columns)}});
      decide(
          disjoint,
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

  /// Every column of the run is written.
  void prove_cover(const SegmentCall& call, const Body& body, const Region& rows) {
    Obligation cover{.kind = ObligationKind::cover, .access = where_};
    if (!lemmas_.covers(body.walks)) {
      Region task = task_of(call, rows);
      task.zero = {exprs_.sub(run_.begin, call.run_begin), exprs_.sub(run_.end, call.run_end)};
      for (const Walk& walk : body.walks)
        for (const Uncovered& way : uncovered_by(exprs_, walk, column_)) {
          if (cover.verdict == Verdict::refuted) break;
          Region region = task;
          join(region, way.region);
          Obligation one = session_.decide(ObligationKind::cover, where_, region,
                                           {{way.goal, [&](const Evaluate& at) {
                                               return fmt::format("column {} is written by no chunk", at(column_));
                                             }}});
          if (one.verdict != Verdict::proved) cover = std::move(one);
        }
    }
    record(std::move(cover));
  }

  /// The run-time test of a streamed walk aligns its first vector; the others follow whole vectors later.
  void prove_alignment(const Body& body) {
    for (const Walk& walk : body.walks)
      for (const ChunkLoop& loop : walk.loops) {
        if (!loop.nontemporal) continue;
        for (std::size_t i = 0; i < kernel_.results.size(); ++i) {
          const int size = ir::byte_size(result(i).dtype);
          const Expr trip = exprs_.mul(exprs_.constant(loop.step() * size), exprs_.variable("trip", 1100));
          Obligation align{.kind = ObligationKind::align,
                           .access = fmt::format("{} in {}, {} bytes", result(i).name, where_, loop.lanes * size)};
          if (trip.congruence().residue % (loop.lanes * size) != 0 ||
              trip.congruence().modulus % (loop.lanes * size) != 0) {
            align.verdict = Verdict::refuted;
            align.found.violation = fmt::format("a trip advances by {} bytes", loop.step() * size);
          }
          record(std::move(align));
        }
      }
  }

  // --- loads --------------------------------------------------------------------------------------------------------

  void prove_load(const SegmentCall& call, const Body& body, int index, const Region& rows, bool inside) {
    const BodyLoad& load = body.loads[static_cast<std::size_t>(index)];
    const Stream& stream = call.streams[static_cast<std::size_t>(index)];
    const std::string name = kernel_.program->value(stream.tensor).name;
    std::string text;
    for (const Expr c : stream.coordinates) text += (text.empty() ? "" : ", ") + session_.text(c);
    const std::string access = fmt::format("{}[{}] in {}", name, text, where_);
    Obligation all{.kind = ObligationKind::load, .access = access};
    if (inside) {
      Region known = claims_;
      Region region = segment_;
      add_guard(known, load, column_);
      add_guard(region, load, column_);
      all = decide_load(access, region, stream, load, columns_of(call), {}, &known);
    } else {
      for (const Lanes& lanes : lanes_of_call(call, body, rows, false)) {
        if (all.verdict == Verdict::refuted) break;
        Stream moved = stream;
        for (Expr& c : moved.coordinates) c = at_column(c, lanes.first);
        Region region = lanes.region;
        add_guard(region, load, lanes.first);
        Obligation one = decide_load(access, region, moved, load, columns_of(call), lanes.first);
        if (one.verdict == Verdict::refuted || one.verdict == Verdict::checked) all = std::move(one);
      }
    }
    all.body = call.body;
    all.load = index;
    record(std::move(all));
  }

  /// Columns of a segment at which an access may well happen.
  std::vector<Expr> columns_of(const SegmentCall& call) {
    const Expr middle = exprs_.floordiv(exprs_.add(call.begin, call.end), exprs_.constant(2));
    return {call.begin, exprs_.sub(call.end, one_), middle};
  }

  Expr at_column(Expr e, Expr column) {
    return exprs_.substitute(e, [&](Expr symbol) { return symbol == column_ ? column : symbol; });
  }

  void add_guard(Region& region, const BodyLoad& load, Expr column) {
    for (const ConditionId id : kernel_.graph.conditions_of(load.guard)) {
      const Condition& condition = kernel_.graph.condition(id);
      (condition.kind == Condition::Kind::zero ? region.zero : region.nonnegative)
          .push_back(at_column(condition.expr, column));
    }
  }

  /// The columns of a segment: those of its claims that hold there, which mostly suffice, and where it begins and ends.
  void enter_segment(const SegmentCall& call, const Region& rows) {
    Region columns;
    columns.nonnegative = {at_least(column_, call.begin), less(column_, call.end)};
    claims_ = rows;
    claims_.nonnegative.push_back(less(column_, schedule_.columns));
    const std::vector<Expr> claims = claims_of(call);
    claims_.nonnegative.insert(claims_.nonnegative.end(), claims.begin(), claims.end());
    segment_ = claims_;
    join(segment_, columns);
  }

  /// What holds of every column of a segment: what its cuts justify, of all pieces that it consists of.
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

  /// Whether a cut of any piece leaves columns of that piece, of which its claim holds. The piece is arbitrary, so the
  /// question is small however deep the cuts nest.
  bool justifies(const Cut& cut) {
    const auto [it, inserted] = justified_.try_emplace({cut.at.id(), cut.claim.id(), cut.above}, false);
    if (!inserted) return it->second;
    const Expr at = exprs_.min(exprs_.max(cut.at, run_.begin), run_.end);
    Region part;
    part.nonnegative = {cut.above ? at_least(column_, at) : at_least(column_, run_.begin),
                        less(column_, cut.above ? run_.end : at)};
    const Expr outside = cut.above ? less(column_, run_.begin) : at_least(column_, run_.end);
    it->second =
        session_.excludes(part, {outside}) && session_.excludes(part, {exprs_.sub(exprs_.neg(cut.claim), one_)});
    return it->second;
  }

  /// `column`: where it is not the coordinate itself. `known`: a superset of the region, with fewer conditions, to be
  /// asked first.
  Obligation decide_load(const std::string& access, const Region& region, const Stream& stream, const BodyLoad& load,
                         const std::vector<Expr>& candidates, std::optional<Expr> column,
                         const Region* known = nullptr) {
    const ir::Value& tensor = kernel_.program->value(stream.tensor);
    const ir::Layout& view = kernel_.graph.layout(stream.layout);
    std::vector<Goal> goals;
    for (std::size_t axis = 0; axis < stream.coordinates.size(); ++axis) {
      const Expr coordinate = stream.coordinates[axis];
      const Expr limit = view.extents()[axis];
      const auto describe = [=, name = tensor.name](const Evaluate& at) {
        return fmt::format("coordinate {} on axis {} of {}, whose extent is {}", at(coordinate), axis, name, at(limit));
      };
      for (const Expr violated : {less(coordinate, exprs_.constant(0)), at_least(coordinate, limit)})
        if (!excluded_by_row(violated)) goals.push_back({{violated}, describe});
    }
    add_view(goals, tensor, view);
    add_offset(goals, tensor, view, stream, load, column.value_or(column_));
    Obligation dead{.kind = ObligationKind::load, .access = access, .verdict = Verdict::dead};
    dead.contradiction = session_.why_dead(region, candidates);
    if (!dead.contradiction.empty()) return dead;
    if (known != nullptr)
      std::erase_if(goals, [&](const Goal& goal) { return session_.excludes(*known, goal.violated); });
    return session_.decide(ObligationKind::load, access, region, goals);
  }

  /// Whether every row of the case excludes it, wherever the column is: asked once for all segments.
  bool excluded_by_row(Expr violated) {
    const auto [it, inserted] = excluded_by_row_.try_emplace(violated.id(), false);
    if (inserted && !mentions(violated, column_)) it->second = session_.excludes(rows_, {violated});
    return it->second;
  }

  /// What is read through a view lies in the tensor's storage: its span is not longer.
  void add_view(std::vector<Goal>& goals, const ir::Value& tensor, const ir::Layout& view) {
    if (view.merges(exprs_, tensor.layout)) return;
    const Expr used = view.span(exprs_);
    const Expr stored = tensor.layout.span(exprs_);
    if (used == stored) return;
    const std::int64_t bytes = ir::byte_size(tensor.dtype);
    goals.push_back({{less(stored, used)}, [=, name = tensor.name](const Evaluate& at) {
                       return fmt::format("{} bytes are accessed of {}, whose storage is {} bytes", at(used) * bytes,
                                          name, at(stored) * bytes);
                     }});
  }

  /// The code starts from `base` and steps: that must be the offset of the coordinates.
  void add_offset(std::vector<Goal>& goals, const ir::Value& tensor, const ir::Layout& view, const Stream& stream,
                  const BodyLoad& load, Expr column) {
    const Expr offset = view.offset_of(exprs_, stream.coordinates);
    Expr emitted = load.kind == LoadKind::general ? at_column(load.offset, column) : stream.base;
    if (load.kind == LoadKind::contiguous) emitted = exprs_.add(emitted, column);
    if (load.kind == LoadKind::reversed) emitted = exprs_.sub(emitted, column);
    if (load.kind == LoadKind::strided) emitted = exprs_.add(emitted, exprs_.mul(load.step, column));
    if (emitted == offset || (column == column_ && is_offset_of(stream, load, view))) return;
    const Expr limit = tensor.layout.span(exprs_);
    const auto describe = [=, name = tensor.name](const Evaluate& at) {
      return fmt::format("element {} of {} is read where its storage has {}", at(emitted), name, at(limit));
    };
    goals.push_back({{less(emitted, exprs_.constant(0))}, describe});
    goals.push_back({{at_least(emitted, limit)}, describe});
  }

  /// The same by terms: coordinates r + s * column have the offset of r, and s strides for each column.
  bool is_offset_of(const Stream& stream, const BodyLoad& load, const ir::Layout& view) {
    if (load.kind == LoadKind::general) return load.offset == view.offset_of(exprs_, stream.coordinates);
    std::vector<Expr> at_zero = stream.coordinates;
    Expr step = exprs_.constant(0);
    for (std::size_t axis = 0; axis < at_zero.size(); ++axis) {
      if (!mentions(at_zero[axis], column_)) continue;
      const auto form = affine_in(exprs_, at_zero[axis], column_);
      if (!form || !step.is_constant(0)) return false;
      at_zero[axis] = form->rest;
      step = view.step_of(exprs_, static_cast<int>(axis), form->slope);
    }
    const Expr emitted = load.kind == LoadKind::contiguous  ? one_
                         : load.kind == LoadKind::reversed  ? exprs_.constant(-1)
                         : load.kind == LoadKind::invariant ? exprs_.constant(0)
                                                            : load.step;
    return step == emitted && stream.base == view.offset_of(exprs_, at_zero);
  }

  ProvenKernel proven_;
  const HostSchedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  ProofSession session_;
  WalkLemmas lemmas_;
  RunVariables run_;
  ProofCache* cache_;  // borrowed; may be null
  bool explains_;
  Expr one_, column_;
  Region rows_;                                                               // of the case that is being proved
  Region claims_, segment_;                                                   // of its segment
  std::map<std::uint32_t, bool> excluded_by_row_;                             // by Expr::id
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, bool> justified_;  // cuts, by Expr::id and side
  std::string where_;                                                         // of the segment that is being proved
};

Result<ProvenKernel> prove(HostSchedule schedule, const ProverOptions& options) {
  PADLOCK_TRY(ProvenKernel proven, HostProver(std::move(schedule), options).prove());
  if (const Obligation* obligation = proven.proof().refuted())
    return failed_precondition(fmt::format("kernel {} is refuted: {} of {}: {}", proven.proof().kernel,
                                           name_of(obligation->kind), obligation->access,
                                           obligation->found.to_string()));
  return proven;
}

Result<Proof> list_obligations(HostSchedule schedule, const ProverOptions& options) {
  PADLOCK_TRY(const ProvenKernel proven, HostProver(std::move(schedule), options).prove());
  return proven.proof();
}

}  // namespace padlock::compiler
