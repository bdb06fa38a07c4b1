#include "tests/compiler/schedule/index_arithmetic.h"

#include <algorithm>

#include "compiler/schedule/index/index_width.h"

namespace padlock::compiler {

using ir::Expr;
using ir::ExprKind;

std::int64_t IndexArithmetic::wrapped(Int128 value) const {
  const UInt128 unsigned_value = static_cast<UInt128>(value);
  return bits_ == 32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(unsigned_value))
                     : static_cast<std::int64_t>(static_cast<std::uint64_t>(unsigned_value));
}

Int128 IndexArithmetic::size(Expr e, Encoding fit) {
  const Result<Int128> value = ir::evaluate(exprs_, e, values_);
  if (!value) {
    if (!failure_) failure_ = value.error().message;
    return 0;
  }
  const Int128 far = Int128{1} << (bits_ - 2);
  return fit == Encoding::wrap ? wrapped(*value) : std::clamp<Int128>(*value, -far, far);
}

std::int64_t IndexArithmetic::value(Expr e, Encoding fit) {
  Code& code = codes_[{e.id(), fit}];
  if (code.empty()) {
    std::map<std::pair<std::uint32_t, Encoding>, std::size_t> places;
    append(code, places, e, fit);
  }
  std::vector<Int128> done;
  done.reserve(code.size());
  for (const Step& step : code) done.push_back(wrapped(run(step, done)));
  return static_cast<std::int64_t>(done.back());
}

std::size_t IndexArithmetic::append(Code& code, std::map<std::pair<std::uint32_t, Encoding>, std::size_t>& places,
                                    Expr e, Encoding fit) {
  if (const auto known = places.find({e.id(), fit}); known != places.end()) return known->second;
  Step step = step_of(code, places, e, fit);
  code.push_back(std::move(step));
  return places[{e.id(), fit}] = code.size() - 1;
}

IndexArithmetic::Step IndexArithmetic::step_of(Code& code,
                                               std::map<std::pair<std::uint32_t, Encoding>, std::size_t>& places,
                                               Expr e, Encoding fit) {
  if (!e.has_coordinate()) return {.constant = size(e, fit), .operands = {}};
  Step step{.kind = e.kind(), .operands = {}};
  if (e.kind() == ExprKind::symbol) {
    step.symbol = e.symbol();
    return step;
  }
  const bool is_sum = e.kind() == ExprKind::sum;
  const bool is_ring = is_sum || e.kind() == ExprKind::product;
  // What moves, and the rest as one size.
  Expr rest = exprs_.constant(is_sum ? e.constant() : 1);
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    const Expr operand = e.operands()[i];
    const Int128 coefficient = is_sum ? e.coefficients()[i] : 1;
    if (!is_ring || operand.has_coordinate())
      step.operands.emplace_back(append(code, places, operand, is_ring ? fit : Encoding::saturate), coefficient);
    else if (is_sum)
      rest = exprs_.add(rest, exprs_.mul(exprs_.constant(coefficient), operand));
    else
      rest = exprs_.mul(rest, operand);
  }
  if (is_ring) step.constant = size(rest, fit);
  return step;
}

Int128 IndexArithmetic::run(const Step& step, const std::vector<Int128>& done) {
  const auto operand = [&](std::size_t i) { return done[step.operands[i].first]; };
  Int128 value = step.constant;
  switch (step.kind) {
    case ExprKind::constant:
      break;
    case ExprKind::symbol:
      return values_[step.symbol];
    case ExprKind::sum:
      for (std::size_t i = 0; i < step.operands.size(); ++i)
        value = wrapped(value + wrapped(operand(i) * wrapped(step.operands[i].second)));
      break;
    case ExprKind::product:
      for (std::size_t i = 0; i < step.operands.size(); ++i) value = wrapped(value * operand(i));
      break;
    case ExprKind::floordiv:
      return operand(1) > 0 ? floor_div(operand(0), operand(1)) : 0;
    case ExprKind::mod:
      return operand(1) > 0 ? floor_mod(operand(0), operand(1)) : 0;
    case ExprKind::min:
    case ExprKind::max:
      value = operand(0);
      for (std::size_t i = 1; i < step.operands.size(); ++i)
        value = step.kind == ExprKind::min ? std::min(value, operand(i)) : std::max(value, operand(i));
      break;
  }
  return value;
}

}  // namespace padlock::compiler
