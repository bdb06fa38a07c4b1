#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// The integers of emitted code (compiler/emit/scalar/emit_expr.h) without code: what mentions no coordinate is a size,
/// evaluated in 128 bits and passed in; the rest is arithmetic of `bits` bits that wraps. Addresses wrap throughout;
/// what is compared, or taken modulo something, saturates its sizes instead.
class IndexArithmetic {
 public:
  /// `values`: by symbol, borrowed; symbols that are coordinates may change between calls, others may not.
  IndexArithmetic(ir::ExprContext& exprs, const std::vector<std::int64_t>& values, int bits)
      : exprs_(exprs), values_(values), bits_(bits) {}

  [[nodiscard]] std::int64_t address(ir::Expr e) { return value(e, Encoding::wrap); }
  [[nodiscard]] std::int64_t exact(ir::Expr e) { return value(e, Encoding::saturate); }
  /// The low bits, as a signed number.
  [[nodiscard]] std::int64_t wrapped(Int128 value) const;
  /// Why a size had no value: the first time.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }

 private:
  enum class Encoding : std::uint8_t { wrap, saturate };
  struct Step {
    ir::ExprKind kind = ir::ExprKind::constant;
    std::uint32_t symbol = 0;
    Int128 constant = 0;
    std::vector<std::pair<std::size_t, Int128>> operands;  // by place in the code, with coefficients of a sum
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
  std::map<std::pair<std::uint32_t, Encoding>, Code> codes_;  // by Expr::id
  std::optional<std::string> failure_;
};

}  // namespace padlock::compiler
