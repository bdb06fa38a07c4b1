#include "compiler/schedule/index/index64_bounds.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/index/index_width.h"
#include "compiler/schedule/index/size_bounds.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::Comparison;
using ir::Constraint;

namespace {

std::vector<Constraint> bounds_of(ir::ExprContext& exprs, const std::vector<Expr>& sizes, int bits) {
  const Int128 bound = Int128{1} << bits;
  std::vector<Constraint> bounds;
  for (const Expr size : sizes) {
    if (size.range().hi > bound) bounds.push_back({size, Comparison::le, exprs.constant(bound)});
    if (size.range().lo < -bound) bounds.push_back({size, Comparison::ge, exprs.constant(-bound)});
  }
  return bounds;
}

/// Bounds an index and all its intermediates at once, if bounds of its sizes do not suffice. Such an index is a sum of
/// coordinates times sizes that the program does not bound.
Constraint magnitude_bound(IndexMagnitude& magnitude, ir::ExprContext& exprs, Expr e) {
  return {magnitude.of(e), Comparison::le, exprs.constant(Int128{1} << 61)};
}

constexpr std::size_t kComparedInAStep = 8;  // number of bounds

bool contains(std::span<const Constraint> bounds, const Constraint& one) {
  take_steps(1 + bounds.size() / kComparedInAStep);
  return std::ranges::any_of(bounds, [&](const Constraint& bound) {
    return bound.lhs == one.lhs && bound.comparison == one.comparison && bound.rhs == one.rhs;
  });
}

/// Returns the indices that do not fit 64 bits under these bounds of sizes.
std::vector<Expr> wide_under(const Kernel& kernel, std::span<const Constraint> bounds, std::span<const Expr> indices) {
  IndexWidths widths(kernel, size_ranges(bounds));
  std::vector<Expr> wide;
  std::ranges::copy_if(indices, std::back_inserter(wide), [&](Expr e) { return !widths.fit(e, 64); });
  return wide;
}

}  // namespace

std::vector<Constraint> choose_index64_bounds(const Schedule& schedule, const std::vector<ExactIndices>& places) {
  const Kernel& kernel = schedule.kernel;
  std::vector<Expr> all;
  for (const ExactIndices& place : places) all.insert(all.end(), place.exact.begin(), place.exact.end());
  const std::vector<Expr> wide = wide_under(kernel, {}, all);
  if (wide.empty()) return {};
  const std::vector<Expr> sizes = sizes_in(schedule.exprs(), wide);
  // An index is a few sizes times small constants: the first bounds suffice for nearly all.
  std::vector<Constraint> bounds;
  std::vector<Expr> left = wide;
  for (const int bits : {60, 58, 56, 52, 48, 40, 32, 24}) {
    std::vector<Constraint> tried = bounds_of(schedule.exprs(), sizes, bits);
    std::vector<Expr> still_wide = wide_under(kernel, tried, wide);
    if (still_wide.size() >= left.size()) continue;
    bounds = std::move(tried);
    left = std::move(still_wide);
    if (left.empty()) break;
  }
  IndexMagnitude magnitude(kernel);
  for (const Expr e : left) {
    const Constraint bound = magnitude_bound(magnitude, schedule.exprs(), e);
    if (!contains(bounds, bound)) bounds.push_back(bound);
  }
  return bounds;
}

std::optional<std::vector<std::size_t>> needed_bounds(const Schedule& schedule, std::span<const Expr> indices) {
  std::vector<std::size_t> needed(schedule.index64_bounds.size());
  std::iota(needed.begin(), needed.end(), std::size_t{0});
  IndexMagnitude magnitude(schedule.kernel);
  const auto suffice = [&](const std::vector<std::size_t>& some) {
    std::vector<Constraint> bounds;
    for (const std::size_t i : some) bounds.push_back(schedule.index64_bounds[i]);
    return std::ranges::all_of(wide_under(schedule.kernel, bounds, indices), [&](Expr e) {
      return contains(bounds, magnitude_bound(magnitude, schedule.exprs(), e));
    });
  };
  if (!suffice(needed)) return std::nullopt;
  for (std::size_t at = 0; at < needed.size();) {
    std::vector<std::size_t> fewer = needed;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    if (suffice(fewer))
      needed = std::move(fewer);
    else
      ++at;
  }
  return needed;
}

}  // namespace padlock::compiler
