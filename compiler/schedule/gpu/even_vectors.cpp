#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "compiler/schedule/gpu/covers.h"
#include "compiler/schedule/model/row_columns.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

/// Finds the sizes for which no segment ends inside a vector, and rows are loaded from multiples of a vector on. Code
/// for them has no edges, nor shifts. Words come at a copy's speed without it. (An H200, of a copy, f16: two tensors of
/// rows of 64 .87, without edges 1.00; rows of 72 + 8 .96, .99; of 1000 + 24 .91, .99. Bytes: .87, 1.02.)
class EvenVectors {
 public:
  explicit EvenVectors(const Schedule& schedule)
      : schedule_(schedule),
        kernel_(schedule.kernel),
        exprs_(schedule.exprs()),
        lanes_(exprs_.constant(schedule.grid()->lanes)) {}

  /// Returns VectorGrid::uneven.
  [[nodiscard]] std::optional<std::vector<Expr>> uneven() && {
    if (!applies() || !std::ranges::all_of(schedule_.cases, [&](const ScheduledCase& row) { return add(row); }))
      return std::nullopt;
    return std::move(uneven_);
  }

 private:
  static constexpr int kWord = 4;
  static constexpr std::size_t kMost = 16;  // tests of a launch

  [[nodiscard]] bool applies() const {
    const auto is_narrow = [](const BodyLoad& load) { return ir::byte_size(load.dtype) < kWord; };
    const auto has_narrow = [&](const Body& body) { return std::ranges::any_of(body.loads, is_narrow); };
    return !kernel_.reads_by_data() && kernel_.rank() >= 2 && std::ranges::any_of(schedule_.bodies, has_narrow) &&
           std::ranges::all_of(schedule_.bodies, takes_vectors);
  }
  /// Returns whether a body's vector is computed from vectors in memory.
  [[nodiscard]] static bool takes_vectors(const Body& body) {
    return body.strategies.size() > 1 && !has_sums(body) && std::ranges::all_of(body.loads, [](const BodyLoad& load) {
             return load.kind == LoadKind::contiguous || load.kind == LoadKind::invariant;
           });
  }
  [[nodiscard]] bool add(const ScheduledCase& row) {
    Expr begin = exprs_.constant(0);
    for (const SegmentCall& call : row.calls) {
      if (exprs_.mod(exprs_.sub(call.end, begin), lanes_).range().lo > 0 || !add(call.end)) return false;
      const Body& body = schedule_.body_of(call);
      for (std::size_t i = 0; i < call.sources.size(); ++i)
        if (body.loads[i].kind == LoadKind::contiguous && !add(call.sources[i])) return false;
      begin = call.end;
    }
    return true;
  }
  /// Rows begin at multiples if the tensor's rows do, and the first column is a multiple.
  [[nodiscard]] bool add(const LoadSource& source) {
    const std::span<const Expr> strides = kernel_.graph.layout(source.layout).strides();
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      const Expr first = at_first_column(kernel_, kernel_.rank() - 1, source.coordinates[axis]);
      if (!add(strides[axis].is_constant(1) ? first : strides[axis])) return false;
    }
    return true;
  }
  /// Asks that it is a multiple of a vector. Returns false if it never is, or depends on the row.
  [[nodiscard]] bool add(Expr e) {
    const Expr past = exprs_.mod(e, lanes_);
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      if (mentions(past, kernel_.coordinate(axis))) return false;
    if (past.range().lo > 0) return false;
    const auto is_asked = [&](Expr asked) {
      return std::ranges::find(uneven_, exprs_.mod(asked, lanes_)) != uneven_.end();
    };
    if (past.range().hi > 0 && !is_asked(e) && !is_asked(exprs_.neg(e))) uneven_.push_back(past);
    return uneven_.size() <= kMost;
  }

  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr lanes_;
  std::vector<Expr> uneven_;
};

}  // namespace

std::optional<std::vector<Expr>> uneven_of(const Schedule& schedule) { return EvenVectors(schedule).uneven(); }

}  // namespace padlock::compiler
