#include "compiler/schedule/index/index_width.h"

#include <algorithm>
#include <unordered_set>

#include "ir/expr/simplify.h"

namespace padlock::compiler {

using ir::ExprKind;
using ir::Range;

namespace {

constexpr Int128 kSizeBound = Int128{1} << 62;  // abi::SizeArgument::Encoding::saturate

Range hull(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

std::optional<Range> added(const Range& a, const Range& b) {
  const auto lo = checked_add<Int128>(a.lo, b.lo);
  const auto hi = checked_add<Int128>(a.hi, b.hi);
  return lo && hi ? std::optional(Range{*lo, *hi}) : std::nullopt;
}

std::optional<Range> multiplied(const Range& a, const Range& b) {
  Range all{Range::kMax, Range::kMin};
  for (const Int128 x : {a.lo, a.hi})
    for (const Int128 y : {b.lo, b.hi}) {
      const auto value = checked_mul<Int128>(x, y);
      if (!value) return std::nullopt;
      all = hull(all, {*value, *value});
    }
  return all;
}

/// Returns the terms of a sum without coordinates.
Expr size_in(ir::ExprContext& exprs, Expr sum) {
  ir::LinearForm rest{sum.constant(), {}, {}};
  for (std::size_t i = 0; i < sum.operands().size(); ++i)
    if (!sum.operands()[i].has_coordinate()) rest.append(sum.operands()[i], sum.coefficients()[i]);
  return rest.terms.empty() ? exprs.constant(rest.constant) : ir::Simplifier::make(exprs, std::move(rest));
}

bool within(const Range& range, int bits) {
  const Int128 bound = Int128{1} << (bits - 1);
  return -bound <= range.lo && range.hi < bound;
}

}  // namespace

std::pair<Expr, Expr> split_sum(ir::ExprContext& exprs, Expr e) {
  if (!e.has_coordinate()) return {exprs.constant(0), e};
  if (e.kind() != ExprKind::sum) return {e, exprs.constant(0)};
  ir::LinearForm moving;
  for (std::size_t i = 0; i < e.operands().size(); ++i)
    if (e.operands()[i].has_coordinate()) moving.append(e.operands()[i], e.coefficients()[i]);
  return {ir::Simplifier::make(exprs, std::move(moving)), size_in(exprs, e)};
}

namespace {

/// Collects sizes.
class SizeCollector {
 public:
  explicit SizeCollector(ir::ExprContext& exprs) : exprs_(exprs) {}

