#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/prover/access_regions.h"
#include "compiler/prover/chunk_proof.h"
#include "compiler/prover/grid_proof.h"
#include "compiler/prover/load_prover.h"
#include "compiler/prover/loop_proof.h"
#include "compiler/prover/proof_session.h"
#include "compiler/prover/proven_kernel.h"
#include "compiler/prover/tile_proof.h"
#include "compiler/prover/tile_words_proof.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index32_variant.h"
#include "compiler/schedule/index/index64_bounds.h"
#include "compiler/schedule/index/index_width.h"
#include "ir/expr/product_form.h"
#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::Expr;

/// States the obligations of a schedule, for the host or a grid, and decides them.
class KernelProver {
 public:
  /// Looks the proof up first: the other steps cost more than to prove a small kernel.
  static Result<ProvenKernel> prove(Schedule schedule, const ProverOptions& options) {
    if (options.cache == nullptr || !options.keep) return KernelProver(std::move(schedule), options).run();
    const std::string key = identity_of(schedule, options);
    if (std::optional<Proof> known = options.cache->proof(key)) {
      ProvenKernel proven(std::move(schedule));
      proven.set_proof(*std::move(known));
      return proven;
    }
    const std::int64_t before = steps_taken();
    PADLOCK_TRY(ProvenKernel proven, KernelProver(std::move(schedule), options).run());
    // Conditions of loads are expressions of this very program.
    if (proven.proof().in_range.empty()) options.cache->add_proof(key, proven.proof(), steps_taken() - before);
    return proven;
  }

 private:
  KernelProver(Schedule schedule, const ProverOptions& options)
      : start_(std::chrono::steady_clock::now()),
        proven_(std::move(schedule)),
        schedule_(proven_.schedule_),
        kernel_(schedule_.kernel),
        exprs_(kernel_.program->exprs()),
        session_(kernel_, options),
        lemmas_(session_, options.cache),
        loads_(session_, schedule_),
        run_(exprs_),
        column_(kernel_.coordinate(kernel_.rank() - 1)) {}

  Result<ProvenKernel> run() {
    PADLOCK_CHECK(session_.check_assumptions());
    // Lemmas first: most accesses follow from them alone, and they cost the same whatever the program is. Loads and
    // extents last: they are what a large program uses the budget up with, and what can be checked instead.
    prove_lemmas();
    prove_launch();
    prove_threads();
    prove_widths();
    prove_index32_variant();
    prove_cases(&KernelProver::prove_writes, 0, solver::Region{});
    prove_cases(&KernelProver::prove_loads, 0, solver::Region{});
    const std::ptrdiff_t others = std::ssize(proof_.obligations);
    prove_extents();
    std::ranges::rotate(proof_.obligations, proof_.obligations.begin() + others);  // listed first
    proof_.kernel = kernel_.name;
    proof_.config = schedule_.config;
    proof_.in_range = loads_.take_guards();
    proof_.solver_calls = session_.solver_calls();
    proof_.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    proven_.set_proof(std::move(proof_));
    return std::move(proven_);
  }

  /// Identifies everything that the schedule and its proof follow from.
  static std::string identity_of(const Schedule& schedule, const ProverOptions& options) {
    return fmt::format("{}\n{}\n{}{}", ir::to_string(*schedule.kernel.program), schedule.kernel.name, schedule.config,
                       options.explain ? "\nexplained" : "");
  }

  void record(Obligation obligation) { proof_.obligations.push_back(std::move(obligation)); }

  [[nodiscard]] const ir::Value& result(std::size_t i) const { return kernel_.program->value(kernel_.results[i]); }

  void prove_lemmas() {
    for (const Body& body : schedule_.bodies)
      if (lemmas_.stays_inside(body.strategies)) static_cast<void>(lemmas_.covers(body.strategies));
  }

  // --- the program's results, and what a launch covers -----------------------------------------------------------

