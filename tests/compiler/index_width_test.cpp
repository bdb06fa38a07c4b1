#include "compiler/index_width.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/compiler/compiled.h"
#include "tests/ir/random_expr.h"
#include "tests/ir/z3_expr.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Symbols that are sizes, and coordinates.
struct Indices {
  ir::ExprContext exprs;
  std::vector<Expr> symbols;

  explicit Indices(testing::Random& random) {
    for (int i = 0; i < 3; ++i) {
      const std::int64_t hi = std::int64_t{1} << random.in(1, 40);
      symbols.push_back(exprs.declare({fmt::format("S{}", i), ir::SymbolKind::extent, {i == 0 ? 1 : 0, hi}, {}}));
    }
    for (int axis = 0; axis < 3; ++axis) symbols.push_back(exprs.coordinate(axis));
  }
};

/// The intermediates of an emitted expression, and the sizes that arrive from the launcher: each term of its sums,
/// partial sums in the order of its operands, quotients and remainders.
struct Intermediates {
  std::vector<Expr> emitted, sizes;

  void add(ir::ExprContext& exprs, Expr e) {
    if (!e.has_coordinate()) return sizes.push_back(e);
    emitted.push_back(e);
    if (e.kind() == ir::ExprKind::mod) return add_mod(exprs, e);
    for (const Expr operand : e.operands()) add(exprs, operand);
    if (e.kind() != ir::ExprKind::sum) return;
    Expr partial = exprs.constant(0);
    for (std::size_t i = 0; i < e.operands().size(); ++i) {
      if (!e.operands()[i].has_coordinate()) continue;
      const Expr term = exprs.mul(exprs.constant(e.coefficients()[i]), e.operands()[i]);
      partial = exprs.add(partial, term);
      emitted.push_back(term);
      emitted.push_back(partial);
    }
    sizes.push_back(split_sum(exprs, e).second);
  }

  /// What of the dividend is a size arrives reduced.
  void add_mod(ir::ExprContext& exprs, Expr e) {
    const Expr period = e.operands()[1];
    const auto [moving, rest] = split_sum(exprs, e.operands()[0]);
    add(exprs, moving);
    add(exprs, period);
    emitted.push_back(exprs.add(moving, exprs.mod(rest, period)));
  }
};

}  // namespace

TEST_CASE("where the interval fits a width, no intermediate leaves it: Z3 judges") {
  const std::uint64_t seed = testing::seed_or(7);
  MESSAGE("seed ", seed);
  testing::Random random(seed);
  int asked = 0;
  int undecided = 0;
  for (int i = 0; i < 400; ++i) {
    Indices indices(random);
    const Expr e = testing::draw_tree(random, indices.symbols, 3).build(indices.exprs, indices.symbols);
    if (!e.has_coordinate()) continue;
    for (const int bits : {32, 64}) {
      if (!IndexWidths(indices.exprs).fit(e, bits)) continue;
      testing::Z3Judge judge(indices.exprs, 200'000);
      Intermediates found;
      found.add(indices.exprs, e);
      const Int128 bound = Int128{1} << (bits - 1);
      z3::expr fits = judge.z3().bool_val(true);
      // The launcher clamps sizes, far outside the coordinates that they are compared with.
      const Int128 clamp = Int128{1} << 62;
      for (const Expr size : found.sizes)
        judge.assume(judge.of(size) >= judge.integer(-clamp) && judge.of(size) <= judge.integer(clamp));
      for (const Expr part : found.emitted)
        fits = fits && judge.of(part) >= judge.integer(-bound) && judge.of(part) < judge.integer(bound);
      const testing::Verdict verdict = judge.judge(fits);
      CAPTURE(ir::to_string(indices.exprs, e));
      CAPTURE(bits);
      CHECK_MESSAGE(verdict != testing::Verdict::refuted, judge.model());
      ++asked;
      undecided += verdict == testing::Verdict::unknown;
      break;
    }
  }
  MESSAGE("Z3 was asked ", asked, " times, undecided ", undecided);
  CHECK(asked > 50);
  CHECK(undecided * 4 < asked);
}

TEST_CASE("an interval counts what is added up on the way, not the sum alone") {
  ir::ExprContext exprs;
  const Expr small = exprs.declare({"S", ir::SymbolKind::extent, {0, 100}, {}});
  const Expr x = exprs.coordinate(0);
  CHECK(IndexWidths(exprs).fit(exprs.add(x, small), 64));
  CHECK_FALSE(IndexWidths(exprs).fit(exprs.add(x, small), 32));
  // 2^40 * $0 is far beyond 64 bits although the quotient is not.
  const Expr scaled = exprs.mul(exprs.constant(Int128{1} << 40), x);
  CHECK_FALSE(IndexWidths(exprs).fit(exprs.floordiv(exprs.add(scaled, exprs.coordinate(1)), exprs.constant(7)), 64));
}

TEST_CASE("a division is of 32 bits where its operands are, and only there") {
  const auto narrow = [](const char* where) {
    return emitted(fmt::format("program p(x: f32[S], n: dim) where S >= 1, n >= 0{}"
                               " {{ y = pad(x, low = [n], high = [n], mode = wrap) return y }}",
                               where),
                   Stage::llvm, "host", "split=0")
               .find("srem i32") != std::string::npos;
  };
  CHECK_FALSE(narrow(""));
  CHECK(narrow(", S <= 1000, n <= 1000"));
  CHECK_FALSE(narrow(", S <= 1000"));
}

}  // namespace padlock::compiler
