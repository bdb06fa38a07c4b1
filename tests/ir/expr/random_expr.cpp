#include "tests/ir/expr/random_expr.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace padlock::testing {

using ir::Expr;
using ir::ExprContext;

std::optional<Int128> Tree::evaluate(const std::vector<std::int64_t>& values) const {
  const auto result = evaluate_step(values);
  return result == std::numeric_limits<Int128>::min() ? std::nullopt : result;
}

std::optional<Int128> Tree::evaluate_step(const std::vector<std::int64_t>& values) const {
  if (op == Op::constant) return value;
  if (op == Op::symbol) return values[symbol];
  const auto a = operands[0].evaluate(values);
  if (op == Op::neg) return a ? checked_sub<Int128>(0, *a) : std::nullopt;
  const auto b = operands[1].evaluate(values);
  if (op == Op::mul && ((a && *a == 0) || (b && *b == 0))) return 0;
  if (!a || !b) return std::nullopt;
  const bool divides = op == Op::floordiv || op == Op::ceildiv || op == Op::mod;
  if (divides && *b <= 0) return std::nullopt;
  switch (op) {
    case Op::add:
      return checked_add(*a, *b);
    case Op::sub:
      return checked_sub(*a, *b);
    case Op::mul:
      return checked_mul(*a, *b);
    case Op::floordiv:
      return floor_div(*a, *b);
    case Op::ceildiv:
      return *a / *b + (*a % *b > 0 ? 1 : 0);
    case Op::mod:
      return floor_mod(*a, *b);
    case Op::min:
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

Expr Tree::build(ExprContext& context, const std::vector<Expr>& symbols) const {
  if (op == Op::constant) return context.constant(value);
  if (op == Op::symbol) return symbols[symbol];
  const Expr a = operands[0].build(context, symbols);
  if (op == Op::neg) return context.neg(a);
  const Expr b = operands[1].build(context, symbols);
  switch (op) {
    case Op::add:
      return context.add(a, b);
    case Op::sub:
      return context.sub(a, b);
    case Op::mul:
      return context.mul(a, b);
    case Op::floordiv:
      return context.floordiv(a, b);
    case Op::ceildiv:
      return context.ceildiv(a, b);
    case Op::mod:
      return context.mod(a, b);
    case Op::min:
      return context.min(a, b);
    default:
      return context.max(a, b);
  }
}

std::string Tree::text() const {
  if (op == Op::constant) return padlock::to_string(value);
  if (op == Op::symbol) return fmt::format("s{}", symbol);
  if (op == Op::neg) return fmt::format("-({})", operands[0].text());
  static constexpr const char* kNames[] = {"", "", "+", "-", "*", "", "floordiv", "ceildiv", "mod", "min", "max"};
  return fmt::format("({} {} {})", operands[0].text(), kNames[static_cast<int>(op)], operands[1].text());
}

std::vector<Expr> declare_assorted_symbols(ExprContext& context) {
  using ir::Congruence;
  using ir::Range;
  using ir::SymbolKind;
  std::vector<Expr> symbols;
  const auto declare = [&](SymbolKind kind, Range range, Congruence congruence = {}) {
    symbols.push_back(context.declare({fmt::format("s{}", symbols.size()), kind, range, congruence}));
  };
  declare(SymbolKind::extent, {0, 100});
  declare(SymbolKind::extent, {1, 64});
  declare(SymbolKind::dim, {-8, 8});
  declare(SymbolKind::stride, {8, 1 << 20}, {8, 0});
  declare(SymbolKind::extent, {0, 7});
  declare(SymbolKind::dim, {-(Int128{1} << 40), Int128{1} << 40});
  declare(SymbolKind::extent, {0, Int128{1} << 40});
  declare(SymbolKind::dim, {kInt64Min, kInt64Max});
  declare(SymbolKind::extent, {0, kInt64Max});
  declare(SymbolKind::dim, {-21, 1000}, {7, 3});
  declare(SymbolKind::extent, {1, kInt64Max});
  return symbols;
}

std::vector<std::int64_t> draw_values(Rng& random, const ExprContext& context) {
  std::vector<std::int64_t> values;
  for (std::uint32_t i = 0; i < context.symbol_count(); ++i) {
    const ir::Symbol& s = context.symbol(i);
    const auto lo = static_cast<std::int64_t>(s.range.lo), hi = static_cast<std::int64_t>(s.range.hi);
    std::int64_t v = random.between(lo, hi);
    if (random.chance(40)) v = std::clamp<std::int64_t>(random.between(-3, 20), lo, hi);
    if (random.chance(15)) v = lo;
    if (random.chance(15)) v = hi;
    if (s.congruence.modulus > 1) {
      v += floor_mod(s.congruence.residue - v, s.congruence.modulus);
      while (v > hi) v -= s.congruence.modulus;
    }
    values.push_back(v);
  }
  return values;
}

namespace {

Tree leaf(Rng& random, const std::vector<Expr>& symbols) {
  if (random.chance(65))
    return {Tree::Op::symbol,
            0,
            static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(symbols.size()) - 1)),
            {}};
  static const std::vector<Int128> kOdd = {kInt64Max, kInt64Min, Int128{1} << 100, -(Int128{1} << 126) - 1,
                                           (Int128{1} << 126) + 12345};
  const Int128 value = random.chance(6) ? random.pick(kOdd) : Int128{random.between(-9, 17)};
  return {Tree::Op::constant, value, 0, {}};
}

Tree positive(Rng& random, const std::vector<Expr>& symbols, int depth) {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].range().lo >= 1) candidates.push_back(i);
  if (random.chance(50)) return {Tree::Op::constant, Int128{random.between(1, 16)}, 0, {}};
  if (random.chance(50)) return {Tree::Op::symbol, 0, random.pick(candidates), {}};
  if (random.chance(50)) return {Tree::Op::mul, 0, 0, {positive(random, symbols, 0), positive(random, symbols, 0)}};
  return {Tree::Op::max, 0, 0, {draw_tree(random, symbols, depth - 1), Tree{Tree::Op::constant, 1, 0, {}}}};
}

}  // namespace

Tree draw_tree(Rng& random, const std::vector<Expr>& symbols, int depth) {
  using Op = Tree::Op;
  if (depth <= 0 || random.chance(10)) return leaf(random, symbols);
  static const std::vector<Op> kOps = {Op::add, Op::add, Op::add,      Op::sub,     Op::sub, Op::mul, Op::mul, Op::mul,
                                       Op::neg, Op::min, Op::floordiv, Op::ceildiv, Op::mod, Op::mod, Op::max};
  const Op op = random.pick(kOps);
  Tree tree{op, 0, 0, {draw_tree(random, symbols, depth - 1)}};
  if (op == Op::neg) return tree;
  const bool divides = op == Op::floordiv || op == Op::ceildiv || op == Op::mod;
  if (random.chance(10) && !divides)
    tree.operands.push_back(tree.operands[0]);  // equal operands, so that terms merge and cancel
  else
    tree.operands.push_back(divides ? positive(random, symbols, depth) : draw_tree(random, symbols, depth - 1));
  return tree;
}

}  // namespace padlock::testing
