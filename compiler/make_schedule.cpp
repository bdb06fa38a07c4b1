#include "compiler/make_schedule.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/growth.h"
#include "compiler/narrowing.h"
#include "compiler/schedule_key.h"
#include "ir/affine.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Makes the body of one segment, with its streams.
class BodyBuilder {
 public:
  BodyBuilder(const Kernel& kernel, const ScheduleOptions& options)
      : kernel_(kernel),
        exprs_(kernel.program->exprs()),
        options_(options),
        mutation_(options.mutation),
        column_(kernel.coordinate(kernel.rank() - 1)) {}

  std::pair<Body, std::vector<Stream>> build(const std::vector<NodeId>& roots) {
    const std::vector<NodeId> order = users_first(kernel_.graph, roots);
    std::map<NodeId, int> index;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      index[*it] = static_cast<int>(body_.nodes.size());
      body_.nodes.push_back(make_node(kernel_.graph.node(*it), index));
    }
    for (const NodeId root : roots) body_.roots.push_back(index.at(root));
    choose_walks();
    return {std::move(body_), std::move(streams_)};
  }

 private:
  BodyNode make_node(const Node& node, const std::map<NodeId, int>& index) {
    BodyNode made{.kind = node.kind, .dtype = node.dtype, .op = node.op, .bits = node.bits};
    for (const NodeId operand : node.operands) made.operands.push_back(index.at(operand));
    if (node.kind == NodeKind::scalar) made.scalar = node.value;
    if (node.kind == NodeKind::load) made.load = add_load(node);
    if (node.kind == NodeKind::when) {
      made.guard = node.guard;
      predicated_ = body_.uses_rows = true;
    }
    return made;
  }

  int add_load(const Node& node) {
    const ir::Layout& layout = kernel_.graph.layout(node.layout);
    BodyLoad load{.kind = LoadKind::invariant, .dtype = node.dtype, .step = {}, .offset = {}, .guard = node.guard};
    std::vector<Expr> at_zero = node.coordinates;
    bool affine = node.guard == kAlways;
    for (std::size_t axis = 0; axis < at_zero.size(); ++axis) {
      if (!mentions(at_zero[axis], column_)) continue;
      const auto form = affine_in(exprs_, at_zero[axis], column_);
      affine &= form.has_value();
      if (!form) continue;
      at_zero[axis] = form->rest;
      load.step = layout.step_of(exprs_, static_cast<int>(axis), form->slope);
      load.kind = load.step.is_constant(1)    ? LoadKind::contiguous
                  : load.step.is_constant(-1) ? LoadKind::reversed
                  : load.step.is_constant(0)  ? LoadKind::invariant
                                              : LoadKind::strided;
    }
    Stream stream{node.value, node.layout, node.coordinates, exprs_.constant(0)};
    if (affine) {
      stream.base = layout.offset_of(exprs_, at_zero);
      if (mutation_ == Mutation::stream_off_by_one) stream.base = exprs_.add(stream.base, exprs_.constant(1));
    } else {
      load.kind = LoadKind::general;
      load.step = {};
      load.offset = layout.offset_of(exprs_, node.coordinates);
      predicated_ = body_.uses_rows = true;
    }
    if (kernel_.rank() > 1) set_growth(stream);
    if (load.kind != LoadKind::strided) load.step = {};
    body_.loads.push_back(load);
    streams_.push_back(stream);
    return static_cast<int>(body_.loads.size() - 1);
  }

  /// Of a kernel of the host, which takes rows together.
  void set_growth(Stream& stream) {
    if (options_.threads) return;
    const auto growth = growth_in(exprs_, stream.base, kernel_.coordinate(kernel_.rank() - 2));
    if (!growth) return;
    stream.step = growth->step;
    stream.rows = growth->rows;
    if (mutation_ == Mutation::even_rows_long && growth->rows.valid())
      stream.rows = exprs_.add(growth->rows, exprs_.constant(1));
  }

  /// Vectors as wide as the config says for the widest type of the body, so that no conversion needs more registers
  /// than it; one lane where a predicate remains. A long body and one that gathers are not unrolled, a very long one is
  /// not even a vector: each loop repeats the body, there is little to win, and code is compile time.
  void choose_walks() {
    WalkOptions options{.team = options_.threads ? team() : 0, .realign = options_.realign, .mutation = mutation_};
    options.streaming = options_.threads && options_.store == StoreKind::nontemporal;
    options.loads = std::ranges::any_of(body_.loads, [](const BodyLoad& load) { return is_vector(load); });
    int widest = 1;
    std::size_t work = 0;
    for (const BodyNode& node : body_.nodes) {
      const bool half = !options_.threads && (node.dtype == ir::DType::f16 || node.dtype == ir::DType::bf16);
      const bool computes = node.kind == NodeKind::operation;
      widest = std::max(widest, half && computes && node.op != ir::Op::relu ? 4 : ir::byte_size(node.dtype));
      work += computes;
    }
    const bool flat = options_.threads && options_.threads->flat;
    if (!predicated_ && !flat && work <= kMaxVectorWork) {
      const bool gathers =
          std::ranges::any_of(body_.loads, [](const BodyLoad& load) { return load.kind == LoadKind::strided; });
      const bool long_work = gathers || work > 4;
      body_.lanes = std::max(1, options_.vector_bytes / widest);
      if (gathers) body_.lanes = std::min(body_.lanes, 8);
      // Nor is one of a team that loads nothing: there is no latency to hide.
      options.unroll = long_work || (options_.threads && !options.loads) ? 1 : options_.unroll;
      // A fill has no loads to wait for: elements are fast enough for what is less than half a vector, if they are few.
      const int narrowest =
          body_.loads.empty() ? std::clamp(body_.lanes / 2, kNarrowestElements, kFewElements) : kNarrowestElements;
      if (!long_work) options.narrowest = std::min(narrowest, body_.lanes);
      if (!long_work && streams()) options.line = std::max(body_.lanes, kCacheLineBytes / bytes_of_result(0));
    }
    options.lanes = body_.lanes;
    body_.walks = make_walks(exprs_, options);
  }

  /// Whether non-temporal stores may pay: a vector of less than 16 bytes has no such store. (Long bodies are not bound
  /// by memory.)
  [[nodiscard]] bool streams() const {
    if (options_.threads || options_.store == StoreKind::plain) return false;
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      if (body_.lanes * bytes_of_result(i) < 16) return false;
    return true;
  }
  [[nodiscard]] int team() const { return options_.threads && !options_.threads->flat ? options_.threads->team : 1; }
  [[nodiscard]] int bytes_of_result(std::size_t i) const {
    return ir::byte_size(kernel_.program->value(kernel_.results[i]).dtype);
  }

  static constexpr int kCacheLineBytes = 64;
  // What a shorter run saves by a vector is not worth the code.
  static constexpr int kNarrowestElements = 4, kFewElements = 8;
  static constexpr std::size_t kMaxVectorWork = 256;

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  const ScheduleOptions& options_;
  Mutation mutation_;
  Expr column_;
  Body body_;
  std::vector<Stream> streams_;
  bool predicated_ = false;
};

