#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/kernel.h"
#include "compiler/prover/feasibility.h"

namespace padlock::compiler {

/// Points that are tried before a solver is asked: ordinary sizes, and coordinates at the ends and in the middle. They
/// show that a region is not empty, which most are not; a region in which none of them lies says nothing.
class Witnesses {
 public:
  /// `assumptions`: what every binding satisfies. `determined`: symbols that they make equal to others. Borrows the
  /// kernel and the assumptions.
  Witnesses(const Kernel& kernel, const Region& assumptions, const Determined& determined);

  /// Whether sizes were found that satisfy the assumptions.
  [[nodiscard]] bool any() const { return !sizes_.empty(); }
  /// Those sizes, by symbol; others are 0.
  [[nodiscard]] const std::vector<Values64>& sizes() const { return sizes_; }
  /// Whether one of the points lies in the region, with the innermost coordinate at one of `columns`.
  [[nodiscard]] bool inhabits(const Region& region, const std::vector<ir::Expr>& columns);

 private:
  using Values = Values64;
  /// Adds the sizes that `size(index, is_dim)` gives, where they satisfy the assumptions.
  template <class Size>
  void consider(const Determined& determined, Size&& size);
  [[nodiscard]] bool satisfies(const Values& values, const Region& region) const;
  [[nodiscard]] std::optional<std::int64_t> value(ir::Expr e, const Values& values) const;

  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  const Region& assumptions_;
  std::vector<Values> sizes_;
  static constexpr int kScattered = 60;
  mutable std::int64_t evaluations_left_ = 20'000;  // then nothing is found any more
};

}  // namespace padlock::compiler
