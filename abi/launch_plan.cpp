#include "abi/launch_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ir/binding/symbol_binding.h"
#include "support/stack_array.h"

namespace padlock::abi {
namespace {

using Encoding = SizeArgument::Encoding;

/// Returns the low 64 bits.
std::int64_t wrap(UInt128 value) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(value)); }

}  // namespace

/// One launch of a binding: its first row, the elements that it writes, and the origin of each input. Without values it
/// is the launch that writes everything.
struct LaunchPlanner::Share {
  std::int64_t first_row = 0;
  std::optional<std::int64_t> elements = {};
  std::span<const std::int64_t> origins = {};  // borrowed (outlive this)

  [[nodiscard]] std::int64_t origin(std::uint32_t input) const { return origins.empty() ? 0 : origins[input]; }
  [[nodiscard]] std::int64_t encode(Int128 value, Size size) const;
};

std::int64_t LaunchPlanner::Share::encode(Int128 value, Size size) const {
  constexpr Int128 kBound = Int128{1} << 62;
  const auto clamped = static_cast<std::int64_t>(std::clamp(value, -kBound, kBound));
  // A divisor below 1 belongs to a division that never runs.
  const auto divisor = [&](int bits) {
    const Int128 most = Int128{1} << (bits - 1);
    return Divisor::of(static_cast<std::uint64_t>(std::clamp<Int128>(clamped, 1, most)), bits);
  };
  switch (size.fit) {
    case Encoding::wrap:
      return wrap(static_cast<UInt128>(value));
    case Encoding::saturate:
      return clamped;
    case Encoding::magic_multiplier:
      return static_cast<std::int64_t>(divisor(64).multiplier);
    case Encoding::magic_shift:
      return divisor(64).shift;
    case Encoding::magic_multiplier32:
      return static_cast<std::int64_t>(divisor(32).multiplier);
    case Encoding::magic_shift32:
      return divisor(32).shift;
    case Encoding::first_row:
      return first_row;
    case Encoding::elements:
      return elements.value_or(clamped);
    case Encoding::from_origin:
      return wrap(static_cast<UInt128>(value) - static_cast<UInt128>(origin(size.input)));
    case Encoding::from_origin32: {
      const Int128 from = origin(size.input), farthest = SizeArgument::kFarthest;
      return static_cast<std::int64_t>(std::clamp(value, from - farthest, from + farthest) - from);
    }
  }
  return clamped;
}

bool guard_holds(const Guard& guard, const ir::Binding& binding) {
  const ir::ExprContext& exprs = binding.program().exprs();
  const Result<Int128> lhs = evaluate(exprs, guard.holds.lhs, binding.values());
  const Result<Int128> rhs = evaluate(exprs, guard.holds.rhs, binding.values());
  return lhs && rhs && holds(*lhs, guard.holds.comparison, *rhs);
}

bool guards_hold(const KernelAbi& abi, const ir::Binding& binding) {
  return std::ranges::all_of(abi.guards, [&](const Guard& guard) { return guard_holds(guard, binding); });
}

/// The values of the tape's roots under one binding.
class LaunchPlanner::Evaluated {
 public:
  Evaluated(const LaunchPlanner& planner, const ir::Binding& binding)
      : planner_(planner), binding_(binding), values_(planner.tape_.roots().size()) {
    planner.tape_.evaluate(binding.values(), values_.span());
  }

