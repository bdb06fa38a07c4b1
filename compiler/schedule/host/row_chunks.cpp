#include "compiler/schedule/host/covers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/schedule/cases/row_recurrence.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/host/interleave.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// A chunk of four vectors wastes at most a fifth of its lanes on rows of up to one vector, and its index vectors fit
// the registers beside what one or two loads need.
constexpr int kVectors = 4;
constexpr std::size_t kMaxLoads = 4;
// Columns that are interleaved need no more than a vector each.
constexpr int kMaxInterleaved = 8;
// The longest row that is taken with others: longer ones fill vectors of their own.
constexpr int kLongestBytes = 128;
// To plan 256 lanes takes about as long as to take 16 KiB of short rows one by one.
constexpr std::int64_t kLeastBytes = 16 << 10;
// Beyond these a chunk is bound by its operations, which other strategies do as well.
constexpr std::size_t kMaxWork = 8;

/// Makes the row chunks of one case.
class RowChunkMaker {
 public:
  RowChunkMaker(Schedule& schedule, const ScheduleOptions& options)
      : has_cases_(schedule.cases.size() > 1),
        kernel_(schedule.kernel),
        options_(options),
        exprs_(schedule.exprs()),
        columns_(schedule.columns),
        column_(kernel_.column()),
        row_(kernel_.coordinate(kernel_.rank() - 2)) {}

  std::optional<RowChunks> make(const RowCase& row) {
    auto [body, sources] = make_body(kernel_, row.roots, /*vector_sums=*/false);
    RowChunks made{.body = std::move(body), .sources = std::move(sources), .loop = {}, .interleaved = {}};
    // Rows of fill are few beside others, and cheap.
    if (made.body.loads.empty() || reads_indices(made.body) || !depends_on_columns_alone(made.body))
      return std::nullopt;
    const int lanes = lanes_of(made.body);
    if (!give_columns_windows(made, lanes) || !is_small(made.body)) return std::nullopt;
    for (std::size_t i = 0; i < made.sources.size(); ++i)
      if (!split_offset(made.body.loads[i], made.sources[i])) return std::nullopt;
    const int longest = std::min(kLongestBytes / result_bytes(), kVectors * lanes);
    // A program with cases pads rows, too: images, whose rows are taken to be long unless it is known that they are
    // not. Of short ones no more are alike than an image has.
    const Int128 known = has_cases_ ? columns_.range().hi : columns_.range().lo;
    if (lanes < 2 || known > longest) return std::nullopt;
    made.body.lanes = lanes;
    made.loop = make_row_chunk_loop(exprs_, lanes, vectors_of(made), longest);
    made.loop.least_bytes = kLeastBytes;
    add_shuffles(made);
    if (made.interleaved.empty() && made.body.loads.size() > kMaxLoads) return std::nullopt;
    return made;
  }

 private:
  static bool is_small(const Body& body) {
    return body.loads.size() <= kMaxInterleaved && operation_count(body) <= kMaxWork;
  }

  [[nodiscard]] bool depends_on_columns_alone(const Body& body) const {
    const auto alone = [&](PredicateId predicate) {
      return std::ranges::none_of(kernel_.graph.conditions_of(predicate), [&](ConditionId id) {
        return kernel_.mentions_rows(kernel_.graph.condition(id).expr);
      });
    };
    return std::ranges::all_of(body.nodes, [&](const BodyNode& node) { return alone(node.guard); }) &&
           std::ranges::all_of(body.loads, [&](const BodyLoad& load) { return alone(load.guard); });
  }

