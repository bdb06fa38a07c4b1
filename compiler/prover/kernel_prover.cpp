#include "compiler/prover/kernel_prover.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/load_prover.h"
#include "compiler/prover/core/write_prover.h"
#include "compiler/prover/gpu/boxes_proof.h"
#include "compiler/prover/gpu/tiles_proof.h"
#include "compiler/prover/gpu/vector_grid_proof.h"
#include "compiler/prover/host/row_chunks_proof.h"
#include "compiler/prover/host/turns_proof.h"
#include "support/steps.h"

namespace padlock::compiler {

/// States the obligations of a schedule, for the host or a grid, and decides them.
class KernelProver {
 public:
  /// Looks the proof up first: the other steps cost more than proving a small kernel.
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
    // A cached proof cannot keep conditions of loads, which are expressions of this one program.
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
        writes_(session_, lemmas_, schedule_, proof_),
        loads_(session_, schedule_, proof_) {}

  Result<ProvenKernel> run() {
    PADLOCK_CHECK(session_.check_assumptions());
    // Lemmas first: most accesses follow from them alone, at the same cost for every program. Loads and extents last:
    // large programs spend their budget on them, and they can be checked at run time instead.
    prove_lemmas();
    prove_searches(session_, schedule_, proof_);
    prove_launch(session_, schedule_, proof_);
    prove_threads();
    prove_turns(session_, lemmas_, schedule_, proof_);
    prove_row_chunks(session_, schedule_, proof_);
    prove_indices64(session_, schedule_, proof_);
    prove_indices32(session_, schedule_, proof_);
    prove_cases(&KernelProver::prove_writes, 0, solver::Region{});
    prove_cases(&KernelProver::prove_loads, 0, solver::Region{});
    prove_row_data();
    const std::ptrdiff_t others = std::ssize(proof_.obligations);
    prove_extents(session_, schedule_, proof_);
    std::ranges::rotate(proof_.obligations, proof_.obligations.begin() + others);  // listed first
    proof_.kernel = kernel_.name;
    proof_.config = schedule_.config;
    proof_.solver_calls = session_.solver_calls();
    proof_.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    proven_.set_proof(std::move(proof_));
    return std::move(proven_);
  }

  /// Identifies everything that determines the schedule and its proof.
  static std::string identity_of(const Schedule& schedule, const ProverOptions& options) {
    return fmt::format("{}\n{}\n{}{}", ir::to_string(*schedule.kernel.program), schedule.kernel.name, schedule.config,
                       options.explain ? "\nexplained" : "");
  }

  void prove_lemmas() {
    for (const Body& body : schedule_.bodies)
      if (lemmas_.stays_inside(body.strategies)) static_cast<void>(lemmas_.covers(body.strategies));
  }

  // --- cases of a row -----------------------------------------------------------------------------------------------

  /// Proves something about a case, in all of its rows.
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
    add_rows(rows);
    if (const SegmentCall* data = schedule_.row_data_call()) add_data_bounds(exprs_, rows, schedule_.body_of(*data));
    (this->*prove_case)(row, rows);
  }

  void add_rows(solver::Region& rows) {
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis)
      rows.nonnegative.push_back(less(exprs_, kernel_.coordinate(axis), kernel_.extent(axis)));
  }

  /// The data of rows may be read in any row.
  void prove_row_data() {
    const SegmentCall* const call = schedule_.row_data_call();
    if (call == nullptr) return;
    solver::Region rows;
    add_rows(rows);
    loads_.enter_case(rows);
    loads_.prove_row_data(*call);
  }

  void prove_writes(const ScheduledCase& row, const solver::Region& rows) { writes_.prove(row, rows); }

  void prove_loads(const ScheduledCase& row, const solver::Region& rows) {
    loads_.enter_case(rows);
    for (const SegmentCall& call : row.calls)
      loads_.prove(call, lemmas_.stays_inside(schedule_.body_of(call).strategies));
  }

  // --- threads ------------------------------------------------------------------------------------------------------

  void prove_threads() {
    if (const Tiles* const tiles = schedule_.tiles())
      for (const TransposeTile& tile : tiles->shapes) prove_tile(session_, schedule_, tile, proof_);
    if (schedule_.grid() != nullptr) prove_grid(session_, schedule_, proof_);
    if (schedule_.boxes() != nullptr) prove_boxes(session_, schedule_, proof_);
  }

  std::chrono::steady_clock::time_point start_;
  ProvenKernel proven_;
  Proof proof_;
  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  ProofSession session_;
  StrategyLemmas lemmas_;
  WriteProver writes_;
  LoadProver loads_;
};

Result<ProvenKernel> prove(Schedule schedule, const ProverOptions& options) {
  PADLOCK_TRY(ProvenKernel proven, KernelProver::prove(std::move(schedule), options));
  if (const Obligation* obligation = proven.proof().refuted())
    return failed_precondition(fmt::format("kernel {} is refuted: {} of {}: {}", proven.proof().kernel,
                                           name_of(obligation->kind), obligation->access,
                                           obligation->found.to_string()));
  // An undecided load or store of a body is tested where it happens. Other obligations have no such place. (Negative
  // extents are refused when sizes are bound.)
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