  [[nodiscard]] bool writes_nothing() const {
    return std::ranges::all_of(values_.span().first(planner_.results_), [](const auto& count) { return count == 0; });
  }
  /// Returns the last variant whose guards hold, among all or among those without parts.
  [[nodiscard]] std::size_t select(bool without_parts) const {
    std::size_t last = 0;
    for (std::size_t i = 1; i < planner_.variants_.size(); ++i) {
      const Variant& variant = planner_.variants_[i];
      if (!(without_parts && variant.parts) && guards_hold(variant)) last = i;
    }
    return last;
  }
  [[nodiscard]] Status check_preconditions() const {
    for (std::size_t i = 0; i < planner_.preconditions_.size(); ++i) {
      const std::size_t root = planner_.results_ + 2 * i;
      const auto sides = values_.span().subspan(root, 2);
      if (!sides[0] || !sides[1] || !holds(*sides[0], planner_.preconditions_[i], *sides[1])) return refusal(root, i);
    }
    return {};
  }
  [[nodiscard]] Result<std::int64_t> count(std::size_t root, const char* what) const {
    const std::optional<Int128>& value = values_.span()[root];
    if (!value || !fits_int64(*value)) return evaluate_int64(exprs(), planner_.tape_.roots()[root], binding_.values());
    if (*value >= 0) return static_cast<std::int64_t>(*value);
    return internal_error(fmt::format("kernel {} has {} {}", planner_.name_, padlock::to_string(*value), what));
  }
  /// Returns whether a result or an input has more elements than a launch of this variant may take.
  [[nodiscard]] bool exceeds_a_launch(const Variant& variant) const {
    if (!variant.parts) return false;
    const auto exceeds = [&](const auto& count) { return !count || *count > variant.parts->most_elements(); };
    const std::size_t spans = variant.grid + kGridRoots + variant.sizes.size();
    return std::ranges::any_of(values_.span().first(planner_.results_), exceeds) ||
           std::ranges::any_of(values_.span().subspan(spans, variant.spans), exceeds);
  }
  [[nodiscard]] Result<std::vector<std::int64_t>> sizes(const Variant& variant, const Share& share) const {
    std::vector<std::int64_t> sizes;
    sizes.reserve(variant.sizes.size());
    for (const Size size : variant.sizes) {
      const std::size_t root = variant.grid + kGridRoots + sizes.size();
      const std::optional<Int128>& value = values_.span()[root];
      // A part of an address overflows 128 bits only where its tensor is empty and is never read.
      if (!value && size.fit != Encoding::wrap && size.fit != Encoding::from_origin)
        return std::unexpected(planner_.tape_.explain(root, binding_.values()));
      sizes.push_back(share.encode(value.value_or(0), size));
    }
    return sizes;
  }
  [[nodiscard]] const ir::Binding& binding() const { return binding_; }

 private:
  [[nodiscard]] const ir::ExprContext& exprs() const { return binding_.program().exprs(); }
  [[nodiscard]] bool guards_hold(const Variant& variant) const {
    for (std::size_t i = 0; i < variant.comparisons.size(); ++i) {
      const auto sides = values_.span().subspan(variant.guards + 2 * i, 2);
      if (!sides[0] || !sides[1] || !holds(*sides[0], variant.comparisons[i], *sides[1])) return false;
    }
    return true;
  }

  /// Names the precondition whose sides are these roots, what was found, and the sizes.
  [[nodiscard]] std::unexpected<Error> refusal(std::size_t root, std::size_t precondition) const {
    const auto roots = planner_.tape_.roots().subspan(root, 2);
    const ir::Comparison comparison = planner_.preconditions_[precondition];
    const std::string constraint = to_string(exprs(), {roots[0], comparison, roots[1]});
    std::string found = "does not fit 128 bits";
    if (const std::optional<Int128>& value = values_.span()[root])
      found = fmt::format("is {}", padlock::to_string(*value));
    auto error = failed_precondition(
        fmt::format("indices of kernel '{}' in 64 bits: {} does not hold, the left side {}{}", planner_.name_,
                    constraint, found, ir::values_of_symbols(exprs(), roots, binding_.values())));
    error.error().subject = {-1, constraint, ir::symbol_values(exprs(), roots, binding_.values())};
    return error;
  }

  const LaunchPlanner& planner_;
  const ir::Binding& binding_;
  StackArray<std::optional<Int128>, 64> values_;
};

