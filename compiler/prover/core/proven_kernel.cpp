#include "compiler/prover/core/proven_kernel.h"

#include "support/steps.h"

namespace padlock::compiler {

void ProvenKernel::set_proof(Proof proof) {
  proof_ = std::move(proof);
  takes_row_chunks_ = schedule_.row_chunks() != nullptr;
  for (const Obligation& o : proof_.obligations) {
    if (o.of_row_chunks) {
      takes_row_chunks_ = takes_row_chunks_ && o.verdict == Verdict::proved;
      continue;
    }
    if (o.kind == ObligationKind::load && o.verdict == Verdict::guarded) guarded_loads_.emplace(o.body, o.load);
    if (o.verdict != Verdict::checked) continue;
    if (o.kind == ObligationKind::load) checked_loads_.emplace(o.body, o.load);
    if (o.kind == ObligationKind::store) checked_stores_.insert(o.body);
  }
  for (const std::size_t i : proof_.preconditions) preconditions_.push_back(schedule_.index64_bounds[i]);
  guards_ = schedule_.index32.guards;
  for (const ir::Constraint& holds : proof_.in_range) guards_.push_back({abi::Assumption::in_range, holds});
}

std::optional<bool> ProofCache::lemma(const std::string& statement) const {
  const std::lock_guard lock(mutex_);
  const auto it = lemmas_.find(statement);
  return it == lemmas_.end() ? std::nullopt : std::optional(it->second);
}

void ProofCache::add_lemma(std::string statement, bool shown) {
  const std::lock_guard lock(mutex_);
  lemmas_.insert_or_assign(std::move(statement), shown);
}

std::optional<Proof> ProofCache::proof(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = proofs_.find(key);
  if (it == proofs_.end()) return std::nullopt;
  take_steps(static_cast<std::size_t>(it->second.steps));
  return it->second.proof;
}

void ProofCache::add_proof(std::string key, const Proof& proof, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  // A process that keeps compiling new programs must not grow without limit.
  if (proofs_.size() >= kMaxProofs) proofs_.clear();
  proofs_.insert_or_assign(std::move(key), KeptProof{proof, steps});
}

}  // namespace padlock::compiler
