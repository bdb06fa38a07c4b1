#include "compiler/host_schedule.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/affine.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Makes the body of one segment, with its streams.
class BodyBuilder {
 public:
  BodyBuilder(const Kernel& kernel, const HostConfig& config)
      : kernel_(kernel),
        exprs_(kernel.program->exprs()),
        config_(config),
        column_(kernel.coordinate(kernel.rank() - 1)) {}

  std::pair<Body, std::vector<Stream>> build(const std::vector<NodeId>& roots) {
    const std::vector<NodeId> order = users_first(kernel_.graph, roots);
    std::map<NodeId, int> index;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      index[*it] = static_cast<int>(body_.nodes.size());
      body_.nodes.push_back(make_node(kernel_.graph.node(*it), index));
    }
    for (const NodeId root : roots) body_.roots.push_back(index.at(root));
    choose_width();
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
    Stream stream{node.value, node.layout, exprs_.constant(0)};
    if (affine) {
      stream.base = layout.offset_of(exprs_, at_zero);
    } else {
      load.kind = LoadKind::general;
      load.step = {};
      load.offset = layout.offset_of(exprs_, node.coordinates);
      predicated_ = body_.uses_rows = true;
    }
    if (load.kind != LoadKind::strided) load.step = {};
    body_.loads.push_back(load);
    streams_.push_back(stream);
    return static_cast<int>(body_.loads.size() - 1);
  }

  /// Vectors as wide as the config says for the widest type of the body, so that no conversion needs more registers
  /// than it; one lane where a predicate remains. A long body and one that gathers are not unrolled, a very long one is
  /// not even a vector: each loop repeats the body, there is little to win, and code is compile time.
  void choose_width() {
    if (predicated_) return;
    int widest = 1;
    std::size_t work = 0;
    for (const BodyNode& node : body_.nodes) {
      const bool half = node.dtype == ir::DType::f16 || node.dtype == ir::DType::bf16;
      const bool computes = node.kind == NodeKind::operation;
      widest = std::max(widest, half && computes && node.op != ir::Op::relu ? 4 : ir::byte_size(node.dtype));
      work += computes;
    }
    const bool gathers =
        std::ranges::any_of(body_.loads, [](const BodyLoad& load) { return load.kind == LoadKind::strided; });
    if (work > kMaxVectorWork) return;
    body_.lanes = std::max(1, config_.vector_bytes / widest);
    if (gathers) body_.lanes = std::min(body_.lanes, 8);
    body_.long_work = gathers || work > 4;
    body_.unroll = body_.long_work ? 1 : config_.unroll;
  }

  static constexpr std::size_t kMaxVectorWork = 256;

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  const HostConfig& config_;
  Expr column_;
  Body body_;
  std::vector<Stream> streams_;
  bool predicated_ = false;
};

/// Two bodies with one key are the same code.
std::vector<std::uint64_t> key_of(const Body& body) {
  const auto id = [](Expr e) { return e.valid() ? std::uint64_t{e.id()} + 1 : 0; };
  std::vector<std::uint64_t> key = {static_cast<std::uint64_t>(body.lanes), static_cast<std::uint64_t>(body.unroll)};
  for (const BodyNode& node : body.nodes) {
    key.insert(key.end(), {static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.dtype),
                           static_cast<std::uint64_t>(node.op), node.bits, node.scalar,
                           static_cast<std::uint64_t>(node.load), node.guard, node.operands.size()});
    key.insert(key.end(), node.operands.begin(), node.operands.end());
  }
  for (const BodyLoad& load : body.loads)
    key.insert(key.end(), {static_cast<std::uint64_t>(load.kind), static_cast<std::uint64_t>(load.dtype), id(load.step),
                           id(load.offset), load.guard});
  key.insert(key.end(), body.roots.begin(), body.roots.end());
  return key;
}

bool same_streams(const SegmentCall& a, const SegmentCall& b) {
  return std::ranges::equal(a.streams, b.streams, [](const Stream& x, const Stream& y) {
    return x.tensor == y.tensor && x.layout == y.layout && x.base == y.base;
  });
}

}  // namespace

HostSchedule schedule_for_host(Kernel kernel, const HostConfig& config, Mutation mutation) {
  const std::vector<RowCase> cases = split_rows(kernel, {.split = config.split, .mutation = mutation});
  HostSchedule schedule{.kernel = std::move(kernel), .config = config, .mutation = mutation, .bodies = {}, .cases = {}};
  std::map<std::vector<std::uint64_t>, int> body_ids;
  for (const RowCase& row : cases) {
    ScheduledCase scheduled{.test = row.test, .holds = row.holds, .fails = row.fails, .calls = {}};
    for (const Segment& segment : row.segments) {
      auto [body, streams] = BodyBuilder(schedule.kernel, config).build(segment.roots);
      const auto [it, inserted] = body_ids.try_emplace(key_of(body), static_cast<int>(schedule.bodies.size()));
      if (inserted) schedule.bodies.push_back(std::move(body));
      SegmentCall call{segment.begin, segment.end, it->second, std::move(streams)};
      // Neighbours that do the same thing become one: a row that is all fill is one run.
      if (!scheduled.calls.empty() && scheduled.calls.back().body == call.body &&
          same_streams(scheduled.calls.back(), call))
        scheduled.calls.back().end = call.end;
      else
        scheduled.calls.push_back(std::move(call));
    }
    schedule.cases.push_back(std::move(scheduled));
  }
  return schedule;
}

}  // namespace padlock::compiler
