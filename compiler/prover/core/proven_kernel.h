#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/prover/core/proof.h"
#include "compiler/schedule/model/schedule.h"
#include "solver/integer_solver.h"
#include "solver/search_limits.h"
#include "support/error.h"

namespace padlock::compiler {

class KernelProver;

/// Caches lemmas that do not depend on a program, and proofs by program and config. Thread-safe.
class ProofCache {
 public:
  [[nodiscard]] std::optional<bool> lemma(const std::string& statement) const;
  void add_lemma(std::string statement, bool shown);
  /// Looks up the proof of a kernel by its program's text, its name and its config. Charges the steps that the proof
  /// cost, so that cached proofs leave a program's other kernels no larger budget.
  [[nodiscard]] std::optional<Proof> proof(const std::string& key) const;
  void add_proof(std::string key, const Proof& proof, std::int64_t steps);

 private:
  struct KeptProof {
    Proof proof;
    std::int64_t steps = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, bool> lemmas_;
  std::map<std::string, KeptProof> proofs_;
  static constexpr std::size_t kMaxProofs = 1024;
};

/// The limits of a proof, and its helpers.
struct ProverOptions {
  solver::SearchLimits limits = {};
  bool explain = false;                     ///< say which conditions contradict each other for a dead access
  solver::IntegerSolver* solver = nullptr;  ///< borrowed; replaces the solver that each proof makes for itself
  ProofCache* cache = nullptr;              ///< borrowed; null: nothing is cached
  bool keep = true;  ///< false: cache lemmas only, for a schedule that does not follow from its config
};

/// A scheduled kernel whose accesses are all proved, guarded, or listed to be checked. Code generation takes nothing
/// else, and only the prover makes it.
class ProvenKernel {
 public:
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Proof& proof() const { return proof_; }
  /// Returns whether this load (the stores) of a body must test its bounds at run time, because no proof covers it.
  /// `in_range`: in the variant that assumes in_range.
  [[nodiscard]] bool load_is_checked(int body, int load, bool in_range) const {
    return checked_loads_.contains({body, load}) || (!in_range && guarded_loads_.contains({body, load}));
  }
  /// Returns whether the variant that assumes in_range tests fewer loads of a body.
  [[nodiscard]] bool guards_loads(int body) const {
    return std::ranges::any_of(guarded_loads_, [&](const auto& load) { return load.first == body; });
  }
  [[nodiscard]] bool stores_are_checked(int body) const { return checked_stores_.contains(body); }
  /// Returns whether there are row chunks and they are proved.
  [[nodiscard]] bool takes_row_chunks() const { return takes_row_chunks_; }
  /// Guards that a launch must satisfy for the specialised variant. Empty if there is no such variant.
  [[nodiscard]] const std::vector<abi::Guard>& guards() const { return guards_; }
  /// Bounds of sizes that every launch must satisfy, whatever the variant. Empty if the program implies all.
  [[nodiscard]] const std::vector<ir::Constraint>& preconditions() const { return preconditions_; }
  /// For a GPU's schedule: returns whether a variant (the only one if there are no guards) computes indices in 32 bits.
  [[nodiscard]] bool has_narrow_indices() const { return schedule_.index32.bound > 0; }

 private:
  friend class KernelProver;
  explicit ProvenKernel(Schedule schedule) : schedule_(std::move(schedule)) {}

  void set_proof(Proof proof);

  Schedule schedule_;
  Proof proof_;
  // Copied from the proof, because code generation asks once for each access.
  std::set<std::pair<int, int>> checked_loads_, guarded_loads_;
  std::set<int> checked_stores_;
  std::vector<ir::Constraint> preconditions_;
  bool takes_row_chunks_ = false;
  std::vector<abi::Guard> guards_;
};

}  // namespace padlock::compiler