LaunchPlanner::LaunchPlanner(const ir::Program& program, std::span<const KernelAbi* const> variants)
    : name_(variants.front()->name), results_(variants.front()->results.size()) {
  std::vector<ir::Expr> roots;
  for (const ir::ValueId id : variants.front()->results) roots.push_back(program.value(id).layout.element_count());
  for (const ir::Constraint& precondition : variants.front()->preconditions) {
    preconditions_.push_back(precondition.comparison);
    roots.insert(roots.end(), {precondition.lhs, precondition.rhs});
  }
  for (const KernelAbi* abi : variants) {
    Variant& variant = variants_.emplace_back(Variant{.guards = roots.size(), .grid = 0});
    for (const Guard& guard : abi->guards) {
      variant.comparisons.push_back(guard.holds.comparison);
      roots.insert(roots.end(), {guard.holds.lhs, guard.holds.rhs});
    }
    variant.grid = roots.size();
    roots.insert(roots.end(), {abi->columns, abi->rows, abi->row_bytes,
                               abi->shared_bytes.valid() ? abi->shared_bytes : program.exprs().constant(0)});
    for (const SizeArgument& size : abi->sizes) {
      variant.sizes.push_back({size.fit, size.input});
      roots.push_back(size.value);
    }
    if (!abi->parts) continue;
    variant.parts.emplace(program, *abi->parts);
    variant.spans = abi->parts->spans.size();
    roots.insert(roots.end(), abi->parts->spans.begin(), abi->parts->spans.end());
  }
  tape_ = ir::ExprTape(program.exprs(), std::move(roots));
}

Result<LaunchPlan> LaunchPlanner::plan(const ir::Binding& binding) const {
  const Evaluated evaluated(*this, binding);
  LaunchPlan plan{.variant = evaluated.select(/*without_parts=*/false)};
  // First, because sizes of an empty output may not fit in 64 bits, and are never used.
  if (evaluated.writes_nothing()) return plan;
  PADLOCK_CHECK(evaluated.check_preconditions());
  if (evaluated.exceeds_a_launch(variants_[plan.variant])) {
    PADLOCK_TRY(const bool fits, plan_parts(evaluated, plan));
    if (!fits) {
      plan.variant = evaluated.select(/*without_parts=*/true);
      if (variants_[plan.variant].parts)
        return internal_error(fmt::format("kernel {} has no code for so many elements", name_));
    }
  }
  const Variant& variant = variants_[plan.variant];
  PADLOCK_TRY(plan.columns, evaluated.count(variant.grid, "columns"));
  PADLOCK_TRY(plan.row_bytes, evaluated.count(variant.grid + 2, "bytes in a row"));
  PADLOCK_TRY(plan.shared_bytes, evaluated.count(variant.grid + 3, "bytes of shared memory"));
  if (plan.parts.empty()) {
    PADLOCK_TRY(plan.rows, evaluated.count(variant.grid + 1, "rows"));
    PADLOCK_TRY(plan.sizes, evaluated.sizes(variant, {}));
  }
  // No tensor has more elements. Splitting rows and columns into tasks relies on that.
  if (plan.rows != 0 && plan.columns > ir::kMaxStorageBytes / plan.rows)
    return internal_error(fmt::format("kernel {} has {} rows of {} columns", name_, plan.rows, plan.columns));
  return plan;
}

Result<bool> LaunchPlanner::plan_parts(const Evaluated& evaluated, LaunchPlan& plan) const {
  const Variant& variant = variants_[plan.variant];
  const std::optional<PartSizes> numbers = variant.parts->evaluate(evaluated.binding());
  if (!numbers) return false;
  std::optional<std::vector<RowRange>> ranges = split_rows(*numbers);
  if (!ranges || ranges->empty()) return false;
  const auto is_zero = [](std::int64_t origin) { return origin == 0; };
  if (ranges->size() == 1 && std::ranges::all_of(ranges->front().origins, is_zero)) return true;
  for (RowRange& range : *ranges) {
    // Neither product overflows: a range has at most `most_elements`, and there are at most kMostParts.
    const std::int64_t elements = range.rows * numbers->columns;
    LaunchPart part{.rows = variant.parts->blocks(elements),
                    .first_element = range.first_row * numbers->columns,
                    .origins = std::move(range.origins)};
    const Share share{.first_row = range.first_row, .elements = elements, .origins = part.origins};
    PADLOCK_TRY(part.sizes, evaluated.sizes(variant, share));
    plan.rows += part.rows;
    plan.parts.push_back(std::move(part));
  }
  plan.sizes = plan.parts.front().sizes;
  return true;
}

}  // namespace padlock::abi