  void prove_extents() {
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      for (int axis = 0; axis < result(i).rank(); ++axis) {
        const Expr extent = result(i).extents()[static_cast<std::size_t>(axis)];
        const std::string access = fmt::format("axis {} of {}: {}", axis, result(i).name, session_.text(extent));
        const Goal negative{
            .violated = {less(exprs_, extent, exprs_.constant(0))},
            .describe = [=](const Evaluate& at) { return fmt::format("the extent is {}", at(extent)); }};
        record(session_.decide(ObligationKind::extent, access, {}, {negative}));
      }
  }

  /// Rows and columns of the launch against the extents; flattening rows is a bijection (see docs/proofs.md).
  void prove_launch() {
    Expr rows = exprs_.constant(1);
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) rows = exprs_.mul(rows, extent(axis));
    solver::Region nonempty;
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      nonempty.nonnegative.push_back(less(exprs_, exprs_.constant(0), extent(axis)));
    const auto compare = [&](Expr launched, Expr needed, const char* what) {
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("{} {} are launched of {}", at(launched), what, at(needed));
      };
      const std::string access = fmt::format("{} of {}", what, kernel_.name);
      record(session_.decide(ObligationKind::cover, access, nonempty, {{{less(exprs_, launched, needed)}, describe}}));
      record(session_.decide(ObligationKind::store, access, nonempty, {{{less(exprs_, needed, launched)}, describe}}));
    };
    compare(schedule_.rows, rows, "rows");
    compare(schedule_.columns, extent(kernel_.rank() - 1), "columns");
    prove_reshapes();
  }

  /// A reshape is computed in the extents of what it is made of, of which there must be as many elements.
  void prove_reshapes() {
    ir::Products products(exprs_, kernel_.program->constraints());
    for (std::size_t i = 0; i < kernel_.results.size(); ++i) {
      const ir::Value* value = &result(i);
      bool equal = true;
      for (; is_reshape(*value); value = &operand_of(*value)) equal &= keeps_elements(products, *value);
      if (value == &result(i)) continue;
      equal &= products.equal(kernel_.extents, value->extents()) || is_merged(*value);
      Obligation all{.kind = ObligationKind::cover, .access = "elements of " + result(i).name};
      if (!equal) all.verdict = Verdict::checked;
      record(std::move(all));
    }
  }

  /// Returns whether the kernel's extents are those of a value but for literal ones, adjacent axes of it merged.
  bool is_merged(const ir::Value& value) {
    std::vector<Expr> rest(value.extents().begin(), value.extents().end());
    std::erase_if(rest, [](Expr extent) { return extent.is_constant(1); });
    for (int axis = kernel_.rank(); axis-- > 0;) {
      Expr merged = exprs_.constant(1);
      for (bool first = true; first || merged != extent(axis); first = false) {
        if (rest.empty()) return false;
        merged = first ? rest.back() : exprs_.mul(rest.back(), merged);
        rest.pop_back();
      }
    }
    return rest.empty();
  }

  static bool is_reshape(const ir::Value& value) {
    return value.kind == ir::ValueKind::operation && value.op == ir::Op::reshape;
  }
  const ir::Value& operand_of(const ir::Value& reshape) {
    return kernel_.program->value(std::get<ir::ValueId>(reshape.operands[0]));
  }

  /// Returns whether a reshape has as many elements as its operand: that follows from the text, or is required, or from
  /// what is.
  bool keeps_elements(ir::Products& products, const ir::Value& reshape) {
    const auto before = operand_of(reshape).extents();
    if (products.equal(before, reshape.extents())) return true;
    const Expr from = ir::Simplifier::product(exprs_, before);
    const Expr to = ir::Simplifier::product(exprs_, reshape.extents());
    const bool required = std::ranges::any_of(kernel_.program->requirements(), [&](const ir::Requirement& one) {
      const ir::Constraint& c = one.constraint;
      return c.comparison == ir::Comparison::eq && c.lhs == from && c.rhs == to;
    });
    return required ||
           (session_.excludes({}, {less(exprs_, from, to)}) && session_.excludes({}, {less(exprs_, to, from)}));
  }

  // --- widths -----------------------------------------------------------------------------------------------------

  /// Indices are computed in 64 bits (a division in 32 where its operands fit them). Mostly the ranges of coordinates
  /// show it, which know no constraints; for the rest each sum with a factor is asked about. What the program does not
  /// bound, a launch is asked to.
  void prove_widths() {
    IndexWidths widths(kernel_);
    // A reshape without elements has no index that is used.
    solver::Region elements = inside();
    for (const ScheduledCase& row : schedule_.cases)
      for (const SegmentCall& call : row.calls)
        for (const Stream& stream : call.streams)
          elements.nonnegative.insert(elements.nonnegative.end(), stream.facts.begin(), stream.facts.end());
    for (const ExactIndices& place : exact_indices(schedule_)) {
      Obligation all{.kind = ObligationKind::width, .access = place.place + " in 64 bits"};
      std::vector<Expr> undecided;
      std::set<std::uint32_t> seen;
      for (const Expr e : place.exact) {
        if (widths.fit(e, 64)) continue;
        std::vector<Goal> goals;
        if (undecided.empty()) add_wide(widths, e, goals, seen);
        for (std::size_t i = 0; i < goals.size() && all.verdict == Verdict::proved; ++i)
          all = session_.decide(all.kind, all.access, elements, {goals[i]});
        if (all.verdict != Verdict::proved) undecided.push_back(e);
      }
      if (!undecided.empty()) bound_sizes(undecided, all);
      record(std::move(all));
    }
  }

  /// Replaces an answer about indices by the bounds of their sizes under which they fit, where there are such.
  void bound_sizes(const std::vector<Expr>& wide, Obligation& answer) {
    const std::optional<std::vector<std::size_t>> needed = needed_bounds(schedule_, wide);
    if (!needed) return;
    std::vector<ir::Constraint> conditions;
    for (const std::size_t i : *needed) {
      const ir::Constraint& bound = schedule_.index64_bounds[i];
      const Expr holds = as_expression(exprs_, bound).first;
      if (session_.excludes({}, {less(exprs_, holds, exprs_.constant(0))})) continue;
      proof_.preconditions.insert(i);
      conditions.push_back(bound);
    }
    answer.verdict = conditions.empty() ? Verdict::proved : Verdict::guarded;
    answer.guard = session_.text(conditions);
    answer.reason.clear();
    answer.found = {};
  }

  /// Adds goals for what is divided or chosen in a sum that wraps: that must fit, the other parts of the sum need not.
  void add_wide_inside(IndexWidths& widths, Expr e, std::vector<Goal>& goals, std::set<std::uint32_t>& seen) {
    for (const Expr operand : e.operands())
      if (operand.kind() == ir::ExprKind::sum || operand.kind() == ir::ExprKind::product)
        add_wide_inside(widths, operand, goals, seen);
      else
        add_wide(widths, operand, goals, seen);
  }

  /// The terms of a sum that coordinates are in, and what they add up to; of a product likewise.
  std::vector<Expr> parts_with_coordinates(Expr e) {
    std::vector<Expr> parts;
    if (e.kind() == ir::ExprKind::sum)
      for (std::size_t i = 0; i < e.operands().size(); ++i)
        parts.push_back(exprs_.mul(exprs_.constant(e.coefficients()[i]), e.operands()[i]));
    if (e.kind() == ir::ExprKind::sum || e.kind() == ir::ExprKind::product) parts.push_back(split_sum(exprs_, e).first);
    std::erase_if(parts, [](Expr part) { return !part.has_coordinate(); });
    return parts;
  }

  /// Each term of a sum, and the sum, beyond 2^62 either way; of one that wraps its value alone.
  void add_wide(IndexWidths& widths, Expr e, std::vector<Goal>& goals, std::set<std::uint32_t>& seen) {
    if (!e.has_coordinate() || !seen.insert(e.id()).second) return;
    std::vector<Expr> partial;
    if (widths.wraps(e)) {
      add_wide_inside(widths, e, goals, seen);
      partial = {e};
    } else {
      for (const Expr operand : e.operands()) add_wide(widths, operand, goals, seen);
      partial = parts_with_coordinates(e);
    }
    const Expr bound = exprs_.constant(Int128{1} << 61);
    for (const Expr part : partial) {
      if (part.is_constant()) continue;
      const auto describe = [=](const Evaluate& at) { return fmt::format("an index is {}", at(part)); };
      goals.push_back({{exprs_.sub(part, bound)}, describe});
      goals.push_back({{exprs_.sub(exprs_.neg(part), bound)}, describe});
    }
  }

  /// Proves the schedule's 32-bit arithmetic under the guards that it declares.
  void prove_index32_variant() {
    const Index32Variant& index32 = schedule_.index32;
    if (index32.divisions.empty() && index32.bound == 0) return;
    choose_guards(index32.guards);
    if (index32.bound > 0) {
      prove_narrow_indices(guards_of(abi::Assumption::index32));
      prove_narrow_offsets(guards_of(abi::Assumption::offset32));
    } else {
      prove_narrow_divisions(guards_of(abi::Assumption::index32));
    }
  }

  /// The guards of an assumption that a launch asks.
  struct Guarded {
    solver::Region region = {};
    std::string text = {};
  };
  [[nodiscard]] Guarded guards_of(abi::Assumption assumption) const {
    Guarded made;
    std::vector<ir::Constraint> holding;
    for (const std::size_t i : proof_.launch_guards) {
      const abi::Guard& guard = schedule_.index32.guards[i];
      if (guard.assumption != assumption) continue;
      holding.push_back(guard.holds);
      made.region.nonnegative.push_back(as_expression(exprs_, guard.holds).first);
    }
    made.text = session_.text(holding);
    return made;
  }

  void record_guarded(const Guarded& guarded, Obligation one) {
    if (one.verdict == Verdict::proved && !guarded.text.empty()) {
      one.verdict = Verdict::guarded;
      one.guard = guarded.text;
    }
    record(std::move(one));
  }

  /// Returns whether a guard bounds this very size by `bound` in the direction of `comparison` (le or ge).
  [[nodiscard]] bool is_guarded(Expr size, ir::Comparison comparison, Int128 bound) const {
    return std::ranges::any_of(schedule_.index32.guards, [&](const abi::Guard& guard) {
      const ir::Constraint& c = guard.holds;
      if (c.lhs != size || c.comparison != comparison) return false;
      return comparison == ir::Comparison::le ? c.rhs.constant() <= bound : c.rhs.constant() >= bound;
    });
  }

  /// The sizes lie between two bounds.
  void prove_sizes(const char* what, const Guarded& guarded, const std::vector<Expr>& sizes, Int128 least,
                   Int128 most) {
    std::vector<Goal> goals;
    for (const Expr size : sizes) {
      const auto describe = [=, this](const Evaluate& at) {
        return fmt::format("{} is {}", session_.text(size), at(size));
      };
      if (size.range().hi > most && !is_guarded(size, ir::Comparison::le, most))
        goals.push_back({{less(exprs_, exprs_.constant(most), size)}, describe});
      if (size.range().lo < least && !is_guarded(size, ir::Comparison::ge, least))
        goals.push_back({{less(exprs_, size, exprs_.constant(least))}, describe});
    }
    record_guarded(guarded, session_.decide(ObligationKind::width, what, guarded.region, goals));
  }

  void prove_narrow_offsets(const Guarded& guarded) {
    prove_sizes("offsets of elements in 32 bits", guarded, schedule_.index32.elements, ir::Range::kMin,
                Index32Variant::kMostElements);
  }

  /// The sizes lie within their bound, and if they do, ranges show that indices fit.
  void prove_narrow_indices(const Guarded& guarded) {
    const Index32Variant& index32 = schedule_.index32;
    prove_sizes("sizes of indices in 32 bits", guarded, index32.sizes, -index32.bound, index32.bound);
    Obligation all{.kind = ObligationKind::width, .access = "indices in 32 bits"};
    if (!indices_fit(schedule_, index32.sizes, index32.bound)) {
      all.verdict = Verdict::checked;
      all.reason = "ranges do not show it";
    }
    record_guarded(guarded, std::move(all));
  }

  /// Ranges show it unless a guard is missing.
  void prove_narrow_divisions(const Guarded& guards) {
    const Index32Variant& index32 = schedule_.index32;
    solver::Region guarded = inside();
    join(guarded, guards.region);
    IndexWidths widths(kernel_, index32.guards);
    for (const Expr e : index32.divisions) {
      Obligation one{.kind = ObligationKind::width, .access = fmt::format("{} divides in 32 bits", session_.text(e))};
      if (!widths.divides_narrowly(e))
        for (const solver::Region& region : places_of(e, guarded))
          add_answer(one, session_.decide(one.kind, one.access, region, beyond_32_bits(e)));
      record_guarded(guards, std::move(one));
    }
  }

  /// Where a division is done: in the segments whose body does it, else for every row.
  std::vector<solver::Region> places_of(Expr division, const solver::Region& elements) {
    std::vector<solver::Region> places;
    for (const ScheduledCase& row : schedule_.cases)
      for (const SegmentCall& call : row.calls) {
        const std::vector<Expr> done =
            index32_divisions_in(schedule_, schedule_.bodies[static_cast<std::size_t>(call.body)]);
        if (std::ranges::find(done, division) == done.end()) continue;
        places.push_back(elements);
        places.back().nonnegative.push_back(at_least(exprs_, column_, call.begin));
        places.back().nonnegative.push_back(less(exprs_, column_, call.end));
      }
    if (places.empty()) places.push_back(elements);
    return places;
  }

  /// Drops guards that the program or the other guards imply. On GPUs, and of many, keeps all: evaluating them is
  /// cheaper than proving.
  void choose_guards(const std::vector<abi::Guard>& declared) {
    constexpr std::size_t kMany = 64;
    if (schedule_.index32.bound > 0 || declared.size() > kMany) {
      for (std::size_t i = 0; i < declared.size(); ++i) proof_.launch_guards.push_back(i);
      return;
    }
    std::vector<Expr> holds;
    for (const abi::Guard& guard : declared) holds.push_back(as_expression(exprs_, guard.holds).first);
    const auto follows = [&](const solver::Region& region, std::size_t i) {
      return session_.excludes(region, {less(exprs_, holds[i], exprs_.constant(0))});
    };
    for (std::size_t i = 0; i < holds.size(); ++i)
      (follows({}, i) ? proof_.implied_guards : proof_.launch_guards).push_back(i);
    solver::Region others;
    for (const std::size_t i : proof_.launch_guards) others.nonnegative.push_back(holds[i]);
    for (std::ptrdiff_t at = 0; at < std::ssize(proof_.launch_guards);) {
      const std::size_t guard = proof_.launch_guards[static_cast<std::size_t>(at)];
      others.nonnegative.erase(others.nonnegative.begin() + at);
      if (follows(others, guard))
        proof_.launch_guards.erase(proof_.launch_guards.begin() + at);
      else
        others.nonnegative.insert(others.nonnegative.begin() + at++, holds[guard]);
    }
  }

  /// An operand of a division as it is emitted (of a dividend the sizes arrive reduced).
  std::vector<Goal> beyond_32_bits(Expr e) {
    Expr dividend = e.operands()[0];
    if (e.kind() == ir::ExprKind::mod) {
      const auto [moving, rest] = split_sum(exprs_, dividend);
      dividend = exprs_.add(moving, exprs_.mod(rest, e.operands()[1]));
    }
    const Expr bound = exprs_.constant(Int128{1} << 31);
    std::vector<Goal> goals;
    for (const Expr operand : {dividend, e.operands()[1]}) {
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("{} is divided, or by it, in 32 bits", at(operand));
      };
      goals.push_back({{at_least(exprs_, operand, bound)}, describe});
      goals.push_back({{less(exprs_, operand, exprs_.neg(bound))}, describe});
    }
    return goals;
  }

  /// The elements of the output.
  [[nodiscard]] solver::Region inside() {
    solver::Region region;
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      region.nonnegative.push_back(less(exprs_, kernel_.coordinate(axis), extent(axis)));
    return region;
  }

  [[nodiscard]] Expr extent(int axis) const { return kernel_.extents[static_cast<std::size_t>(axis)]; }

  // --- cases of a row -----------------------------------------------------------------------------------------------

  /// Proves something of a case, in all of its rows.
  using ProveCase = void (KernelProver::*)(const ScheduledCase& row, const solver::Region& rows);

  void prove_cases(ProveCase prove_case, int index, solver::Region path) {
    const ScheduledCase& row = schedule_.cases[static_cast<std::size_t>(index)];
    if (!row.is_test()) return prove_case_of(prove_case, row, std::move(path));
    solver::Region holds = path;
    solver::Region fails = std::move(path);
    std::vector<Expr> any;
    const Expr zero = exprs_.constant(0);
    for (const ConditionId id : kernel_.graph.conditions_of(row.test)) {
      const Condition& condition = kernel_.graph.condition(id);
      const bool is_equation = condition.kind == Condition::Kind::zero;
      (is_equation ? holds.zero : holds.nonnegative).push_back(condition.expr);
      any.push_back(less(exprs_, condition.expr, zero));
      if (is_equation) any.push_back(less(exprs_, zero, condition.expr));
    }
    if (any.size() == 1)
      fails.nonnegative.push_back(any.front());
    else
      fails.alternatives.push_back(std::move(any));
    prove_cases(prove_case, row.holds, std::move(holds));
    prove_cases(prove_case, row.fails, std::move(fails));
  }

  void prove_case_of(ProveCase prove_case, const ScheduledCase& row, solver::Region rows) {
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      rows.nonnegative.push_back(less(exprs_, kernel_.coordinate(axis), extent(axis)));
    (this->*prove_case)(row, rows);
  }

  void prove_writes(const ScheduledCase& row, const solver::Region& rows) {
    prove_segments_cover(row, rows);
    for (const SegmentCall& call : row.calls) prove_writes(call, rows);
  }

  void prove_loads(const ScheduledCase& row, const solver::Region& rows) {
    loads_.enter_case(rows);
    for (const SegmentCall& call : row.calls) prove_loads(call);
    if (!row.permuted) return;
    const auto number = static_cast<std::size_t>(&row - schedule_.cases.data());
    std::vector<Obligation> obligations = prove_permuted_rows(session_, schedule_, number, rows);
    withdraw_undecided(obligations);
    for (Obligation& obligation : obligations) record(std::move(obligation));
  }

  /// Withdraws a permutation of which something is undecided: its rows are taken one by one instead, so that none of
  /// its accesses happen. What is refuted stays, since it tells of a fault in the compiler.
  static void withdraw_undecided(std::vector<Obligation>& obligations) {
    const auto find = [&](Verdict verdict) { return std::ranges::find(obligations, verdict, &Obligation::verdict); };
    const auto undecided = find(Verdict::checked);
    if (undecided == obligations.end() || find(Verdict::refuted) != obligations.end()) return;
    const std::vector<std::string> contradiction = {
        "rows are permuted where all of it is decided",
        fmt::format("{} {} is not: {}", name_of(undecided->kind), undecided->access, undecided->reason)};
    for (Obligation& obligation : obligations) {
      obligation.verdict = Verdict::dead;
      obligation.contradiction = contradiction;
    }
  }

  /// Every column lies in a segment: in the first that ends after it.
  void prove_segments_cover(const ScheduledCase& row, const solver::Region& rows) {
    Obligation all{.kind = ObligationKind::cover, .access = fmt::format("segments of {}", kernel_.name)};
    Expr reached = exprs_.constant(0);
    const auto ask = [&](solver::Region region, Expr violated, Expr from, Expr to) {
      region.nonnegative.push_back(at_least(exprs_, column_, from));
      region.nonnegative.push_back(less(exprs_, column_, schedule_.columns));
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("no segment holds the columns from {} to {}", at(from), at(to));
      };
      add_answer(all, session_.decide(all.kind, all.access, region, {{{violated}, describe}}));
    };
    for (const SegmentCall& call : row.calls) {
      solver::Region region = rows;
      region.nonnegative.push_back(less(exprs_, column_, call.end));
      if (call.begin != reached) ask(std::move(region), less(exprs_, column_, call.begin), reached, call.begin);
      reached = call.end;
    }
    if (reached != schedule_.columns) ask(rows, at_least(exprs_, column_, reached), reached, schedule_.columns);
    record(std::move(all));
  }

  // --- one segment --------------------------------------------------------------------------------------------------

  const Body& enter(const SegmentCall& call) {
    where_ = fmt::format("columns [{}, {})", session_.text(call.begin), session_.text(call.end));
    return schedule_.bodies[static_cast<std::size_t>(call.body)];
  }

  void prove_writes(const SegmentCall& call, const solver::Region& rows) {
    const Body& body = enter(call);
    prove_stores(call, rows, lemmas_.stays_inside(body.strategies));
    prove_cover(call, body, rows);
    prove_alignment(body);
  }

  void prove_loads(const SegmentCall& call) {
    const Body& body = schedule_.bodies[static_cast<std::size_t>(call.body)];
    for (Obligation& obligation : loads_.prove(call, lemmas_.stays_inside(body.strategies)))
      record(std::move(obligation));
  }

  void prove_stores(const SegmentCall& call, const solver::Region& rows, bool inside) {
    std::string names;
    for (std::size_t i = 0; i < kernel_.results.size(); ++i) names += (i > 0 ? ", " : "") + result(i).name;
    const std::string access = fmt::format("{} in {}", names, where_);
    Obligation store{.kind = ObligationKind::store, .access = access};
    Obligation disjoint{.kind = ObligationKind::disjoint, .access = access};
    bool dead = true;
    std::vector<std::string> contradiction;
    for (const Lanes& lanes : accessed_columns(schedule_, call, rows, inside)) {
      const auto column = [&](Expr at_column, const char* what, Expr bound) {
        return [=](const Evaluate& at) {
          return fmt::format("column {} is written, {} {}", at(at_column), what, at(bound));
        };
      };
      const Expr zero = exprs_.constant(0);
      const Expr columns = extent(kernel_.rank() - 1);
      const auto decide = [&](Obligation& all, const std::vector<Goal>& goals) {
        if (all.verdict == Verdict::refuted) return;
        add_answer(all, session_.decide(all.kind, access, lanes.region, goals));
      };
      contradiction = session_.why_dead(lanes.region);
      if (!contradiction.empty()) continue;
      dead = false;
      if (inside && is_clamped(call)) break;
      decide(store, {{{less(exprs_, lanes.first, zero)}, column(lanes.first, "before column", zero)},
                     {{at_least(exprs_, lanes.last, columns)}, column(lanes.last, "the extent is", columns)}});
      decide(disjoint, {{{less(exprs_, lanes.first, run_.column_first)},
                         column(lanes.first, "the task begins at", run_.column_first)},
                        {{at_least(exprs_, lanes.last, run_.column_last)},
                         column(lanes.last, "the task ends before", run_.column_last)}});
    }
    if (dead) {
      store.verdict = disjoint.verdict = Verdict::dead;
      store.contradiction = disjoint.contradiction = contradiction;
    }
    store.body = disjoint.body = call.body;
    record(std::move(store));
    record(std::move(disjoint));
  }

  /// A run that is written as max(.., first column of the task) to min(.., last) needs no question: its columns are
  /// the task's, and a task's are the result's.
  bool is_clamped(const SegmentCall& call) {
    return exprs_.max(call.run_begin, run_.column_first) == call.run_begin &&
           exprs_.min(call.run_end, run_.column_last) == call.run_end &&
           schedule_.columns == extent(kernel_.rank() - 1);
  }

  /// Every column of the run is written.
  void prove_cover(const SegmentCall& call, const Body& body, const solver::Region& rows) {
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

  /// Proves that loops are aligned as they say: a run-time test aligns the first vector, the others follow whole
  /// vectors later.
  void prove_alignment(const Body& body) {
    for (const LoopStrategy& strategy : body.strategies)
      for (const VectorLoop& loop : strategy.loops) {
        if (!loop.nontemporal) continue;
        for (std::size_t i = 0; i < kernel_.results.size(); ++i)
          prove_alignment(strategy, loop, result(i).name, result(i).dtype);
      }
  }

  void prove_alignment(const LoopStrategy& strategy, const VectorLoop& loop, const std::string& name, ir::DType dtype) {
    const int size = ir::byte_size(dtype);
    const Expr trip = exprs_.mul(exprs_.constant(loop.step() * size), lanes_of(exprs_, strategy, loop).trip);
    Obligation align{.kind = ObligationKind::align,
                     .access = fmt::format("{} in {}, {} bytes", name, where_, loop.lanes * size)};
    if (trip.congruence().residue % (loop.lanes * size) != 0 || trip.congruence().modulus % (loop.lanes * size) != 0) {
      align.verdict = Verdict::refuted;
      align.found.violation = fmt::format("a trip advances by {} bytes", loop.step() * size);
    }
    record(std::move(align));
  }

  // --- threads ------------------------------------------------------------------------------------------------------

  void prove_threads() {
    for (const TransposeTile* tile : schedule_.all_tiles()) {
      for (Obligation& obligation : prove_tile(session_, *tile)) record(std::move(obligation));
      if (!tile->holds_results) continue;
      for (Obligation& obligation : prove_tile_words(session_, schedule_, *tile)) record(std::move(obligation));
    }
    if (!schedule_.grid) return;
    for (Obligation& obligation : prove_grid(session_, schedule_)) record(std::move(obligation));
  }

  std::chrono::steady_clock::time_point start_;
  ProvenKernel proven_;
  Proof proof_;
  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  ProofSession session_;
  StrategyLemmas lemmas_;
  LoadProver loads_;
  RunVariables run_;
  Expr column_;
  std::string where_;  // of the segment that is being proved
};

