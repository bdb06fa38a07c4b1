#include "compiler/schedule/cases/segments.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/schedule/model/schedule_key.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

/// Makes the body of one segment, with its sources.
class BodyBuilder {
 public:
  BodyBuilder(const Kernel& kernel, bool vector_sums, bool general)
      : kernel_(kernel),
        exprs_(kernel.program->exprs()),
        column_(kernel.column()),
        vector_sums_(vector_sums),
        general_(general) {}

  std::pair<Body, std::vector<LoadSource>> build(const std::vector<NodeId>& roots) {
    const std::vector<NodeId> order =
        general_ ? all_users_first(kernel_.graph, roots) : users_first(kernel_.graph, roots);
    find_sums(order);
    std::map<NodeId, int> index;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      index[*it] = static_cast<int>(body_.nodes.size());
      body_.nodes.push_back(make_node(kernel_.graph.node(*it), index));
    }
    for (const NodeId root : roots) body_.roots.push_back(index.at(root));
    set_scopes(order, index);
    return {std::move(body_), std::move(sources_)};
  }

 private:
  /// Notes which sum, or which search, sets each variable.
  void find_sums(const std::vector<NodeId>& order) {
    for (const NodeId id : order) {
      const Node& node = kernel_.graph.node(id);
      if (node.kind == NodeKind::sum)
        for (const Walk& walk : walks_of(node)) sum_of_[walk.variable.id()] = {id, walk.variable};
      if (node.kind != NodeKind::search) continue;
      const Expr variable = search_of(node.coordinates).variable;
      sum_of_[variable.id()] = {id, variable};
    }
  }

  /// Adds the sums whose variables an expression mentions.
  void add_sums(std::set<NodeId>& sums, Expr e) const {
    for (const auto& [variable, sum] : sum_of_)
      if (mentions(e, sum.second)) sums.insert(sum.first);
  }

  /// Places a node in the walks of the innermost sum that it depends on: the sum with the smallest id, since operands
  /// have smaller ids than their users.
  void set_scopes(const std::vector<NodeId>& order, const std::map<NodeId, int>& index) {
    if (sum_of_.empty()) return;
    std::map<NodeId, std::set<NodeId>> open;  // sums that a node depends on, except its own
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = kernel_.graph.node(*it);
      std::set<NodeId>& sums = open[*it];
      for (const std::vector<NodeId>* ids : {&node.operands, &node.data})
        for (const NodeId id : *ids) sums.insert(open[id].begin(), open[id].end());
      for (const std::vector<Expr>* all : {&node.coordinates, &node.facts})
        for (const Expr e : *all) add_sums(sums, e);
      for (const ConditionId c : kernel_.graph.conditions_of(node.guard))
        add_sums(sums, kernel_.graph.condition(c).expr);
      sums.erase(*it);
      if (sums.empty()) continue;
      BodyNode& made = body_.nodes[static_cast<std::size_t>(index.at(*it))];
      made.scope = index.at(*sums.begin());
      if (made.kind == NodeKind::load) body_.loads[static_cast<std::size_t>(made.load)].scope = made.scope;
    }
  }

  BodyNode make_node(const Node& node, const std::map<NodeId, int>& index) {
    BodyNode made{.kind = node.kind, .dtype = node.dtype, .op = node.op, .bits = node.bits};
    for (const NodeId operand : node.operands) made.operands.push_back(index.at(operand));
    if (node.kind == NodeKind::scalar) made.scalar = node.value;
    if (node.kind == NodeKind::load) made.load = add_load(node);
    if (node.kind == NodeKind::when) {
      made.guard = node.guard;
      body_.uses_rows = body_.is_pointwise = true;
    }
    if (node.kind == NodeKind::sum) {
      made.walks = walks_of(node);
      for (const Walk& walk : made.walks)
        for (const Expr e : {walk.first, walk.step, walk.other, walk.limit}) body_.uses_rows |= reads_rows(e);
      body_.is_pointwise |=
          !vector_sums_ || std::ranges::any_of(node.coordinates, [&](Expr e) { return mentions(e, column_); });
    }
    if (node.kind == NodeKind::data || node.kind == NodeKind::search) {
      made.terms = node.coordinates;
      body_.uses_rows = body_.is_pointwise = true;
    }
    if (node.kind == NodeKind::index) {
      made.index = node.coordinates.front();
      body_.uses_rows |= reads_rows(made.index);
      body_.is_pointwise |=
          !linear_in(exprs_, made.index, column_).has_value() || kernel_.graph.has_column_data(made.index);
    }
    return made;
  }

  [[nodiscard]] bool reads_rows(Expr e) const { return e.valid() && kernel_.mentions_rows(e); }

  /// Returns an expression with all walks at 0.
  [[nodiscard]] Expr before_walks(Expr e) const {
    return exprs_.substitute(e,
                             [&](Expr symbol) { return sum_of_.contains(symbol.id()) ? exprs_.constant(0) : symbol; });
  }

  int add_load(const Node& node) {
    const ir::Layout& layout = kernel_.graph.layout(node.layout);
    const Expr still = exprs_.constant(0);
    BodyLoad load{.kind = LoadKind::invariant, .dtype = node.dtype, .step = still, .offset = {}, .guard = node.guard};
    std::vector<Expr> at_zero = node.coordinates;
    std::set<NodeId> sums;
    for (const std::vector<Expr>* all : {&node.coordinates, &node.facts})
      for (const Expr e : *all) add_sums(sums, e);
    bool affine = !general_ && node.guard == kAlways && (sums.empty() || vector_sums_);
    for (std::size_t axis = 0; axis < at_zero.size(); ++axis) {
      affine &= !kernel_.graph.has_column_data(at_zero[axis]);
      if (!mentions(at_zero[axis], column_)) continue;
      const auto form = linear_in(exprs_, at_zero[axis], column_);
      affine &= form.has_value();
      if (!form) continue;
      at_zero[axis] = form->rest;
      load.step = exprs_.add(load.step, layout.step_of(exprs_, static_cast<int>(axis), form->slope));
    }
    load.kind = load.step.is_constant(1)    ? LoadKind::contiguous
                : load.step.is_constant(-1) ? LoadKind::reversed
                : load.step.is_constant(0)  ? LoadKind::invariant
                                            : LoadKind::strided;
    LoadSource source{node.value, node.layout, node.coordinates, exprs_.constant(0)};
    source.facts = node.facts;
    source.read_facts = node.read_facts;
    if (affine) {
      const Expr offset = layout.offset_of(exprs_, at_zero);
      source.base = sums.empty() ? offset : before_walks(offset);
      if (!sums.empty()) load.offset = exprs_.sub(offset, source.base);
      body_.uses_rows |= reads_rows(load.offset);
    } else {
      load.kind = LoadKind::general;
      load.step = {};
      load.offset = layout.offset_of(exprs_, node.coordinates);
      body_.uses_rows = body_.is_pointwise = true;
    }
    if (load.kind != LoadKind::strided) load.step = {};
    load.by_data = load.offset.valid() && kernel_.graph.has_column_data(load.offset);
    for (const ConditionId id : kernel_.graph.conditions_of(load.guard))
      load.by_data |= kernel_.graph.has_column_data(kernel_.graph.condition(id).expr);
    body_.loads.push_back(load);
    sources_.push_back(source);
    return static_cast<int>(body_.loads.size() - 1);
  }

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr column_;
  bool vector_sums_;  // sums are vectors if neighbouring columns add up the same rows
  bool general_;      // every load is general, and data of rows is made here
  Body body_;
  std::vector<LoadSource> sources_;
  std::map<std::uint32_t, std::pair<NodeId, Expr>> sum_of_;  // by Expr::id of a walk's variable, which is the second
};