  /// A load whose columns lie farther apart than a window is long, as a transposition's do, becomes one load for each
  /// column, of which there are few: each has a window of its own.
  /// Returns false where there are too many, or none.
  bool give_columns_windows(RowChunks& rows, int lanes) {
    if (std::ranges::none_of(rows.sources, [&](const LoadSource& source) { return is_far_apart(source, lanes); }))
      return true;
    if (!columns_.is_constant() || columns_.constant() < 1 || columns_.constant() > kMaxInterleaved) return false;
    RowChunks made;
    std::vector<int> renamed;
    for (BodyNode node : rows.body.nodes) {
      for (int& operand : node.operands) operand = renamed[static_cast<std::size_t>(operand)];
      if (node.kind == NodeKind::load) {
        const auto load = static_cast<std::size_t>(node.load);
        if (is_far_apart(rows.sources[load], lanes))
          add_columns(made, node, rows.body.loads[load], rows.sources[load]);
        else
          add_load(made, node, rows.body.loads[load], rows.sources[load]);
      } else {
        made.body.nodes.push_back(node);
      }
      renamed.push_back(static_cast<int>(made.body.nodes.size()) - 1);
    }
    for (const int root : rows.body.roots) made.body.roots.push_back(renamed[static_cast<std::size_t>(root)]);
    rows = std::move(made);
    return true;
  }

