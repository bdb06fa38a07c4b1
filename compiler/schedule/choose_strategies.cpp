#include "compiler/schedule/choose_strategies.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

constexpr int kCacheLineBytes = 64;
// Below these lengths a vector saves less than its code costs.
constexpr int kNarrowestElements = 4, kFewElements = 8;
constexpr std::size_t kMaxVectorWork = 256;

/// Chooses the strategies of one body.
class StrategyChooser {
 public:
  StrategyChooser(const Schedule& schedule, const ScheduleOptions& options, Body& body)
      : schedule_(schedule), options_(options), body_(body) {}

  /// Vectors as wide as the config says for the widest type of the body, so that no conversion needs more registers
  /// than it; one lane where a predicate remains. A long body and one that gathers are not unrolled, a very long one is
  /// not even a vector: each loop repeats the body, there is little to win, and code is compile time.
  void choose() {
    if (schedule_.grid) return choose_vectors();
    if (schedule_.tile) return choose_elements();
    LoopStrategyOptions options;
    if (!body_.is_pointwise && work() <= kMaxVectorWork) {
      const bool gathers = std::ranges::count(body_.loads, LoadKind::strided, &BodyLoad::kind) > 0;
      const bool long_work = gathers || has_sums(body_) || work() > 4;
      body_.lanes = std::max(1, options_.vector_bytes / widest());
      if (gathers) body_.lanes = std::min(body_.lanes, 8);
      options.unroll = long_work ? 1 : options_.unroll;
      // A fill has no loads to wait for: elements are fast enough for what is less than half a vector, if they are few.
      const int narrowest =
          body_.loads.empty() ? std::clamp(body_.lanes / 2, kNarrowestElements, kFewElements) : kNarrowestElements;
      if (!long_work) options.narrowest = std::min(narrowest, body_.lanes);
      options.masked = has_sums(body_) && masks();
      if (!long_work && streams()) options.line = std::max(body_.lanes, kCacheLineBytes / bytes_of_result(0));
    }
    options.lanes = body_.lanes;
    body_.strategies = make_loop_strategies(schedule_.exprs(), options);
  }

 private:
  [[nodiscard]] int widest() const { return widest_bytes(body_, /*for_threads=*/false); }
  /// Whole vectors of the grid, unless a predicate remains.
  void choose_vectors() {
    LoopStrategyOptions options{.whole = true};
    if (!body_.is_pointwise && work() <= kMaxVectorWork) options.lanes = schedule_.grid->lanes;
    body_.lanes = options.lanes;
    body_.strategies = make_loop_strategies(schedule_.exprs(), options);
  }
  /// Positions of a tile are made one by one.
  void choose_elements() { body_.strategies = make_loop_strategies(schedule_.exprs(), {}); }
  [[nodiscard]] std::size_t work() const {
    return static_cast<std::size_t>(std::ranges::count(body_.nodes, NodeKind::operation, &BodyNode::kind));
  }
  /// Returns whether vectors may be masked: each load's and result's has at least 16 bytes.
  [[nodiscard]] bool masks() const {
    constexpr int kLeastBytes = 16;
    int narrowest = kLeastBytes;
    for (const BodyLoad& load : body_.loads) narrowest = std::min(narrowest, ir::byte_size(load.dtype));
    for (std::size_t i = 0; i < schedule_.kernel.results.size(); ++i)
      narrowest = std::min(narrowest, bytes_of_result(i));
    const bool gathers = std::ranges::count(body_.loads, LoadKind::strided, &BodyLoad::kind) > 0;
    return options_.permutes.masks && !gathers && body_.lanes * narrowest >= kLeastBytes;
  }
  /// Returns whether non-temporal stores may pay: a vector of less than 16 bytes has no such store. (Long bodies are
  /// not bound by memory.)
  [[nodiscard]] bool streams() const {
    if (options_.store == StoreKind::plain) return false;
    for (std::size_t i = 0; i < schedule_.kernel.results.size(); ++i)
      if (body_.lanes * bytes_of_result(i) < 16) return false;
    return true;
  }
  [[nodiscard]] int bytes_of_result(std::size_t i) const {
    return ir::byte_size(schedule_.kernel.program->value(schedule_.kernel.results[i]).dtype);
  }

  const Schedule& schedule_;
  const ScheduleOptions& options_;
  Body& body_;
};

// Code for each vector of a thread is worth its length up to so many segments, and for so many elements that are
// loaded one by one.
constexpr std::size_t kMostSegments = 24;
constexpr std::ptrdiff_t kMostGathers = 0;

/// Chooses the grid whose vectors are as wide as the config says for the widest type of all bodies. Threads take fewer
/// vectors where their code is long.
VectorGrid grid_of(Schedule& schedule, const ScheduleOptions& options) {
  int widest = 1;
  const std::size_t segments = schedule.segments();
  std::ptrdiff_t gathers = 0;
  for (const Body& body : schedule.bodies) {
    widest = std::max(widest, widest_bytes(body, /*for_threads=*/true));
    gathers += std::ranges::count(body.loads, LoadKind::strided, &BodyLoad::kind);
  }
  int vectors = gathers > kMostGathers ? 1 : options.unroll;
  while (vectors > 1 && static_cast<std::size_t>(vectors) * segments > kMostSegments) vectors /= 2;
  return make_vector_grid(schedule.exprs(), options.threads, vectors, std::max(1, options.vector_bytes / widest));
}

/// Unless what copies goes past them: a fill alone is not worth the code, nor a choice between kinds of stores.
void keep_fills_in_caches(std::vector<Body>& bodies) {
  if (std::ranges::any_of(bodies, [](const Body& body) { return !body.loads.empty() && may_stream(body); })) return;
  for (Body& body : bodies)
    std::erase_if(body.strategies,
                  [](const LoopStrategy& strategy) { return strategy.kind == LoopStrategyKind::nontemporal; });
}

}  // namespace

int widest_bytes(const Body& body, bool for_threads) {
  int widest = 1;
  for (const BodyNode& node : body.nodes) {
    const bool half = !for_threads && (node.dtype == ir::DType::f16 || node.dtype == ir::DType::bf16);
    const bool computes = node.kind == NodeKind::operation && node.op != ir::Op::relu;
    widest = std::max(widest, half && computes ? 4 : ir::byte_size(node.dtype));
  }
  return widest;
}

void choose_walks(Schedule& schedule, const ScheduleOptions& options) {
  if (options.tiles_transposes) {
    schedule.tile = make_transpose_tile(schedule, options.tile_size);
    if (schedule.tile && options.tile_size == TileSize::by_output) schedule.smaller_tiles = smaller_tiles_of(schedule);
  }
  if (schedule.tile) schedule.threads = schedule.tile->threads;
  if (options.threads > 0 && !schedule.tile) {
    schedule.grid = grid_of(schedule, options);
    schedule.granules = make_granules(schedule.exprs(), schedule.grid->lanes);
    schedule.short_rows = find_short_rows(schedule);
  }
  for (Body& body : schedule.bodies) StrategyChooser(schedule, options, body).choose();
  keep_fills_in_caches(schedule.bodies);
}

}  // namespace padlock::compiler
