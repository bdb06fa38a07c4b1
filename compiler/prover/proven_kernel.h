#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "compiler/host_schedule.h"
#include "compiler/prover/proof.h"
#include "support/error.h"

namespace padlock::compiler {

class HostProver;

/// What a proof may cost and, for tests, where it is made to fail.
struct ProverOptions {
  std::uint64_t operations = 200'000;  ///< isl operations of one call
  int calls = 96;                      ///< calls of isl for one obligation
  std::int64_t fail_at = -1;           ///< for tests: this call of isl fails with `fail_code`
  Code fail_code = Code::internal;
};

/// A scheduled kernel of which every access is proved, guarded, or listed to be checked: the only thing that code
/// generation takes, and the prover is its only maker.
class ProvenKernel {
 public:
  [[nodiscard]] const HostSchedule& schedule() const { return schedule_; }
  [[nodiscard]] const Proof& proof() const { return proof_; }
  /// Whether this load (store) of a body must test its bounds, because that they hold is not decided.
  [[nodiscard]] bool load_is_checked(int body, int load) const { return checked_loads_.contains({body, load}); }
  [[nodiscard]] bool stores_are_checked(int body) const { return checked_stores_.contains(body); }

 private:
  friend class HostProver;
  explicit ProvenKernel(HostSchedule schedule) : schedule_(std::move(schedule)) {}

  HostSchedule schedule_;
  Proof proof_;
  std::set<std::pair<int, int>> checked_loads_;
  std::set<int> checked_stores_;
};

/// Proves a schedule. Errors: failed_precondition where an obligation is refuted, with its counter-example, or where
/// the program admits no sizes at all.
[[nodiscard]] Result<ProvenKernel> prove(HostSchedule schedule, const ProverOptions& options = {});
/// All obligations with their verdicts, refuted ones too. Error: failed_precondition where the program admits no sizes.
[[nodiscard]] Result<Proof> list_obligations(HostSchedule schedule, const ProverOptions& options = {});

}  // namespace padlock::compiler
