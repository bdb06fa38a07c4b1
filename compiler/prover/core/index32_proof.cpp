#include "compiler/prover/core/index32_proof.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/access_regions.h"
#include "compiler/prover/core/schedule_proof.h"
#include "compiler/schedule/index/index32_variant.h"
#include "compiler/schedule/index/tensor_reach.h"

namespace padlock::compiler {
namespace {

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
    if (schedule_.index32.in_parts) return prove_reaches();
    prove_sizes("offsets of elements in 32 bits", guarded, schedule_.index32.elements, ir::Range::kMin,
                Index32Variant::kMostElements);
  }

  /// Launches of some rows have no more elements than offsets of 32 bits count, of the output and between the bounds of
  /// a source's reach: abi::LaunchParts sees to it. That a source reads nothing else is shown here.
  void prove_reaches() {
    Obligation all{.kind = ObligationKind::width, .access = "what launches of some rows reach"};
    std::set<std::vector<std::uint32_t>> decided;  // reach of a source, and coordinates, by Expr::id
    for (const ScheduledCase& row : schedule_.cases)
      for (const SegmentCall& call : row.calls)
        for (const LoadSource& source : call.sources) {
          std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(source.reach)};
          for (const Expr coordinate : source.coordinates) key.push_back(coordinate.id());
          if (decided.insert(std::move(key)).second) add_answer(all, decide_reach(source));
        }
    record(std::move(all));
  }

  /// A source's reach is what its coordinates make of it, or more.
  [[nodiscard]] Obligation decide_reach(const LoadSource& source) {
    const TensorReach& reach = schedule_.index32.reaches[static_cast<std::size_t>(source.reach)];
    const TensorReach own = reach_of(kernel_, source, schedule_.grid()->lanes);
    Expr moved = exprs_.constant(0);  // by which the row's elements are not where the reach's are
    solver::Region rows;
    for (std::size_t axis = 0; axis < reach.steps.size(); ++axis) {
      const Expr coordinate = kernel_.coordinate(static_cast<int>(axis));
      rows.nonnegative.push_back(coordinate);
      rows.nonnegative.push_back(less(exprs_, coordinate, kernel_.extents[axis]));
      moved = exprs_.add(moved, exprs_.mul(exprs_.sub(own.steps[axis], reach.steps[axis]), coordinate));
    }
    const Expr before = exprs_.add(exprs_.sub(own.least, reach.least), moved);  // negative: by so many too few
    const Expr after = exprs_.sub(exprs_.sub(reach.most, own.most), moved);
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("elements of {} are read, {} before and {} after what its row reaches",
                         kernel_.program->value(reach.tensor).name, -at(before), -at(after));
    };
    return session_.decide(ObligationKind::width, "what launches of some rows reach", rows,
                           {{{less(exprs_, before, exprs_.constant(0))}, describe},
                            {{less(exprs_, after, exprs_.constant(0))}, describe}});
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
};

}  // namespace

void prove_indices32(ProofSession& session, const Schedule& schedule, Proof& proof) {
  Index32Proof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
