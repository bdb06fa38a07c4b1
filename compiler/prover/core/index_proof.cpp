#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index32_variant.h"
#include "compiler/schedule/index/index64_bounds.h"
#include "compiler/schedule/index/index_width.h"

namespace padlock::compiler {
namespace {

class Index64Proof : private ScheduleProof {
 public:
  using ScheduleProof::ScheduleProof;

  /// Indices are computed in 64 bits (a division by a number in 32 where its dividend fits them). The ranges of
  /// coordinates, which ignore constraints, prove most sums. Each other sum with a factor is a question. What the
  /// program does not bound becomes a precondition of a launch.
  void prove() {
    IndexWidths widths(kernel_);
    // A reshape without elements uses no index.
    solver::Region elements = output_elements(kernel_);
    for (const LoadSource& source : schedule_.sources())
      elements.nonnegative.insert(elements.nonnegative.end(), source.facts.begin(), source.facts.end());
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

 private:
  /// Replaces an undecided answer about indices by bounds of sizes under which they fit, if there are any.
  void bound_sizes(const std::vector<Expr>& wide, Obligation& answer) {
    const std::optional<std::vector<std::size_t>> needed = needed_bounds(schedule_, wide);
    if (!needed) return;
    std::vector<ir::Constraint> conditions;
    for (const std::size_t i : *needed) {
      const ir::Constraint& bound = schedule_.index64_bounds[i];
      const Expr holds = as_expression(exprs_, bound).first;
      if (session_.excludes({}, {less(holds, exprs_.constant(0))})) continue;
      proof_.preconditions.insert(i);
      conditions.push_back(bound);
    }
    answer.verdict = conditions.empty() ? Verdict::proved : Verdict::guarded;
    answer.guard = session_.text(conditions);
    answer.reason.clear();
    answer.found = {};
  }

  /// Adds goals for operands of divisions and choices inside a sum that wraps: these must fit, other terms need not.
  void add_wide_inside(IndexWidths& widths, Expr e, std::vector<Goal>& goals, std::set<std::uint32_t>& seen) {
    for (const Expr operand : e.operands())
      if (operand.kind() == ir::ExprKind::sum || operand.kind() == ir::ExprKind::product)
        add_wide_inside(widths, operand, goals, seen);
      else
        add_wide(widths, operand, goals, seen);
  }

  /// Returns the terms of a sum (factors of a product) that contain coordinates, and their sum (product).
  std::vector<Expr> parts_with_coordinates(Expr e) {
    std::vector<Expr> parts;
    if (e.kind() == ir::ExprKind::sum)
      for (std::size_t i = 0; i < e.operands().size(); ++i)
        parts.push_back(exprs_.mul(exprs_.constant(e.coefficients()[i]), e.operands()[i]));
    if (e.kind() == ir::ExprKind::sum || e.kind() == ir::ExprKind::product) parts.push_back(split_sum(exprs_, e).first);
    std::erase_if(parts, [](Expr part) { return !part.has_coordinate(); });
    return parts;
  }

  /// Adds as goals that a sum or one of its terms is beyond 2^61 either way. For a sum that wraps, only its value.
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
};

class Index32Proof : private ScheduleProof {
 public:
  using ScheduleProof::ScheduleProof;

  /// Proves the schedule's 32-bit arithmetic under the guards that it declares.
  void prove() {
    if (schedule_.index32.bound == 0) return;
    prove_narrow_indices(guards_of(abi::Assumption::index32));
    prove_narrow_offsets(guards_of(abi::Assumption::offset32));
  }

 private:
  /// The guards of an assumption.
  struct Guarded {
    solver::Region region = {};
    std::string text = {};
  };
  [[nodiscard]] Guarded guards_of(abi::Assumption assumption) const {
    Guarded made;
    std::vector<ir::Constraint> holding;
    for (const abi::Guard& guard : abi::guards_of(schedule_.index32.guards, assumption)) {
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

  /// Returns whether a guard bounds exactly this size by `bound` in the direction of `comparison` (le or ge).
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
        goals.push_back({{less(exprs_.constant(most), size)}, describe});
      if (size.range().lo < least && !is_guarded(size, ir::Comparison::ge, least))
        goals.push_back({{less(size, exprs_.constant(least))}, describe});
    }
    record_guarded(guarded, session_.decide(ObligationKind::width, what, guarded.region, goals));
  }

  void prove_narrow_offsets(const Guarded& guarded) {
    if (schedule_.index32.in_parts) return prove_reaches();
    prove_sizes("offsets of elements in 32 bits", guarded, schedule_.index32.elements, ir::Range::kMin,
                Index32Variant::kMostElements);
  }

  /// Launches of some rows count at most as many elements as 32-bit offsets can, of the output and between the bounds
  /// of a source's reach: abi::LaunchParts ensures it. Proves that a source reads nothing outside its reach.
  void prove_reaches() {
    Obligation all{.kind = ObligationKind::width, .access = "what launches of some rows reach"};
    std::set<std::vector<std::uint32_t>> decided;  // pairs of a source's reach and coordinates, by Expr::id
    for (const LoadSource& source : schedule_.sources()) {
      std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(source.reach)};
      for (const Expr coordinate : source.coordinates) key.push_back(coordinate.id());
      if (decided.insert(std::move(key)).second) add_answer(all, decide_reach(source));
    }
    record(std::move(all));
  }

  /// Proves that a source's reach covers what its coordinates read.
  [[nodiscard]] Obligation decide_reach(const LoadSource& source) {
    const TensorReach& reach = schedule_.index32.reaches[static_cast<std::size_t>(source.reach)];
    const TensorReach own = reach_of(kernel_, source, schedule_.grid()->lanes);
    Expr moved = exprs_.constant(0);  // offset of the row's elements from those of the reach
    solver::Region rows;
    for (std::size_t axis = 0; axis < reach.steps.size(); ++axis) {
      const Expr coordinate = kernel_.coordinate(static_cast<int>(axis));
      rows.nonnegative.push_back(coordinate);
      rows.nonnegative.push_back(less(coordinate, kernel_.extents[axis]));
      moved = exprs_.add(moved, exprs_.mul(exprs_.sub(own.steps[axis], reach.steps[axis]), coordinate));
    }
    const Expr before = exprs_.add(exprs_.sub(own.least, reach.least), moved);  // negative: elements missing before
    const Expr after = exprs_.sub(exprs_.sub(reach.most, own.most), moved);
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("elements of {} are read, {} before and {} after what its row reaches",
                         kernel_.program->value(reach.tensor).name, -at(before), -at(after));
    };
    return session_.decide(
        ObligationKind::width, "what launches of some rows reach", rows,
        {{{less(before, exprs_.constant(0))}, describe}, {{less(after, exprs_.constant(0))}, describe}});
  }

  /// Proves that the sizes lie within their bound. Ranges then show that indices fit.
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
};

}  // namespace

void prove_indices64(ProofSession& session, const Schedule& schedule, Proof& proof) {
  Index64Proof(session, schedule, proof).prove();
}

void prove_indices32(ProofSession& session, const Schedule& schedule, Proof& proof) {
  Index32Proof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