/// Gives the first walk of an extent in each body the same variable, likewise the second, so that bodies of different
/// sums can be one. (A gradient has a sum for each end of its rows, and one between them.)
class WalkNames {
 public:
  explicit WalkNames(const Kernel& kernel) : kernel_(kernel) {}

  /// Renames nothing in a body with guards, whose conditions would keep the old variables, and nothing where two walks
  /// would share a variable.
  void rename(Body& body, std::vector<LoadSource>& sources) {
    const auto is_guarded = [](const auto& part) { return part.guard != kAlways; };
    if (reads_by_data(body) || std::ranges::any_of(body.nodes, is_guarded) ||
        std::ranges::any_of(body.loads, is_guarded))
      return;
    std::map<std::uint32_t, int> seen;      // walks of the body, by the extent's Expr::id
    std::map<std::uint32_t, Expr> renamed;  // by Expr::id
    std::set<std::uint32_t> names;          // Expr::id of each new variable
    for (const BodyNode& node : body.nodes)
      for (const Walk& walk : node.walks) {
        const auto known = std::ranges::find(kernel_.walk_variables, walk.variable, &Kernel::WalkVariable::variable);
        if (known == kernel_.walk_variables.end()) return;
        const std::uint32_t extent = known->extent.id();
        const Expr name = names_.try_emplace({extent, seen[extent]++}, walk.variable).first->second;
        renamed[walk.variable.id()] = name;
        if (!names.insert(name.id()).second) return;
      }
    const auto rename_in = [&](Expr& e) {
      if (!e.valid()) return;
      e = kernel_.exprs().substitute(e, [&](Expr symbol) {
        const auto found = renamed.find(symbol.id());
        return found == renamed.end() ? symbol : found->second;
      });
    };
    for (BodyNode& node : body.nodes) {
      rename_in(node.index);
      for (Walk& walk : node.walks)
        for (Expr* e : {&walk.variable, &walk.first, &walk.step, &walk.other, &walk.limit}) rename_in(*e);
    }
    for (BodyLoad& load : body.loads) rename_in(load.offset);
    for (LoadSource& source : sources)
      for (std::vector<Expr>* all : {&source.coordinates, &source.facts, &source.read_facts})
        for (Expr& e : *all) rename_in(e);
  }

