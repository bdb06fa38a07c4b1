#include "compiler/schedule/index/index_width.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "compiler/schedule/index/size_bounds.h"
#include "tests/common/environment.h"
#include "tests/compiler/emit/compiled.h"
#include "tests/ir/expr/random_expr.h"
#include "tests/ir/expr/z3_expr.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Symbols that are sizes, and coordinates.
struct Indices {
  ir::ExprContext exprs;
  std::vector<Expr> symbols;

  explicit Indices(testing::Rng& random) {
    for (int i = 0; i < 3; ++i) {
      const std::int64_t hi = std::int64_t{1} << random.between(1, 40);
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
  testing::Rng random(seed);
  int asked = 0;
  int asked_with_guards = 0;
  int undecided = 0;
  for (int i = 0; i < 400; ++i) {
    Indices indices(random);
    const Expr e = testing::draw_tree(random, indices.symbols, 3).build(indices.exprs, indices.symbols);
    if (!e.has_coordinate()) continue;
    Intermediates found;
    found.add(indices.exprs, e);
    // Every other time with guards on the sizes; they do not limit coordinates.
    const Int128 guard = Int128{1} << random.between(2, 24);
    std::vector<ir::Constraint> guards;
    if (i % 2 == 1)
      for (const Expr size : found.sizes)
        for (const auto& [comparison, limit] : {std::pair(ir::Comparison::le, guard), {ir::Comparison::ge, -guard}})
          guards.push_back({size, comparison, indices.exprs.constant(limit)});
    for (const int bits : {32, 64}) {
      if (!IndexWidths(indices.exprs, {}, size_ranges(guards)).fit(e, bits)) continue;
      testing::Z3Judge judge(indices.exprs, 200'000);
      const Int128 bound = Int128{1} << (bits - 1);
      z3::expr fits = judge.z3().bool_val(true);
      // The launcher clamps sizes, far outside the coordinates that they are compared with.
      const Int128 clamp = Int128{1} << 62;
      for (const Expr size : found.sizes)
        judge.assume(judge.of(size) >= judge.integer(-clamp) && judge.of(size) <= judge.integer(clamp));
      for (const ir::Constraint& g : guards)
        judge.assume(g.comparison == ir::Comparison::le ? judge.of(g.lhs) <= judge.integer(guard)
                                                        : judge.of(g.lhs) >= judge.integer(-guard));
      asked_with_guards += guards.empty() ? 0 : 1;
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
  MESSAGE("Z3 was asked ", asked, " times, ", asked_with_guards, " with guards, undecided ", undecided);
  CHECK(asked > 50);
  CHECK(asked_with_guards > 20);
  CHECK(undecided * 4 < asked);
}

TEST_CASE("a magnitude bounds an expression and all its intermediates at every coordinate") {
  const std::uint64_t seed = testing::seed_or(11);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    Indices indices(random);
    ir::ExprContext& exprs = indices.exprs;
    const Expr e = testing::draw_tree(random, indices.symbols, 3).build(exprs, indices.symbols);
    if (!e.has_coordinate()) continue;
    const std::vector<Expr> extents(indices.symbols.begin(), indices.symbols.begin() + 3);
    const Expr magnitude = IndexMagnitude(exprs, extents).of(e);
    REQUIRE_FALSE(magnitude.has_coordinate());
    Intermediates found;
    found.add(exprs, e);
    for (int k = 0; k < 8; ++k) {
      std::vector<std::int64_t> values;
      const Int128 most = k % 2 == 0 ? 5 : 1'000'000;
      for (const Expr size : extents)
        values.push_back(random.between(1, static_cast<std::int64_t>(std::min(most, size.range().hi))));
      for (int axis = 0; axis < 3; ++axis)
        values.push_back(random.between(0, values[static_cast<std::size_t>(axis)] - 1));
      const Result<Int128> bound = ir::evaluate(exprs, magnitude, values);
      if (!bound) continue;
      for (const Expr part : found.emitted) {
        const Result<Int128> value = ir::evaluate(exprs, part, values);
        if (!value) continue;
        CAPTURE(ir::to_string(exprs, e));
        CAPTURE(ir::to_string(exprs, part));
        CHECK(*value <= *bound);
        CHECK(-*value <= *bound);
        ++compared;
      }
    }
  }
  MESSAGE(compared, " intermediates");
  CHECK(compared > 10'000);
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

TEST_CASE("a division by a number is of 32 bits where its dividend is, and one by a size is a multiplication") {
  const auto wrap = [](const char* extent, const char* where) {
    return emitted(fmt::format("program p(x: f32[{}], n: dim) where n >= 0{}"
                               " {{ y = pad(x, low = [n], high = [n], mode = wrap) return y }}",
                               extent, where),
                   Stage::llvm, "host", "split=0");
  };
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  for (const char* where : {"", ", n <= 1000"}) {
    CAPTURE(where);
    const std::string text = wrap("7", where);
    CHECK(has(text, "srem i32") == (where[0] != 0));
    CHECK(has(text, "srem i64") == (where[0] == 0));
    const std::string by_size = wrap("S", fmt::format(", S >= 1{}", where).c_str());
    CHECK(has(by_size, "mul i128"));
    for (const char* divides : {"div i", "rem i", ".index32"}) CHECK_FALSE(has(by_size, divides));
  }
}

}  // namespace padlock::compiler
