#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/prover/core/loop_proof.h"
#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Return a < b and a >= b as expressions that are >= 0.
[[nodiscard]] ir::Expr less(ir::ExprContext& exprs, ir::Expr a, ir::Expr b);
[[nodiscard]] ir::Expr at_least(ir::ExprContext& exprs, ir::Expr a, ir::Expr b);

/// Adds the conditions of `from` to `to`.
void join(solver::Region& to, const solver::Region& from);

/// Returns `rows` with the columns of a task whose run of the segment is not empty.
[[nodiscard]] solver::Region task_of(const Schedule& schedule, const SegmentCall& call, const solver::Region& rows);

/// A condition, and the columns that lanes access under it.
struct AccessedColumns {
  solver::Region region;
  ir::Expr first, last;  ///< columns, inclusive
};

/// Returns the whole run if `inside` says that accesses stay in it, else the columns that each loop accesses.
[[nodiscard]] std::vector<AccessedColumns> accessed_columns(const Schedule& schedule, const SegmentCall& call,
                                                            const solver::Region& rows, bool inside);

/// Returns the elements of the output.
[[nodiscard]] solver::Region output_elements(const Kernel& kernel);

/// Adds that the data of a body lies in [0, extent]; its code ensures that.
void add_data_bounds(ir::ExprContext& exprs, solver::Region& region, const Body& body);

/// Base of the parts of a schedule's proof. Holds the session for questions, the schedule, and the proof to add to.
/// Makes goals that several parts share.
class ScheduleProof {
 public:
  /// Borrows all.
  ScheduleProof(ProofSession& session, const Schedule& schedule, Proof& proof)
      : session_(session), schedule_(schedule), kernel_(schedule.kernel), exprs_(session.exprs()), proof_(proof) {}

 protected:
  using Describe = std::function<std::string(const Evaluate&)>;

  ~ScheduleProof() = default;
  void record(Obligation obligation) { proof_.obligations.push_back(std::move(obligation)); }
  void decide(ObligationKind kind, std::string access, const solver::Region& region, const std::vector<Goal>& goals) {
    record(session_.decide(kind, std::move(access), region, goals));
  }
  [[nodiscard]] Expr less(Expr a, Expr b) const { return compiler::less(exprs_, a, b); }
  [[nodiscard]] Expr at_least(Expr a, Expr b) const { return compiler::at_least(exprs_, a, b); }
  /// Returns the goals that an expression lies outside [begin, end).
  [[nodiscard]] std::vector<Goal> outside(Expr e, Expr begin, Expr end, const Describe& describe) const {
    return {{{less(e, begin)}, describe}, {{at_least(e, end)}, describe}};
  }
  /// Returns the goals that two expressions differ.
  [[nodiscard]] std::vector<Goal> differ(Expr a, Expr b, const Describe& describe) const {
    if (a == b) return {};
    return {{{less(a, b)}, describe}, {{less(b, a)}, describe}};
  }
  /// Returns the region where each expression lies in [0, its count).
  [[nodiscard]] solver::Region bounded(const std::vector<std::pair<Expr, Expr>>& counts) const {
    solver::Region region;
    for (const auto& [e, count] : counts)
      for (const Expr condition : {e, less(e, count)}) region.nonnegative.push_back(condition);
    return region;
  }
  [[nodiscard]] static solver::Region joined(solver::Region region, const std::vector<Expr>& conditions) {
    region.nonnegative.insert(region.nonnegative.end(), conditions.begin(), conditions.end());
    return region;
  }
  static void append(std::vector<Goal>& goals, const std::vector<Goal>& more) {
    goals.insert(goals.end(), more.begin(), more.end());
  }

  ProofSession& session_;
  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Proof& proof_;
};

// The parts common to all schedules, besides writes and loads. Each adds its obligations to a proof.

/// Proves that the program's results have no extent below 0.
void prove_extents(ProofSession& session, const Schedule& schedule, Proof& proof);

/// Proves that a launch computes as many rows and columns as the results have, and that reshapes keep the number of
/// elements. (Flattening rows is a bijection: docs/proofs.md.)
void prove_launch(ProofSession& session, const Schedule& schedule, Proof& proof);

/// Proves that indices fit 64 bits, and lists the bounds of sizes needed for that.
void prove_indices64(ProofSession& session, const Schedule& schedule, Proof& proof);

/// Proves that searches read only elements of [0, extent), and end. With 0 <= low < high <= extent, `middle` lies in
/// [low, high), and each iteration leaves a shorter range within [0, extent].
void prove_searches(ProofSession& session, const Schedule& schedule, Proof& proof);

/// Proves the schedule's 32-bit arithmetic, if it has any.
void prove_indices32(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
