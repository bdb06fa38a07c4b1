#include "compiler/prover/proven_kernel.h"

#include <algorithm>

namespace padlock::compiler {

bool ProvenKernel::load_is_checked(int body, int load) const {
  return std::ranges::any_of(proof_.obligations, [&](const Obligation& o) {
    return o.kind == ObligationKind::load && o.verdict == Verdict::checked && o.body == body && o.load == load;
  });
}

bool ProvenKernel::stores_are_checked(int body) const {
  return std::ranges::any_of(proof_.obligations, [&](const Obligation& o) {
    return o.kind == ObligationKind::store && o.verdict == Verdict::checked && o.body == body;
  });
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
  return it == proofs_.end() ? std::nullopt : std::optional(it->second);
}

void ProofCache::add_proof(std::string key, const Proof& proof) {
  const std::lock_guard lock(mutex_);
  // A process that compiles ever new programs shall not grow without limit.
  if (proofs_.size() >= kMaxProofs) proofs_.clear();
  proofs_.insert_or_assign(std::move(key), proof);
}

}  // namespace padlock::compiler
