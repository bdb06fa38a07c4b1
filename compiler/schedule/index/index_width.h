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

// The width that index arithmetic needs (rule R5). It follows from the interval of the expression as it is emitted,
// with its intermediates, never from the interval of its value alone.
namespace padlock::compiler {

/// Bounds of an emitted expression and of all its intermediates.
struct EmittedRange {
  ir::Range value;   ///< values of the expression itself
  ir::Range widest;  ///< values of all intermediates
};

/// Ranges of sizes, by Expr::id, that are narrower than what is known of their symbols.
using SizeRanges = std::map<std::uint32_t, ir::Range>;
/// Returns the ranges of sizes that comparisons with constants imply.
[[nodiscard]] SizeRanges size_ranges(std::span<const ir::Constraint> bounds);
/// Ranges of coordinates, by symbol index.
using CoordinateRanges = std::map<std::uint32_t, ir::Range>;
/// Returns the ranges of a kernel's coordinates and walk variables: from 0 to the most that the ranges of its extents
/// allow.
[[nodiscard]] CoordinateRanges coordinate_ranges(const Kernel& kernel, const SizeRanges& sizes = {});

/// Widths of the emitted expressions of one kernel. Parts over symbols alone arrive as sizes (clamped to [-2^62,
/// 2^62]). Coordinates are emitted, and the terms of a sum in any order. An expression beyond 126 bits has no range.
/// Borrows the context.
class IndexWidths final : public ExprAnalysis<std::optional<EmittedRange>> {
 public:
  explicit IndexWidths(ir::ExprContext& exprs, CoordinateRanges coordinates = {}, SizeRanges sizes = {})
      : ExprAnalysis(2), exprs_(&exprs), coordinates_(std::move(coordinates)), sizes_(std::move(sizes)) {}
  /// Makes the widths of a kernel whose sizes have these ranges.
  explicit IndexWidths(const Kernel& kernel, const SizeRanges& sizes = {})
      : IndexWidths(kernel.exprs(), coordinate_ranges(kernel, sizes), sizes) {}

  /// Returns whether all intermediates fit a signed integer of `bits` bits (32 or 64).
  [[nodiscard]] bool fit(ir::Expr e, int bits);
  /// Returns whether a sum is computed modulo 2^64, sizes included. Such a sum has sizes times coordinates that ranges
  /// do not bound, as an element's number in a reshape. Only its value must be shown to fit, not its parts.
  [[nodiscard]] bool wraps(ir::Expr e);
  /// Returns whether the emitted dividend of a floordiv or mod is known to be >= 0.
  [[nodiscard]] bool divides_nonnegative(ir::Expr e);
  /// Returns whether a floordiv or mod with 64-bit operands may divide in 32 bits: both operands lie in that range.
  [[nodiscard]] bool divides_narrowly(ir::Expr e);

 private:
  std::optional<EmittedRange> fixed(ir::Expr e) override;
  std::optional<EmittedRange> coordinate(ir::Expr e) override;
  std::optional<EmittedRange> sum(ir::Expr e) override;
  std::optional<EmittedRange> product(ir::Expr e) override;
  std::optional<EmittedRange> floordiv(ir::Expr e) override;
  std::optional<EmittedRange> mod(ir::Expr e) override;
  std::optional<EmittedRange> minmax(ir::Expr e) override;
  /// Bounds the dividend of a mod: its coordinates, plus the rest that the launcher has reduced.
  std::optional<EmittedRange> dividend(ir::Expr e);

  /// How a mod's dividend is computed: its coordinates, and whether the launcher adds a reduced rest.
  struct Dividend {
    ir::Expr moving;
    bool has_rest = false;
  };
  const Dividend& parts_of(ir::Expr e);

  ir::ExprContext* exprs_;
  CoordinateRanges coordinates_;
  SizeRanges sizes_;
  std::unordered_map<std::uint32_t, Dividend> dividends_;  // dividends of mods; keys are Expr::id
};

/// Splits a sum into the terms with coordinates and the rest, which is a size.
[[nodiscard]] std::pair<ir::Expr, ir::Expr> split_sum(ir::ExprContext& exprs, ir::Expr e);

/// Returns the sizes in emitted expressions, each once: the parts that arrive as one number.
[[nodiscard]] std::vector<ir::Expr> sizes_in(ir::ExprContext& exprs, std::span<const ir::Expr> emitted);

}  // namespace padlock::compiler
