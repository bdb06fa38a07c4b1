#include "compiler/schedule/gpu/covers.h"

#include <algorithm>

#include "compiler/schedule/model/blend.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// Limits for several vectors per thread: segments, and elements loaded one by one. Beyond them the code is too long for
// its gain.
constexpr std::size_t kMostSegments = 24;
constexpr std::ptrdiff_t kMostGathers = 0;
// Bytes of a row with few whole vectors. Edges wait for each other, and one vector a thread leaves registers for more
// threads that wait. (An H100, 96 MiB, of a copy: f32 rows of 33 elements .98, .81 with two vectors; of 78 1.00, .97.)
constexpr std::int64_t kShortRow = 1024;

/// Returns whether each row is one load beside fills, whose place is no data, and no operation takes long.
bool is_plain(const Schedule& schedule) {
  return !schedule.kernel.reads_by_data() && std::ranges::all_of(schedule.cases, [&](const ScheduledCase& row) {
    return loads_one_place(schedule, row);
  }) && std::ranges::none_of(schedule.bodies, computes_activation);
}

/// Returns whether all loads, of which there are some, are of elements narrower than `widest` bytes. A thread's vector
/// then has few bytes on their way: two are better in short rows, too. (An H200, bytes of 128 x 128 to floats padded by
/// 2: 20 us with one, 16 with two.)
bool loads_narrower(const Schedule& schedule, int widest) {
  int loaded = 0;
  for (const Body& body : schedule.bodies)
    for (const BodyLoad& load : body.loads) loaded = std::max(loaded, ir::byte_size(load.dtype));
  return loaded > 0 && loaded < widest;
}

/// Chooses the grid. Its vectors are as wide as the config says, for the widest type of all bodies. Threads with long
/// code take fewer vectors.
VectorGrid grid_of(const Schedule& schedule, const ScheduleOptions& options) {
  int widest = 0, widest_by_data = 1;
  const std::size_t segments = schedule.segments();
  std::ptrdiff_t gathers = 0;
  for (const Body& body : schedule.bodies) {
    const bool by_data = body.is_pointwise && reads_by_data(body);  // no vector, or a vector that is not stored
    int& most = by_data ? widest_by_data : widest;
    most = std::max(most, widest_bytes(body, /*for_threads=*/true));
    if (!by_data) gathers += std::ranges::count(body.loads, LoadKind::strided, &BodyLoad::kind);
  }
  // If each element is made by itself, a thread has fewer to wait for, one after the other.
  if (widest == 0) widest = widest_by_data;
  int vectors = gathers > kMostGathers ? 1 : options.unroll;
  while (vectors > 1 && static_cast<std::size_t>(vectors) * segments > kMostSegments) vectors /= 2;
  ir::ExprContext& exprs = schedule.exprs();
  const Expr beyond_short = exprs.sub(schedule.columns, exprs.constant(kShortRow / widest));
  return make_vector_grid(exprs, options.blocks->threads, vectors, std::max(1, options.vector_bytes / widest),
                          is_plain(schedule) && !loads_narrower(schedule, widest) ? beyond_short : Expr{});
}

/// Chooses whole vectors of the grid, unless a predicate remains.
void choose_vectors(ir::ExprContext& exprs, int lanes, Body& body) {
  LoopStrategyOptions options{.whole = true};
  if (!body.is_pointwise && operation_count(body) <= kMostVectorOperations) options.lanes = lanes;
  body.lanes = options.lanes;
  body.strategies = make_loop_strategies(exprs, options);
}

/// Collects the expressions of a schedule that are computed at each vector or element.
class VectorExpressions {
 public:
  explicit VectorExpressions(const Schedule& schedule) : graph_(schedule.kernel.graph) {
    for (const ScheduledCase& row : schedule.cases) add(row.test);
    for (const SegmentCall& call : schedule.calls())
      if (!schedule.is_row_data(static_cast<std::size_t>(call.body)))
        for (const LoadSource& source : call.sources) add({source.base, source.step, source.rows});
    for (std::size_t body = 0; body < schedule.bodies.size(); ++body)
      if (!schedule.is_row_data(body)) add(schedule.bodies[body]);
  }

