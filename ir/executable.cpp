#include "ir/executable.h"

#include <algorithm>
#include <array>

namespace padlock::ir {
namespace {

std::int64_t fit(Int128 value, SizeArgument::Fit how) {
  constexpr Int128 kBound = Int128{1} << 62;
  const auto clamped = static_cast<std::int64_t>(std::clamp(value, -kBound, kBound));
  // A divisor below 1 is that of a division which is never done.
  const auto divisor = [&](int bits) {
    const Int128 most = Int128{1} << (bits - 1);
    return Divisor::of(static_cast<std::uint64_t>(std::clamp<Int128>(clamped, 1, most)), bits);
  };
  switch (how) {
    case SizeArgument::Fit::wrap:
      return static_cast<std::int64_t>(static_cast<UInt128>(value));
    case SizeArgument::Fit::saturate:
      return clamped;
    case SizeArgument::Fit::magic_multiplier:
      return static_cast<std::int64_t>(divisor(64).multiplier);
    case SizeArgument::Fit::magic_shift:
      return divisor(64).shift;
    case SizeArgument::Fit::magic_multiplier32:
      return static_cast<std::int64_t>(divisor(32).multiplier);
    case SizeArgument::Fit::magic_shift32:
      return divisor(32).shift;
  }
  return clamped;
}

}  // namespace

Divisor Divisor::of(std::uint64_t d, int bits) {
  Divisor made;
  while (made.shift < bits - 1 && (std::uint64_t{1} << made.shift) < d) ++made.shift;
  const UInt128 excess = (UInt128{1} << made.shift) - d;
  made.multiplier = static_cast<std::uint64_t>((excess << bits) / d + 1);
  return made;
}

std::uint64_t Divisor::divide(std::uint64_t n, int bits) const {
  const auto high = static_cast<std::uint64_t>((UInt128{n} * multiplier) >> bits);
  return (high + n) >> shift;
}

std::string_view name_of(Assumption a) {
  constexpr std::array kNames = {"single_lap", "index32", "row_divisible", "pointer_aligned", "grid_limit"};
  static_assert(kNames.size() == static_cast<std::size_t>(Assumption::grid_limit) + 1);
  return kNames[static_cast<std::size_t>(a)];
}

bool guard_holds(const Guard& guard, const Binding& binding) {
  const ExprContext& exprs = binding.program().exprs();
  const Result<Int128> lhs = evaluate(exprs, guard.holds.lhs, binding.values());
  const Result<Int128> rhs = evaluate(exprs, guard.holds.rhs, binding.values());
  return lhs && rhs && holds(*lhs, guard.holds.comparison, *rhs);
}

bool guards_hold(const KernelAbi& abi, const Binding& binding) {
  return std::ranges::all_of(abi.guards, [&](const Guard& guard) { return guard_holds(guard, binding); });
}

Result<LaunchPlan> plan_launch(const KernelAbi& abi, const Binding& binding) {
  const ExprContext& exprs = binding.program().exprs();
  LaunchPlan plan;
  // In this order: what an empty output multiplies with its zero may not fit 64 bits.
  PADLOCK_TRY(plan.columns, evaluate_int64(exprs, abi.columns, binding.values()));
  if (plan.columns == 0) return plan;
  PADLOCK_TRY(plan.rows, evaluate_int64(exprs, abi.rows, binding.values()));
  if (plan.empty()) return plan;
  PADLOCK_TRY(plan.row_bytes, evaluate_int64(exprs, abi.row_bytes, binding.values()));
  for (const SizeArgument& size : abi.sizes) {
    const Result<Int128> value = evaluate(exprs, size.value, binding.values());
    // A part of an address overflows 128 bits only where its tensor is empty and is never read.
    if (!value && size.fit != SizeArgument::Fit::wrap) return std::unexpected(value.error());
    plan.sizes.push_back(fit(value.value_or(0), size.fit));
  }
  return plan;
}

}  // namespace padlock::ir