 private:
  const Kernel& kernel_;
  std::map<std::pair<std::uint32_t, int>, Expr> names_;  // by the extent's Expr::id, and the number in a body
};

bool same_sources(const SegmentCall& a, const SegmentCall& b) {
  return std::ranges::equal(a.sources, b.sources, [](const LoadSource& x, const LoadSource& y) {
    return x.tensor == y.tensor && x.layout == y.layout && x.base == y.base && x.coordinates == y.coordinates;
  });
}

/// Appends a call, and joins neighbours that do the same: a row of fill alone becomes one run.
void append(std::vector<SegmentCall>& calls, SegmentCall call) {
  if (!calls.empty() && calls.back().body == call.body && calls.back().end == call.begin &&
      same_sources(calls.back(), call)) {
    calls.back().end = call.end;
    calls.back().pieces.push_back(std::move(call.pieces.front()));
  } else {
    calls.push_back(std::move(call));
  }
}

/// Bounds each call by the columns of a task.
void clamp_to_task(const Schedule& schedule, std::vector<SegmentCall>& calls) {
  ir::ExprContext& exprs = schedule.exprs();
  const RunVariables run(exprs);
  for (SegmentCall& call : calls) {
    call.run_begin = exprs.max(call.begin, run.column_first);
    call.run_end = exprs.min(call.end, run.column_last);
  }
}

/// Adds the case of the rows' data.
void add_row_data(Schedule& schedule) {
  const std::vector<NodeId>& roots = schedule.kernel.graph.row_data();
  if (roots.empty()) return;
  ir::ExprContext& exprs = schedule.exprs();
  auto [body, sources] = make_body(schedule.kernel, roots, /*vector_sums=*/false, /*general=*/true);
  const Expr none = exprs.constant(0), one = exprs.constant(1);
  schedule.row_data = static_cast<int>(schedule.cases.size());
  schedule.cases.push_back({.calls = {{.begin = none,
                                       .end = one,
                                       .run_begin = none,
                                       .run_end = one,
                                       .pieces = {},
                                       .body = static_cast<int>(schedule.bodies.size()),
                                       .sources = std::move(sources)}}});
  schedule.bodies.push_back(std::move(body));
}

}  // namespace

std::pair<Body, std::vector<LoadSource>> make_body(const Kernel& kernel, const std::vector<NodeId>& roots,
                                                   bool vector_sums, bool general) {
  return BodyBuilder(kernel, vector_sums, general).build(roots);
}

Schedule begin_schedule(Kernel kernel, std::string config, const ScheduleOptions& options) {
  ir::ExprContext& exprs = kernel.program->exprs();
  Schedule schedule{.kernel = std::move(kernel), .config = std::move(config), .store = options.store};
  schedule.columns = schedule.kernel.extents.back();
  schedule.row_axis = schedule.kernel.rank() - 2;
  schedule.rows = exprs.constant(1);
  for (int axis = 0; axis + 1 < schedule.kernel.rank(); ++axis)
    schedule.rows = exprs.mul(schedule.rows, schedule.kernel.extent(axis));
  return schedule;
}

void make_bodies(Schedule& schedule, const std::vector<RowCase>& cases) {
  std::map<CodeKey, int> body_ids;
  WalkNames walks(schedule.kernel);
  for (const RowCase& row : cases) {
    ScheduledCase scheduled{.test = row.test, .holds = row.holds, .fails = row.fails, .calls = {}};
    for (const Segment& segment : row.segments) {
      auto [body, sources] = make_body(schedule.kernel, segment.roots, /*vector_sums=*/true);
      walks.rename(body, sources);
      const auto [it, inserted] = body_ids.try_emplace(key_of(body), static_cast<int>(schedule.bodies.size()));
      if (inserted) schedule.bodies.push_back(std::move(body));
      append(scheduled.calls, {.begin = segment.begin,
                               .end = segment.end,
                               .pieces = {{segment.begin, segment.end, segment.cuts, {}}},
                               .body = it->second,
                               .sources = std::move(sources)});
    }
    clamp_to_task(schedule, scheduled.calls);
    schedule.cases.push_back(std::move(scheduled));
  }
  add_row_data(schedule);
}

}  // namespace padlock::compiler
