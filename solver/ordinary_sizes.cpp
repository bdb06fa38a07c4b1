#include "solver/ordinary_sizes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "support/steps.h"

namespace padlock::solver {

using ir::Expr;

namespace {

constexpr int kScattered = 60;
constexpr int kMostEvaluations = 20'000;        // limit for the whole search
constexpr std::int64_t kMostSteps = 1'000'000;  // limit for long expressions

class SizeSearch {
 public:
  SizeSearch(const ir::ExprContext& exprs, const Region& assumptions, const Determined& determined)
      : exprs_(exprs), assumptions_(assumptions), determined_(determined) {}

  /// Adds the sizes that `size(index, is_dim)` gives, where they satisfy the assumptions.
  template <class Size>
  void consider(Size&& size) {
    Values64 values(exprs_.symbol_count(), 0);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      const ir::Symbol& symbol = exprs_.symbol(i);
      if (symbol.kind == ir::SymbolKind::coordinate) continue;
      const Int128 wanted = size(i, symbol.kind == ir::SymbolKind::dim);
      values[i] = static_cast<std::int64_t>(std::clamp(wanted, symbol.range.lo, symbol.range.hi));
    }
    for (const auto& [symbol, e] : determined_) values[symbol] = value(e, values).value_or(0);
    if (satisfies(values)) found_.push_back(std::move(values));
  }

  [[nodiscard]] bool any() const { return !found_.empty(); }
  [[nodiscard]] std::vector<Values64> take() { return std::move(found_); }

 private:
  std::optional<std::int64_t> value(Expr e, const Values64& values) {
    if (--evaluations_left_ < 0 || steps_.is_used_up()) return std::nullopt;
    const Result<std::int64_t> result = ir::evaluate_int64(exprs_, e, values);
    return result ? std::optional(*result) : std::nullopt;
  }

  bool satisfies(const Values64& values) {
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      const ir::Symbol& symbol = exprs_.symbol(i);
      if (!symbol.range.contains(values[i])) return false;
      if (symbol.congruence.modulus > 1 &&
          floor_mod<std::int64_t>(values[i], symbol.congruence.modulus) != symbol.congruence.residue)
        return false;
    }
    return std::ranges::all_of(assumptions_.nonnegative, [&](Expr e) { return value(e, values).value_or(-1) >= 0; }) &&
           std::ranges::all_of(assumptions_.zero, [&](Expr e) { return value(e, values) == 0; });
  }

  const ir::ExprContext& exprs_;
  const Region& assumptions_;
  const Determined& determined_;
  std::vector<Values64> found_;
  int evaluations_left_ = kMostEvaluations;
  StepBudget steps_{kMostSteps};
};

}  // namespace

std::vector<Values64> ordinary_sizes(const ir::ExprContext& exprs, const Region& assumptions,
                                     const Determined& determined) {
  SizeSearch search(exprs, assumptions, determined);
  // Values for extents (and strides) and dims, and the growth from each extent to the next.
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
    search.consider(
        [&](std::uint32_t index, bool is_dim) { return is_dim ? dim : Int128{extent} + Int128{growth} * index; });
  // No round sizes satisfy the constraints: draw each size on its own.
  std::minstd_rand random(1);
  for (int i = 0; i < kScattered && !search.any(); ++i) {
    const Int128 spread = Int128{4} << (i % 5);
    search.consider([&](std::uint32_t, bool is_dim) {
      const auto drawn = static_cast<Int128>(random() % static_cast<std::uint32_t>(spread));
      return is_dim ? drawn - spread / 2 : drawn;
    });
  }
  return search.take();
}

}  // namespace padlock::solver