  [[nodiscard]] bool is_far_apart(const LoadSource& source, int lanes) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      if (!mentions(source.coordinates[axis], column_)) continue;
      const Expr step = layout.step_of(exprs_, static_cast<int>(axis), 1);
      if (!step.is_constant() || step.constant() >= lanes || step.constant() <= -lanes) return true;
    }
    return false;
  }

  static void add_load(RowChunks& rows, BodyNode node, const BodyLoad& load, const LoadSource& source) {
    node.load = static_cast<int>(rows.body.loads.size());
    rows.body.nodes.push_back(std::move(node));
    rows.body.loads.push_back(load);
    rows.sources.push_back(source);
  }

  /// The value of the last column, but of the one before it there, and so on.
  void add_columns(RowChunks& rows, const BodyNode& node, const BodyLoad& load, const LoadSource& source) {
    const auto columns = static_cast<int>(columns_.constant());
    for (int column = columns - 1; column >= 0; --column) {
      const int others = static_cast<int>(rows.body.nodes.size()) - 1;
      const ConditionId here = kernel_.graph.add({exprs_.sub(column_, exprs_.constant(column)), Condition::Kind::zero});
      std::vector<ConditionId> conditions = {here};
      const auto known = kernel_.graph.conditions_of(load.guard);
      conditions.insert(conditions.end(), known.begin(), known.end());
      BodyLoad one = load;
      one.guard = kernel_.graph.conjunction(std::move(conditions));
      LoadSource moved = source;
      for (Expr& c : moved.coordinates) c = replaced(exprs_, c, column_, exprs_.constant(column));
      add_load(rows, node, one, moved);
      if (column == columns - 1) continue;
      BodyNode choice{.kind = NodeKind::when, .dtype = node.dtype};
      choice.guard = kernel_.graph.conjunction({here});
      choice.operands = {others + 1, others};
      rows.body.nodes.push_back(std::move(choice));
    }
    InterleavedColumns all{.node = static_cast<int>(rows.body.nodes.size()) - 1, .loads = {}, .shuffles = {}};
    for (int column = 0; column < columns; ++column)
      all.loads.push_back(static_cast<int>(rows.body.loads.size()) - 1 - column);
    rows.interleaved.push_back(std::move(all));
  }

  /// Interleaves the columns that lie apart where all vectors of a chunk are full: a window of each column has the rows
  /// that fill as many vectors as there are columns, and nothing else is loaded that could end one of them.
  void add_shuffles(RowChunks& rows) {
    bool is_full = columns_.is_constant(rows.loop.vectors);
    for (std::size_t i = 0; i < rows.sources.size(); ++i) is_full = is_full && has_one_window(kernel_, rows, i);
    for (InterleavedColumns& all : rows.interleaved) {
      const int bytes = ir::byte_size(rows.body.nodes[static_cast<std::size_t>(all.node)].dtype);
      auto shuffles = interleave(rows.loop.vectors, rows.loop.lanes, bytes, options_.permutes.takes_any_two(bytes));
      is_full = is_full && shuffles.has_value();
      if (is_full) all.shuffles = *std::move(shuffles);
    }
    if (!is_full) rows.interleaved.clear();
  }

  /// Splits the offset of a load into the terms of its row and the others.
  bool split_offset(BodyLoad& load, LoadSource& source) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const Expr offset = layout.offset_of(exprs_, source.coordinates);
    source.base = exprs_.constant(0);
    const bool is_sum = offset.kind() == ir::ExprKind::sum;
    for (std::size_t i = 0; i < (is_sum ? offset.operands().size() : 1); ++i) {
      const Expr term = is_sum ? offset.operands()[i] : offset;
      if (!kernel_.mentions_rows(term)) continue;
      if (mentions(term, column_)) return false;
      source.base =
          exprs_.add(source.base, is_sum ? exprs_.mul(exprs_.constant(offset.coefficients()[i]), term) : term);
    }
    load.kind = LoadKind::general;
    load.step = {};
    load.offset = exprs_.sub(offset, source.base);
    source.step = exprs_.constant(0);
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      const auto recurrence = recurrence_in(exprs_, source.coordinates[axis], row_);
      if (!recurrence || !recurrence->is_even() || !recurrence->step.is_constant()) return false;
      source.step =
          exprs_.add(source.step, layout.step_of(exprs_, static_cast<int>(axis), recurrence->step.constant()));
    }
    source.rows = {};
    return true;
  }

  /// Where columns are loaded apart, each from the same rows, as many rows as a window has elements are as many vectors
  /// as there are columns. Rows whose length is known take as many as cost least for each row that they hold whole.
  [[nodiscard]] int vectors_of(const RowChunks& rows) const {
    bool apart = false;
    for (std::size_t i = 0; i < rows.sources.size(); ++i) apart |= has_one_window(kernel_, rows, i);
    if (!columns_.is_constant() || columns_.constant() < 1) return kVectors;
    const auto columns = static_cast<int>(columns_.constant());
    if (apart) return std::min(columns, rows.interleaved.empty() ? kVectors : kMaxInterleaved);
    int best = kVectors;
    const auto whole = [&](int vectors) { return vectors * rows.body.lanes / columns; };
    // A trip of the loop takes about half as long as a vector.
    const auto cost = [&](int vectors) { return 2 * vectors + 1; };
    for (int vectors = kVectors - 1; vectors > 0; --vectors)
      if (cost(vectors) * whole(best) < cost(best) * whole(vectors)) best = vectors;
    return best;
  }

  [[nodiscard]] int result_bytes() const {
    int widest = 1;
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      widest = std::max(widest, ir::byte_size(kernel_.result(i).dtype));
    return widest;
  }

  [[nodiscard]] int lanes_of(const Body& body) const {
    int lanes = options_.vector_bytes / widest_bytes(body, /*for_threads=*/false);
    for (const BodyLoad& load : body.loads)
      lanes = std::min(lanes, options_.permutes.bytes_of(load.dtype) / ir::byte_size(load.dtype));
    return lanes;
  }

  bool has_cases_;
  Kernel& kernel_;
  const ScheduleOptions& options_;
  ir::ExprContext& exprs_;
  Expr columns_, column_, row_;
};

}  // namespace

void make_row_chunks(Schedule& schedule, const std::vector<RowCase>& cases, const ScheduleOptions& options) {
  const bool permutes = std::ranges::any_of(options.permutes.bytes, [](int bytes) { return bytes > 0; });
  if (!permutes || !options.split || schedule.kernel.rank() == 1) return;
  if (schedule.row_axis != schedule.kernel.rank() - 2) return;
  HostCover cover;
  RowChunkMaker maker(schedule, options);
  for (const RowCase& row : cases) cover.row_chunks.push_back(row.is_test() ? std::nullopt : maker.make(row));
  schedule.cover = std::move(cover);
}

}  // namespace padlock::compiler
