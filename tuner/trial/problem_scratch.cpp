#include "tuner/trial/problem_scratch.h"

#include <algorithm>
#include <utility>

#include "support/cpu_cache.h"
#include "tuner/trial/device_reference.h"
#include "tuner/trial/verification.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kMostSets = 256;

}  // namespace

Judged<void> ProblemScratch::provide(const TryRequest& request, std::int64_t allowed) {
  const bool timed = request.policy.budget_ms > 0;
  const Arrangement wanted{request.placement, request.skew, timed && !is_warm(request.policy.setting)};
  // Without timing any set of buffers serves: verification prepares its red zones itself.
  if (made_for_ && !timed) return {};
  const bool same_place =
      made_for_ && made_for_->placement == wanted.placement && made_for_->skew == wanted.skew && !sets_.empty();
  if (same_place && (made_for_->rotated || !wanted.rotated)) return {};
  // One set exists and may serve as the first of many.
  if (!same_place) sets_.clear();
  made_for_ = wanted;
  auto allocated = allocate(request, allowed);
  if (allocated) return allocated;
  sets_.clear();
  made_for_.reset();
  return allocated;
}

Judged<void> ProblemScratch::allocate(const TryRequest& request, std::int64_t allowed) {
  const std::int64_t bytes = problem_.input_bytes() + problem_.result_bytes();
  if (sets_.empty()) PADLOCK_CHECK(judged_making(add_set(), Verdict::run));
  // Count the copies beside the buffers, too: they are on the host, wherever the buffers are.
  const std::int64_t one = sets_.front().mapped_bytes();
  const std::int64_t copies = data_bytes(problem_.binding()) - bytes;
  const std::int64_t beside = device_.compares() ? std::max(copies, one) : copies;
  const std::int64_t rotated =
      request.policy.rotation_bytes > 0 ? request.policy.rotation_bytes : bytes_beyond_cache(device_.cache_bytes());
  const std::int64_t wanted = made_for_->rotated ? rotated / std::max<std::int64_t>(bytes, 1) + 1 : 1;
  const std::int64_t count = std::clamp<std::int64_t>(std::min(wanted, (allowed - beside) / one), 1, kMostSets);
  for (std::int64_t i = 1; i < count; ++i) PADLOCK_CHECK(judged_making(add_set(), Verdict::run));
  return {};
}

Status ProblemScratch::add_set() {
  PADLOCK_TRY(ScratchSet set, ScratchSet::allocate(device_.space(), problem_.binding()));
  PADLOCK_CHECK(fill(set, sets_.size()));
  PADLOCK_CHECK(set.poison(kFirstPoison));  // also makes the pages resident
  sets_.push_back(std::move(set));
  return {};
}

Status ProblemScratch::fill(ScratchSet& set, std::size_t index) {
  const auto draw = static_cast<std::uint64_t>(made_for_->placement) * kMostSets + index;
  PADLOCK_CHECK(set.scatter(kFirstRed, made_for_->skew, draw));
  return set.write_plain_inputs(problem_, staging_);
}

Judged<void> ProblemScratch::restore_first() { return judged(fill(sets_.front(), 0), Verdict::run); }

Judged<void> ProblemScratch::check(runtime::Comparison* comparison) const {
  if (comparison != nullptr) {
    PADLOCK_TRY(const bool intact, judged(are_intact(*comparison, sets_), Verdict::run));
    if (intact) return {};
  }
  for (const ScratchSet& set : sets_) {
    PADLOCK_TRY(const std::string damage, judged(set.damage(), Verdict::run));
    if (!damage.empty()) return failed(Verdict::red_zone, damage + " while it was timed");
  }
  return {};
}

std::int64_t ProblemScratch::mapped_bytes() const {
  std::int64_t sum = 0;
  for (const ScratchSet& set : sets_) sum += set.mapped_bytes();
  return sum;
}

}  // namespace padlock::tuner
