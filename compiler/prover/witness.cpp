#include "compiler/prover/witness.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "compiler/walk.h"

namespace padlock::compiler {

using ir::Expr;

Witnesses::Witnesses(const Kernel& kernel, const Region& assumptions, const Determined& determined)
    : kernel_(kernel), exprs_(kernel.program->exprs()), assumptions_(assumptions) {
  // Extents (and strides), dims, and by how much an extent is more than the one before it.
  struct Guess {
    int extent, dim, growth;
  };
  constexpr std::array kGuesses = std::to_array<Guess>({{8, 2, 0},
                                                        {16, 1, 0},
                                                        {64, 3, 0},
                                                        {8, 0, 0},
                                                        {1, 1, 0},
                                                        {24, -1, 0},
                                                        {5, 7, 0},
                                                        {1, 0, 0},
                                                        {2, 20, 0},
                                                        {128, 0, 0},
                                                        {2, 1, 1},
                                                        {9, 0, -1}});
  for (const auto& [extent, dim, growth] : kGuesses)
    consider(determined,
             [&](std::uint32_t index, bool is_dim) { return is_dim ? dim : Int128{extent} + Int128{growth} * index; });
  // Constraints that no round sizes satisfy: each size for itself. Always the same, so that a verdict is.
  std::minstd_rand random(1);
  for (int i = 0; i < kScattered && sizes_.empty(); ++i) {
    const auto spread = static_cast<Int128>(4 << (i % 5));
    consider(determined, [&](std::uint32_t, bool is_dim) {
      const auto drawn = static_cast<Int128>(random() % static_cast<std::uint32_t>(spread));
      return is_dim ? drawn - spread / 2 : drawn;
    });
  }
}

template <class Size>
void Witnesses::consider(const Determined& determined, Size&& size) {
  Values values(exprs_.symbol_count(), 0);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const ir::Symbol& symbol = exprs_.symbol(i);
    if (symbol.kind == ir::SymbolKind::coordinate) continue;
    const Int128 wanted = size(i, symbol.kind == ir::SymbolKind::dim);
    values[i] = static_cast<std::int64_t>(std::clamp(wanted, symbol.range.lo, symbol.range.hi));
  }
  for (const auto& [symbol, e] : determined) values[symbol] = value(e, values).value_or(0);
  if (satisfies(values, assumptions_)) sizes_.push_back(std::move(values));
}

std::optional<std::int64_t> Witnesses::value(Expr e, const Values& values) const {
  if (--evaluations_left_ < 0) return std::nullopt;
  const Result<std::int64_t> result = ir::evaluate_int64(exprs_, e, values);
  return result ? std::optional(*result) : std::nullopt;
}

bool Witnesses::satisfies(const Values& values, const Region& region) const {
  const auto at_least_zero = [&](Expr e) { return value(e, values).value_or(-1) >= 0; };
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const ir::Symbol& symbol = exprs_.symbol(i);
    if (!symbol.range.contains(values[i])) return false;
    if (symbol.congruence.modulus > 1 &&
        floor_mod<std::int64_t>(values[i], symbol.congruence.modulus) != symbol.congruence.residue)
      return false;
  }
  return std::ranges::all_of(region.nonnegative, at_least_zero) &&
         std::ranges::all_of(region.zero, [&](Expr e) { return value(e, values) == 0; }) &&
         std::ranges::all_of(region.alternatives,
                             [&](const auto& any) { return std::ranges::any_of(any, at_least_zero); });
}

/// Outer coordinates all at the beginning, in the middle, or at the end; then one of them in the middle alone, or not.
bool Witnesses::inhabits(const Region& region, const std::vector<Expr>& columns) {
  const RunVariables run(exprs_);
  const int outer = kernel_.rank() - 1;
  for (Values values : sizes_) {
    if (evaluations_left_ < 0) return false;
    values.resize(exprs_.symbol_count(), 0);
    const auto place = [&](int axis, int where) {
      const std::int64_t extent = value(kernel_.extents[static_cast<std::size_t>(axis)], values).value_or(0);
      values[kernel_.coordinate(axis).symbol()] = where == 0 ? 0 : where == 1 ? extent / 2 : extent - 1;
      return extent > 0;
    };
    bool possible = true;
    for (int pattern = 0; pattern < 3 * (outer + 1) && possible; ++pattern) {
      const int special = pattern / 3 - 1;
      for (int axis = 0; axis < outer; ++axis)
        possible &= place(axis, axis == special ? (pattern % 3 == 1 ? 0 : 1) : pattern % 3);
      values[run.column_first.symbol()] = 0;
      values[run.column_last.symbol()] = value(kernel_.extents.back(), values).value_or(0);
      for (const Expr column : columns) {
        const auto at = value(column, values);
        if (!at || *at < 0) continue;
        values[kernel_.coordinate(outer).symbol()] = *at;
        if (possible && satisfies(values, region)) return true;
      }
    }
  }
  return false;
}

}  // namespace padlock::compiler
