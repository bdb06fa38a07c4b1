#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "compiler/kernel.h"
#include "ir/expr.h"

// How wide the arithmetic of an index must be (rule R5): from the interval of the expression as it is emitted, with its
// intermediates, never from the interval of its value alone.
namespace padlock::compiler {

/// Every intermediate of an emitted expression lies in it.
struct EmittedRange {
  ir::Range value;   ///< of the expression
  ir::Range widest;  ///< of all intermediates
};

/// Ranges of coordinates that are narrower than those of the symbols, by symbol index.
using CoordinateRanges = std::map<std::uint32_t, ir::Range>;
/// Of a kernel: from 0 to what the ranges of its extents allow.
[[nodiscard]] CoordinateRanges coordinate_ranges(const Kernel& kernel);

/// The range of an expression whose parts over symbols alone arrive as sizes (clamped to [-2^62, 2^62]) and whose
/// coordinates are emitted, in the order in which the emitter computes it. Nothing where it is not bounded by 126 bits.
[[nodiscard]] std::optional<EmittedRange> emitted_range(ir::ExprContext& exprs, const CoordinateRanges& ranges,
                                                        ir::Expr e);

/// Whether all intermediates fit a signed integer of so many bits (32 or 64).
[[nodiscard]] bool fits_width(ir::ExprContext& exprs, const CoordinateRanges& ranges, ir::Expr e, int bits);

/// Whether a floordiv or mod, its operands computed in 64 bits, may divide in 32: both lie in their range.
[[nodiscard]] bool divides_narrowly(ir::ExprContext& exprs, const CoordinateRanges& ranges, ir::Expr e);

/// The terms of a sum with coordinates, and the rest, which is a size.
[[nodiscard]] std::pair<ir::Expr, ir::Expr> split_sum(ir::ExprContext& exprs, ir::Expr e);

}  // namespace padlock::compiler
