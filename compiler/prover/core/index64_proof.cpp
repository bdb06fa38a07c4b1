#include "compiler/prover/core/index64_proof.h"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/access_regions.h"
#include "compiler/prover/core/schedule_proof.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index64_bounds.h"
#include "compiler/schedule/index/index_width.h"

namespace padlock::compiler {
namespace {

class Index64Proof : private ScheduleProof {
 public:
  using ScheduleProof::ScheduleProof;

  /// Indices are computed in 64 bits (a division by a number in 32 where its dividend fits them). Mostly the ranges of
  /// coordinates show it, which know no constraints; for the rest each sum with a factor is asked about. What the
  /// program does not bound, a launch is asked to.
  void prove() {
    IndexWidths widths(kernel_);
    // A reshape without elements has no index that is used.
    solver::Region elements = output_elements(kernel_);
    for (const ScheduledCase& row : schedule_.cases)
      for (const SegmentCall& call : row.calls)
        for (const LoadSource& source : call.sources)
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

  /// Adds each term of a sum, and the sum, beyond 2^61 either way; of one that wraps its value alone.
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

}  // namespace

void prove_indices64(ProofSession& session, const Schedule& schedule, Proof& proof) {
  Index64Proof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