  void add(Expr e) {
    if (!e.has_coordinate()) return add_size(e);
    if (!seen_.insert(e.id()).second || e.kind() == ExprKind::symbol) return;
    if (e.kind() == ExprKind::sum || e.kind() == ExprKind::mod) {
      // A dividend's rest arrives reduced.
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
  [[nodiscard]] std::vector<Expr> take() && { return std::move(found_); }

 private:
  void add_size(Expr e) {
    if (!e.is_constant() && seen_.insert(e.id()).second) found_.push_back(e);
  }

  ir::ExprContext& exprs_;
  std::unordered_set<std::uint32_t> seen_;  // by Expr::id
  std::vector<Expr> found_;
};

}  // namespace

std::vector<Expr> sizes_in(ir::ExprContext& exprs, std::span<const Expr> emitted) {
  SizeCollector sizes(exprs);
  for (const Expr e : emitted) sizes.add(e);
  return std::move(sizes).take();
}

SizeRanges size_ranges(std::span<const ir::Constraint> bounds) {
  SizeRanges ranges;
  for (const ir::Constraint& c : bounds) {
    Range& range = ranges.try_emplace(c.lhs.id(), c.lhs.range()).first->second;
    if (c.comparison == ir::Comparison::le) range.hi = std::min(range.hi, c.rhs.constant());
    if (c.comparison == ir::Comparison::ge) range.lo = std::max(range.lo, c.rhs.constant());
  }
  return ranges;
}

CoordinateRanges coordinate_ranges(const Kernel& kernel, const SizeRanges& sizes) {
  CoordinateRanges ranges;
  const auto add = [&](Expr coordinate, Expr extent) {
    const auto known = sizes.find(extent.id());
    const Int128 last = std::max<Int128>(0, (known == sizes.end() ? extent.range() : known->second).hi - 1);
    ranges[coordinate.symbol()] = {0, std::min(coordinate.range().hi, last)};
  };
  for (int axis = 0; axis < kernel.rank(); ++axis) add(kernel.coordinate(axis), kernel.extent(axis));
  for (const Kernel::WalkVariable& walk : kernel.inner_variables()) add(walk.variable, walk.extent);
  return ranges;
}

bool IndexWidths::fit(Expr e, int bits) {
  const std::optional<EmittedRange> range = of(e);
  return range && within(range->widest, bits);
}

bool IndexWidths::wraps(Expr e) {
  const auto multiplies = [](Expr term) { return term.kind() == ExprKind::product && term.has_coordinate(); };
  const bool any = e.kind() == ExprKind::sum ? std::ranges::any_of(e.operands(), multiplies) : multiplies(e);
  return any && !fit(e, 64);
}

bool IndexWidths::divides_nonnegative(Expr e) {
  const Expr operand = e.operands()[0];
  const std::optional<EmittedRange> x = e.kind() == ExprKind::mod && !wraps(operand) ? dividend(e) : of(operand);
  return x && x->value.lo >= 0;
}

bool IndexWidths::divides_narrowly(Expr e) {
  const std::optional<EmittedRange> x = e.kind() == ExprKind::mod ? dividend(e) : of(e.operands()[0]);
  const std::optional<EmittedRange> d = of(e.operands()[1]);
  return x && d && within(x->value, 32) && within(d->value, 32);
}

std::optional<EmittedRange> IndexWidths::fixed(Expr e) {
  const auto it = sizes_.find(e.id());
  const Range& known = it == sizes_.end() ? e.range() : it->second;
  const Range clamped{std::clamp(known.lo, -kSizeBound, kSizeBound), std::clamp(known.hi, -kSizeBound, kSizeBound)};
  return EmittedRange{clamped, clamped};
}

std::optional<EmittedRange> IndexWidths::coordinate(Expr e) {
  const auto it = coordinates_.find(e.symbol());
  const Range range = it == coordinates_.end() ? e.range() : it->second;
  return EmittedRange{range, range};
}

/// Bounds partial sums, for any order of the terms, by the sum of all negative lows and the sum of all positive highs.
std::optional<EmittedRange> IndexWidths::sum(Expr e) {
  EmittedRange all{{0, 0}, {0, 0}};
  Range negative{0, 0};
  Range positive{0, 0};
  const auto add = [&](const EmittedRange& term, Int128 coefficient) {
    const std::optional<Range> scaled = multiplied(term.value, {coefficient, coefficient});
    if (!scaled) return false;
    all.widest = hull(hull(all.widest, term.widest), *scaled);
    const auto below = added(negative, {std::min<Int128>(scaled->lo, 0), 0});
    const auto above = added(positive, {0, std::max<Int128>(scaled->hi, 0)});
    const auto value = added(all.value, *scaled);
    if (!below || !above || !value) return false;
    negative = *below;
    positive = *above;
    all.value = *value;
    return true;
  };
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    if (!e.operands()[i].has_coordinate()) continue;
    const std::optional<EmittedRange> term = of(e.operands()[i]);
    if (!term || !add(*term, e.coefficients()[i])) return std::nullopt;
  }
  if (!add(*fixed(size_in(*exprs_, e)), 1)) return std::nullopt;
  all.widest = hull(all.widest, {negative.lo, positive.hi});
  return all;
}

std::optional<EmittedRange> IndexWidths::product(Expr e) {
  EmittedRange all{{1, 1}, {0, 1}};
  Expr rest = exprs_->constant(1);
  const auto multiply = [&](const EmittedRange& factor) {
    const std::optional<Range> value = multiplied(all.value, factor.value);
    if (!value) return false;
    all = {*value, hull(hull(all.widest, factor.widest), *value)};
    return true;
  };
  for (const Expr factor : e.operands()) {
    if (!factor.has_coordinate()) {
      rest = exprs_->mul(rest, factor);
      continue;
    }
    const std::optional<EmittedRange> range = of(factor);
    if (!range || !multiply(*range)) return std::nullopt;
  }
  return multiply(*fixed(rest)) ? std::optional(all) : std::nullopt;
}

/// Emits three values: the quotient, its product with the divisor, and the remainder.
std::optional<EmittedRange> IndexWidths::floordiv(Expr e) {
  const std::optional<EmittedRange> x = of(e.operands()[0]);
  const std::optional<EmittedRange> d = of(e.operands()[1]);
  if (!x || !d || d->value.lo < 1) return std::nullopt;
  const Int128 far = std::max(x->value.hi, -x->value.lo);
  const Range value{floor_div<Int128>(x->value.lo, x->value.lo < 0 ? d->value.lo : d->value.hi),
                    floor_div<Int128>(x->value.hi, x->value.hi < 0 ? d->value.hi : d->value.lo)};
  return EmittedRange{value, hull(hull(x->widest, d->widest), {-far - 1, far})};
}

std::optional<EmittedRange> IndexWidths::mod(Expr e) {
  const std::optional<EmittedRange> x = dividend(e);
  const std::optional<EmittedRange> d = of(e.operands()[1]);
  if (!x || !d || d->value.lo < 1) return std::nullopt;
  // The remainder has the dividend's sign; if it is negative, the divisor is added.
  const Range remainder{1 - d->value.hi, d->value.hi - 1};
  return EmittedRange{{0, d->value.hi - 1}, hull(hull(x->widest, d->widest), remainder)};
}

const IndexWidths::Dividend& IndexWidths::parts_of(Expr e) {
  const auto [it, inserted] = dividends_.try_emplace(e.id());
  if (!inserted) return it->second;
  const auto [moving, rest] = split_sum(*exprs_, e.operands()[0]);
  it->second = {moving, !exprs_->mod(rest, e.operands()[1]).is_constant(0)};
  return it->second;
}

/// Bounds the dividend of a mod: its coordinates, plus the rest that the launcher has reduced.
std::optional<EmittedRange> IndexWidths::dividend(Expr e) {
  const auto [moving, has_rest] = parts_of(e);
  const std::optional<EmittedRange> x = of(moving);
  const std::optional<EmittedRange> d = of(e.operands()[1]);
  if (!x || !d || !has_rest) return d ? x : std::nullopt;
  const std::optional<Range> value = added(x->value, {0, d->value.hi - 1});
  if (!value) return std::nullopt;
  return EmittedRange{*value, hull(x->widest, *value)};
}

std::optional<EmittedRange> IndexWidths::minmax(Expr e) {
  std::optional<EmittedRange> all;
  for (const Expr operand : e.operands()) {
    const std::optional<EmittedRange> range = of(operand);
    if (!range) return std::nullopt;
    if (!all) {
      all = range;
      continue;
    }
    const bool is_min = e.kind() == ExprKind::min;
    const auto choose = [&](Int128 a, Int128 b) { return is_min ? std::min(a, b) : std::max(a, b); };
    all->value = {choose(all->value.lo, range->value.lo), choose(all->value.hi, range->value.hi)};
    all->widest = hull(all->widest, range->widest);
  }
  return all;
}

}  // namespace padlock::compiler
