#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Computes the integers of emitted code (compiler/emit/scalar/emit_expr.h) without code. An expression without a
/// coordinate is a size, evaluated in 128 bits and passed in. The rest is arithmetic of `bits` bits that wraps.
/// Addresses wrap throughout; an expression that is compared or divided saturates its sizes instead.
class IndexArithmetic {
 public:
  /// `values`: one for each symbol, borrowed. Values of coordinates may change between calls, others may not.
  IndexArithmetic(ir::ExprContext& exprs, const std::vector<std::int64_t>& values, int bits)
      : exprs_(exprs), values_(values), bits_(bits) {}

  [[nodiscard]] std::int64_t address(ir::Expr e) { return value(e, Encoding::wrap); }
  [[nodiscard]] std::int64_t exact(ir::Expr e) { return value(e, Encoding::saturate); }
  /// Returns the low bits as a signed number.
  [[nodiscard]] std::int64_t wrapped(Int128 value) const;
  /// Returns the reason why a size first had no value.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }

 private:
  enum class Encoding : std::uint8_t { wrap, saturate };
  struct Step {
    ir::ExprKind kind = ir::ExprKind::constant;
    std::uint32_t symbol = 0;
    Int128 constant = 0;
    std::vector<std::pair<std::size_t, Int128>> operands;  // positions in the code, with the coefficients of a sum
  };
  using Code = std::vector<Step>;  // operands first, the value last

  std::int64_t value(ir::Expr e, Encoding fit);
  std::size_t append(Code& code, std::map<std::pair<std::uint32_t, Encoding>, std::size_t>& places, ir::Expr e,
                     Encoding fit);
  Step step_of(Code& code, std::map<std::pair<std::uint32_t, Encoding>, std::size_t>& places, ir::Expr e, Encoding fit);
  Int128 size(ir::Expr e, Encoding fit);
  [[nodiscard]] Int128 run(const Step& step, const std::vector<Int128>& done);

  ir::ExprContext& exprs_;
  const std::vector<std::int64_t>& values_;
  int bits_;
  std::map<std::pair<std::uint32_t, Encoding>, Code> codes_;  // keys are Expr::id and encoding
  std::optional<std::string> failure_;
};

}  // namespace padlock::compiler
