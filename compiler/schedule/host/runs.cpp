#include "compiler/schedule/host/covers.h"

#include <algorithm>

#include "compiler/schedule/cases/row_recurrence.h"

namespace padlock::compiler {
namespace {

constexpr int kCacheLineBytes = 64;
// Shortest lengths for vectors: below, a vector saves less than its code costs.
constexpr int kNarrowestElements = 4, kFewElements = 8;

/// Chooses the strategies of one body.
class StrategyChooser {
 public:
  StrategyChooser(const Schedule& schedule, const ScheduleOptions& options, Body& body)
      : schedule_(schedule), options_(options), body_(body) {}

  /// Chooses vectors as wide as the config says for the body's widest type, so that no conversion needs more registers
  /// than the type. A remaining predicate means one lane. Long bodies and gathers are not unrolled. Very long bodies
  /// are no vectors: each loop repeats the body, there is little to win, and code costs compile time.
  void choose() {
    LoopStrategyOptions options;
    if (!body_.is_pointwise && operation_count(body_) <= kMostVectorOperations) {
      const bool gathers = std::ranges::count(body_.loads, LoadKind::strided, &BodyLoad::kind) > 0;
      const bool long_work = gathers || has_sums(body_) || operation_count(body_) > kMostStreamedOperations;
      body_.lanes = std::max(1, options_.vector_bytes / widest());
      if (gathers) body_.lanes = std::min(body_.lanes, 8);
      options.unroll = long_work ? 1 : options_.unroll;
      // A fill has no loads to wait for: for less than half a vector, a few elements are fast enough.
      const int narrowest =
          body_.loads.empty() ? std::clamp(body_.lanes / 2, kNarrowestElements, kFewElements) : kNarrowestElements;
      if (!long_work) options.narrowest = std::min(narrowest, body_.lanes);
      options.masked = has_sums(body_) && masks();
      if (!long_work && pays_nontemporal()) options.line = std::max(body_.lanes, kCacheLineBytes / bytes_of_result(0));
    }
    options.lanes = body_.lanes;
    body_.strategies = make_loop_strategies(schedule_.exprs(), options);
  }

 private:
  [[nodiscard]] int widest() const { return widest_bytes(body_, /*for_threads=*/false); }
  /// Returns whether vectors may be masked: each load's and result's vector must have at least 16 bytes.
  [[nodiscard]] bool masks() const {
    constexpr int kLeastVectorBytes = 16;
    int narrowest = kLeastVectorBytes;
    for (const BodyLoad& load : body_.loads) narrowest = std::min(narrowest, ir::byte_size(load.dtype));
    for (std::size_t i = 0; i < schedule_.kernel.results.size(); ++i)
      narrowest = std::min(narrowest, bytes_of_result(i));
    const bool gathers = std::ranges::count(body_.loads, LoadKind::strided, &BodyLoad::kind) > 0;
    return options_.permutes.masks && !gathers && body_.lanes * narrowest >= kLeastVectorBytes;
  }
  /// Returns whether non-temporal stores may pay: vectors below 16 bytes have none. (Long bodies are not bound by
  /// memory.)
  [[nodiscard]] bool pays_nontemporal() const {
    if (options_.store == StoreKind::plain) return false;
    for (std::size_t i = 0; i < schedule_.kernel.results.size(); ++i)
      if (body_.lanes * bytes_of_result(i) < 16) return false;
    return true;
  }
  [[nodiscard]] int bytes_of_result(std::size_t i) const { return ir::byte_size(schedule_.kernel.result(i).dtype); }

  const Schedule& schedule_;
  const ScheduleOptions& options_;
  Body& body_;
};

/// Keeps fills in the caches unless copies go past them: a fill alone is not worth the code, nor a choice of stores.
void keep_fills_in_caches(std::vector<Body>& bodies) {
  if (std::ranges::any_of(bodies, [](const Body& body) { return !body.loads.empty() && has_nontemporal_stores(body); }))
    return;
  for (Body& body : bodies)
    std::erase_if(body.strategies,
                  [](const LoopStrategy& strategy) { return strategy.kind == LoopStrategyKind::nontemporal; });
}

}  // namespace

void choose_runs(Schedule& schedule, const ScheduleOptions& options) {
  for (Body& body : schedule.bodies) StrategyChooser(schedule, options, body).choose();
  keep_fills_in_caches(schedule.bodies);
}

void set_row_steps(Schedule& schedule) {
  if (schedule.kernel.rank() == 1) return;
  ir::ExprContext& exprs = schedule.exprs();
  const Expr row = schedule.row_coordinate();
  for (ScheduledCase& scheduled : schedule.cases)
    for (SegmentCall& call : scheduled.calls)
      for (LoadSource& source : call.sources) {
        const auto recurrence = recurrence_in(exprs, source.base, row);
        if (!recurrence) continue;
        source.step = recurrence->step;
        source.rows = recurrence->rows;
      }
}

}  // namespace padlock::compiler
