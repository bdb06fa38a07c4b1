#include "compiler/narrowing.h"

#include <algorithm>
#include <set>

#include "compiler/emitted_indices.h"
#include "compiler/index_width.h"

namespace padlock::compiler {

using ir::Expr;
using ir::ExprKind;

namespace {

/// Divisions by a size, in expressions with coordinates; each once, outer ones first.
class Divisions {
 public:
  void add(Expr e) {
    if (!e.has_coordinate() || !seen_.insert(e.id()).second) return;
    const bool divides = e.kind() == ExprKind::floordiv || e.kind() == ExprKind::mod;
    if (divides && !e.operands()[1].is_constant()) found_.push_back(e);
    for (const Expr operand : e.operands()) add(operand);
  }
  [[nodiscard]] std::vector<Expr> take() && { return std::move(found_); }

 private:
  std::set<std::uint32_t> seen_;  // by Expr::id
  std::vector<Expr> found_;
};

std::vector<Expr> divisions_of(const std::vector<EmittedIndices>& places) {
  Divisions divisions;
  for (const EmittedIndices& place : places)
    for (const Expr e : place.exact) divisions.add(e);
  return std::move(divisions).take();
}

/// The sizes that an emitted expression is computed from, and the extents of its coordinates; each once.
class Sizes {
 public:
  explicit Sizes(const Kernel& kernel) : kernel_(kernel), exprs_(kernel.program->exprs()) {}

  void add(Expr e) {
    if (!e.has_coordinate()) return add_size(e);
    if (!seen_.insert(e.id()).second) return;
    if (e.kind() == ExprKind::symbol) return add_extent(e);
    if (e.kind() == ExprKind::sum || e.kind() == ExprKind::mod) {
      // Of a dividend the rest arrives reduced.
      const auto [moving, rest] = split_sum(exprs_, e.kind() == ExprKind::sum ? e : e.operands()[0]);
      for (const Expr term : moving.kind() == ExprKind::sum ? moving.operands() : std::span(&moving, 1)) add(term);
      return add(e.kind() == ExprKind::sum ? rest : e.operands()[1]);
    }
    Expr rest = exprs_.constant(1);
    for (const Expr operand : e.operands())
      if (e.kind() == ExprKind::product && !operand.has_coordinate())
        rest = exprs_.mul(rest, operand);
      else
        add(operand);
    add_size(rest);
  }
  [[nodiscard]] const std::vector<Expr>& found() const { return found_; }

 private:
  void add_size(Expr e) {
    if (!e.is_constant() && seen_.insert(e.id()).second) found_.push_back(e);
  }
  void add_extent(Expr coordinate) {
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      if (kernel_.coordinate(axis) == coordinate) add_size(kernel_.extents[static_cast<std::size_t>(axis)]);
  }

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  std::set<std::uint32_t> seen_;  // by Expr::id
  std::vector<Expr> found_;
};

/// Each size between -bound and bound, as far as that is not known.
std::vector<ir::Guard> guards_of(ir::ExprContext& exprs, const std::vector<Expr>& sizes, Int128 bound) {
  std::vector<ir::Guard> guards;
  const auto add = [&](Expr size, ir::Comparison comparison, Int128 limit) {
    guards.push_back({ir::Assumption::index32, {size, comparison, exprs.constant(limit)}});
  };
  for (const Expr size : sizes) {
    if (size.range().hi > bound) add(size, ir::Comparison::le, bound);
    if (size.range().lo < -bound) add(size, ir::Comparison::ge, -bound);
  }
  return guards;
}

}  // namespace

Narrowing narrowing_of(const Schedule& schedule) {
  const Kernel& kernel = schedule.kernel;
  std::vector<Expr> wide = divisions_of(emitted_indices(schedule));
  IndexWidths known(kernel);
  std::erase_if(wide, [&](Expr e) { return known.divides_narrowly(e); });
  if (wide.empty()) return {};
  // A dividend is a few coordinates times small constants: one of the bounds is right for nearly all.
  for (const int bits : {30, 27, 24}) {
    Narrowing made{.divisions = wide, .guards = {}};
    Sizes sizes(kernel);
    for (const Expr e : wide) sizes.add(e);
    made.guards = guards_of(kernel.program->exprs(), sizes.found(), Int128{1} << bits);
    IndexWidths assumed(kernel, made.guards);
    if (!std::ranges::all_of(wide, [&](Expr e) { return assumed.divides_narrowly(e); })) continue;
    if (schedule.mutation == Mutation::narrow_guard_dropped) made.guards.erase(made.guards.begin());
    if (schedule.mutation == Mutation::narrow_guard_weak)
      made.guards.front().holds.rhs = kernel.program->exprs().constant(Int128{1} << 33);
    return made;
  }
  return {};
}

std::vector<Expr> narrowed_in(const Schedule& schedule, const Body& body) {
  const std::vector<Expr>& narrowed = schedule.narrowing.divisions;
  if (narrowed.empty()) return {};
  std::vector<Expr> own = divisions_of(emitted_indices(schedule.kernel.graph, body));
  std::erase_if(own, [&](Expr e) { return std::ranges::find(narrowed, e) == narrowed.end(); });
  return own;
}

}  // namespace padlock::compiler
