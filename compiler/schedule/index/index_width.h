#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/kernel/expr_analysis.h"
#include "compiler/kernel/kernel.h"

// How wide the arithmetic of an index must be (rule R5): from the interval of the expression as it is emitted, with its
// intermediates, never from the interval of its value alone.
namespace padlock::compiler {

/// Bounds of an emitted expression and of all its intermediates.
struct EmittedRange {
  ir::Range value;   ///< of the expression
  ir::Range widest;  ///< of all intermediates
};

/// Ranges of sizes that are narrower than what is known of their symbols, by Expr::id.
using SizeRanges = std::map<std::uint32_t, ir::Range>;
/// Returns the ranges of sizes that comparisons with a constant imply.
[[nodiscard]] SizeRanges size_ranges(std::span<const ir::Constraint> bounds);
/// Ranges of coordinates, by symbol index.
using CoordinateRanges = std::map<std::uint32_t, ir::Range>;
/// Returns the ranges of a kernel's coordinates and of its walks' variables: from 0 to what the ranges of its extents
/// allow.
[[nodiscard]] CoordinateRanges coordinate_ranges(const Kernel& kernel, const SizeRanges& sizes = {});

/// Widths of the emitted expressions of one kernel: parts over symbols alone arrive as sizes (clamped to [-2^62,
/// 2^62]), coordinates are emitted, the terms of a sum in any order. An expression has no range where it is not bounded
/// by 126 bits. Borrows the context.
class IndexWidths final : public ExprAnalysis<std::optional<EmittedRange>> {
 public:
  explicit IndexWidths(ir::ExprContext& exprs, CoordinateRanges coordinates = {}, SizeRanges sizes = {})
      : ExprAnalysis(2), exprs_(&exprs), coordinates_(std::move(coordinates)), sizes_(std::move(sizes)) {}
  /// Makes those of a kernel, where its sizes have these ranges.
  explicit IndexWidths(const Kernel& kernel, const SizeRanges& sizes = {})
      : IndexWidths(kernel.exprs(), coordinate_ranges(kernel, sizes), sizes) {}

  /// Returns whether all intermediates fit a signed integer of so many bits (32 or 64).
  [[nodiscard]] bool fit(ir::Expr e, int bits);
  /// Returns whether a sum is computed modulo 2^64, sizes included: one with sizes times coordinates whose parts ranges
  /// do not bound, as of an element's number in a reshape. Its value must be shown to fit, and not that of its parts.
  [[nodiscard]] bool wraps(ir::Expr e);
  /// Returns whether the dividend of a floordiv or mod, as it is emitted, is known not to be negative.
  [[nodiscard]] bool divides_nonnegative(ir::Expr e);
  /// Returns whether a floordiv or mod, its operands computed in 64 bits, may divide in 32: both lie in that range.
  [[nodiscard]] bool divides_narrowly(ir::Expr e);

 private:
  std::optional<EmittedRange> fixed(ir::Expr e) override;
  std::optional<EmittedRange> coordinate(ir::Expr e) override;
  std::optional<EmittedRange> sum(ir::Expr e) override;
  std::optional<EmittedRange> product(ir::Expr e) override;
  std::optional<EmittedRange> floordiv(ir::Expr e) override;
  std::optional<EmittedRange> mod(ir::Expr e) override;
  std::optional<EmittedRange> minmax(ir::Expr e) override;
  /// Bounds the dividend of a mod: its coordinates plus the rest, which the launcher has reduced.
  std::optional<EmittedRange> dividend(ir::Expr e);

  /// How a mod's dividend is computed: its coordinates, and whether the launcher adds a rest that it has reduced.
  struct Dividend {
    ir::Expr moving;
    bool has_rest = false;
  };
  const Dividend& parts_of(ir::Expr e);

  ir::ExprContext* exprs_;
  CoordinateRanges coordinates_;
  SizeRanges sizes_;
  std::unordered_map<std::uint32_t, Dividend> dividends_;  // of mods, by Expr::id
};

/// Splits a sum into the terms with coordinates, and the rest, which is a size.
[[nodiscard]] std::pair<ir::Expr, ir::Expr> split_sum(ir::ExprContext& exprs, ir::Expr e);

/// Returns the sizes that emitted expressions are computed from, each once: the parts that arrive as one number.
[[nodiscard]] std::vector<ir::Expr> sizes_in(ir::ExprContext& exprs, std::span<const ir::Expr> emitted);

}  // namespace padlock::compiler