bool same_streams(const SegmentCall& a, const SegmentCall& b) {
  return std::ranges::equal(a.streams, b.streams, [](const Stream& x, const Stream& y) {
    return x.tensor == y.tensor && x.layout == y.layout && x.base == y.base && x.coordinates == y.coordinates;
  });
}

/// Unless what copies goes past them: a fill alone is not worth the code, nor a choice between kinds of stores.
void keep_fills_in_caches(std::vector<Body>& bodies) {
  if (std::ranges::any_of(bodies, [](const Body& body) { return !body.loads.empty() && may_stream(body); })) return;
  for (Body& body : bodies) std::erase_if(body.walks, [](const Walk& walk) { return walk.kind == WalkKind::streamed; });
}

}  // namespace

Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options) {
  const Mutation mutation = options.mutation;
  const std::vector<RowCase> cases = split_rows(kernel, {.split = options.split, .mutation = mutation});
  ir::ExprContext& exprs = kernel.program->exprs();
  const RunVariables run(exprs);
  Schedule schedule{.kernel = std::move(kernel),
                    .config = std::move(config),
                    .mutation = mutation,
                    .store = options.store,
                    .threads = options.threads};
  schedule.columns = schedule.kernel.extents.back();
  schedule.rows = exprs.constant(1);
  for (int axis = 0; axis + 1 < schedule.kernel.rank(); ++axis)
    schedule.rows = exprs.mul(schedule.rows, schedule.kernel.extents[static_cast<std::size_t>(axis)]);
  if (mutation == Mutation::columns_short) schedule.columns = exprs.sub(schedule.columns, exprs.constant(1));
  if (mutation == Mutation::rows_rounded_down) {
    const Expr two = exprs.constant(2);
    schedule.rows = exprs.mul(exprs.floordiv(schedule.rows, two), two);
  }
  std::map<std::vector<std::uint64_t>, int> body_ids;
  for (const RowCase& row : cases) {
    ScheduledCase scheduled{.test = row.test, .holds = row.holds, .fails = row.fails, .calls = {}};
    if (mutation == Mutation::row_test_swapped) std::swap(scheduled.holds, scheduled.fails);
    for (const Segment& segment : row.segments) {
      auto [body, streams] = BodyBuilder(schedule.kernel, options).build(segment.roots);
      const auto [it, inserted] = body_ids.try_emplace(key_of(body), static_cast<int>(schedule.bodies.size()));
      if (inserted) schedule.bodies.push_back(std::move(body));
      SegmentCall call{.begin = segment.begin,
                       .end = segment.end,
                       .pieces = {{segment.begin, segment.end, segment.cuts, {}}},
                       .body = it->second,
                       .streams = std::move(streams)};
      // Neighbours that do the same thing become one: a row that is all fill is one run.
      if (!scheduled.calls.empty() && scheduled.calls.back().body == call.body &&
          scheduled.calls.back().end == call.begin && same_streams(scheduled.calls.back(), call)) {
        scheduled.calls.back().end = call.end;
        scheduled.calls.back().pieces.push_back(std::move(call.pieces.front()));
      } else {
        scheduled.calls.push_back(std::move(call));
      }
    }
    for (SegmentCall& call : scheduled.calls) {
      const bool whole = mutation == Mutation::task_columns_ignored;
      call.run_begin = whole ? exprs.max(call.begin, exprs.constant(0)) : exprs.max(call.begin, run.column_first);
      call.run_end = whole ? exprs.min(call.end, schedule.columns) : exprs.min(call.end, run.column_last);
    }
    schedule.cases.push_back(std::move(scheduled));
  }
  keep_fills_in_caches(schedule.bodies);
  schedule.narrowing = options.threads ? index_narrowing_of(schedule) : division_narrowing_of(schedule);
  return schedule;
}

}  // namespace padlock::compiler