  [[nodiscard]] bool mention(Expr variable) const {
    return std::ranges::any_of(all_, [&](Expr e) { return e.valid() && mentions(e, variable); });
  }

 private:
  void add(std::initializer_list<Expr> more) { all_.insert(all_.end(), more); }
  void add(PredicateId predicate) {
    for (const ConditionId id : graph_.conditions_of(predicate)) add({graph_.condition(id).expr});
  }
  void add(const Body& body) {
    for (const BodyLoad& load : body.loads) {
      add({load.step, load.offset});
      add(load.guard);
    }
    for (const BodyNode& node : body.nodes) {
      add({node.index});
      add(node.guard);
      all_.insert(all_.end(), node.terms.begin(), node.terms.end());
      for (const Walk& walk : node.walks) add({walk.first, walk.step, walk.other, walk.limit});
    }
  }

  const Graph& graph_;
  std::vector<Expr> all_;
};

/// Returns whether a search or a sum finds what data says of a row. (Moved groups have 181 instructions a vector
/// without a table, 50 with it. One load without a loop has 44, and two have 58, of which the first cache answers most:
/// a table and its barrier save nothing.)
bool loops_for_rows(const Schedule& schedule) {
  const SegmentCall* const data = schedule.row_data_call();
  return data != nullptr && std::ranges::any_of(schedule.body_of(*data).nodes, [](const BodyNode& node) {
           return node.kind == NodeKind::search || node.kind == NodeKind::sum;
         });
}

/// Adds a table of what data says of rows, if a loop finds it.
void add_row_table(Schedule& schedule) {
  if (!loops_for_rows(schedule) || schedule.kernel.rank() < 2) return;
  const VectorExpressions read(schedule);
  std::vector<Expr> values;
  for (const Kernel::WalkVariable& data : schedule.kernel.row_variables)
    if (read.mention(data.variable)) values.push_back(data.variable);
  if (values.empty()) return;
  VectorGrid& grid = *schedule.grid();
  grid.table = make_row_table(schedule.exprs(), grid, schedule.columns, std::move(values));
}

}  // namespace

void cover_by_vector_grid(Schedule& schedule, const ScheduleOptions& options) {
  VectorGrid grid = grid_of(schedule, options);
  for (Body& body : schedule.bodies) choose_vectors(schedule.exprs(), grid.lanes, body);
  const int threads = grid.threads, vectors = grid.vectors, lanes = grid.lanes;
  schedule.cover = std::move(grid);
  bool is_blended = false, has_columns = false;
  for (const ScheduledCase& row : schedule.cases)
    if (const std::optional<Blend> blend = blend_of(schedule, row)) {
      is_blended |= blend->loads.size() > 1;
      has_columns |= !blend->lone_columns.empty();
    }
  // Loading all segments for a second vector would take half the threads' registers. Smaller blocks leave fewer threads
  // idle while others add up. (An H200, blocks of half as many threads over these: concat of keys .81 of f32, .89 of
  // f16; gradients of reflect by 8 and wrap by 8 1.04 and 1.07.)
  const bool adds_up = std::ranges::any_of(schedule.bodies, has_sums);
  ir::ExprContext& exprs = schedule.exprs();
  if (is_blended)
    schedule.cover = make_vector_grid(exprs, adds_up ? threads / 2 : threads, /*vectors=*/1, lanes);
  else if (has_columns)
    schedule.cover =
        make_vector_grid(exprs, threads, vectors, lanes, beyond_blended_columns(exprs, schedule.columns, lanes));
  add_row_table(schedule);
  schedule.grid()->uneven = uneven_of(schedule);
}

}  // namespace padlock::compiler