Result<ProvenKernel> prove(Schedule schedule, const ProverOptions& options) {
  PADLOCK_TRY(ProvenKernel proven, KernelProver::prove(std::move(schedule), options));
  if (const Obligation* obligation = proven.proof().refuted())
    return failed_precondition(fmt::format("kernel {} is refuted: {} of {}: {}", proven.proof().kernel,
                                           name_of(obligation->kind), obligation->access,
                                           obligation->found.to_string()));
  // A body's load or store that is not decided is tested where it happens. What else there is has no such place.
  // (Negative extents are refused when sizes are bound.)
  for (const Obligation& obligation : proven.proof().obligations) {
    const bool is_access = obligation.kind == ObligationKind::load || obligation.kind == ObligationKind::store;
    const bool tested = (is_access && obligation.body >= 0) || obligation.kind == ObligationKind::extent;
    if (obligation.verdict == Verdict::checked && !tested)
      return beyond_limits(fmt::format("kernel {} cannot be proved: {} of {}: {}", proven.proof().kernel,
                                       name_of(obligation.kind), obligation.access, obligation.reason));
  }
  return proven;
}

Result<Proof> list_obligations(Schedule schedule, const ProverOptions& options) {
  PADLOCK_TRY(const ProvenKernel proven, KernelProver::prove(std::move(schedule), options));
  return proven.proof();
}

}  // namespace padlock::compiler
