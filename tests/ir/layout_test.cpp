#include "ir/layout.h"

#include <array>

#include <doctest/doctest.h>

#include "tests/common/environment.h"
#include "tests/common/rng.h"
#include "tests/ir/expr/z3_expr.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

Expr extent(ExprContext& c, const std::string& name, Int128 most = Int128{1} << 40) {
  return c.declare({name, SymbolKind::extent, {0, most}, {}});
}

Layout literal(ExprContext& c, const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
               std::int64_t offset = 0) {
  std::vector<Expr> e, s;
  for (const std::int64_t v : extents) e.push_back(c.constant(v));
  for (const std::int64_t v : strides) s.push_back(c.constant(v));
  return Layout(c, e, s, c.constant(offset));
}

/// A layout of symbols only: extents e0.., strides s0.., offset o; all >= 0.
struct Symbolic {
  ExprContext c;
  std::vector<Expr> extents, strides, coordinates;
  Expr offset = c.declare({"o", SymbolKind::stride, {0, Int128{1} << 40}, {}});
  Layout layout;

  explicit Symbolic(int rank) {
    for (int i = 0; i < rank; ++i) {
      extents.push_back(extent(c, "e" + std::to_string(i)));
      strides.push_back(c.declare({"s" + std::to_string(i), SymbolKind::stride, {0, Int128{1} << 40}, {}}));
      coordinates.push_back(c.coordinate(i));
    }
    layout = Layout(c, extents, strides, offset);
  }
};

}  // namespace

TEST_CASE("a dense layout spans the product of its extents") {
  ExprContext c;
  const Expr B = extent(c, "B"), C = extent(c, "C"), H = extent(c, "H"), W = extent(c, "W");
  const Layout two = Layout::dense(c, {B, W});
  CHECK(to_string(c, two.storage_extent()) == "B*W");
  CHECK(two.strides()[0] == W);
  CHECK(two.strides()[1].is_constant(1));
  const Layout four = Layout::dense(c, {B, C, H, W});
  CHECK(to_string(c, four.storage_extent()) == "B*C*H*W");
  CHECK(four.storage_extent() == four.element_count());
  CHECK(
      Layout(c, {B, C, H, W}, {c.mul(C, c.mul(H, W)), c.mul(H, W), W, c.constant(1)}, c.constant(0)).storage_extent() ==
      four.storage_extent());
  CHECK(Layout::dense(c, {}).storage_extent().is_constant(1));
  const std::array<Expr, 2> at = {c.coordinate(0), c.coordinate(1)};
  CHECK(to_string(c, two.offset_of(c, at)) == "$1 + W*$0");
}

TEST_CASE("storage of dense extents is the product of them by the general formula too") {
  ExprContext c;
  const Expr B = extent(c, "B", 4096), C = extent(c, "C", 64), W = extent(c, "W", 4096);
  // Channels last: not row-major, so nothing but the formula and the product rule makes it B*C*W.
  const Layout nwc(c, {B, C, W}, {c.mul(C, W), c.constant(1), C}, c.constant(0));
  CHECK(to_string(c, nwc.storage_extent()) == "B*C*W");
}

TEST_CASE("an expanded axis adds nothing but the condition that it is not empty") {
  ExprContext c;
  const Expr B = extent(c, "B", 4096), W = extent(c, "W", 4096);
  const Layout expanded(c, {B, W}, {c.constant(0), c.constant(1)}, c.constant(0));
  CHECK(to_string(c, expanded.storage_extent()) == "W*min(B, 1)");
  const Layout padded(c, {B, W}, {c.add(W, c.constant(3)), c.constant(1)}, c.constant(5));
  CHECK(evaluate_int64(c, padded.storage_extent(), std::vector<std::int64_t>{2, 4}) == 5 + 7 + 4);
  CHECK(evaluate_int64(c, padded.storage_extent(), std::vector<std::int64_t>{2, 0}) == 0);
}

// An extent of 0 needs no storage, for any other extents, strides and offset: the plain sum would give a negative or a
// positive number of bytes.
TEST_CASE("pytorch_139224") {
  ExprContext c;
  CHECK(literal(c, {0, 3, 4}, {12, 4, 1}).storage_extent().is_constant(0));
  CHECK(literal(c, {5, 0, 4}, {12, 4, 1}).storage_extent().is_constant(0));
  CHECK(literal(c, {5, 0}, {7, 100}, 9).storage_extent().is_constant(0));
  CHECK(literal(c, {0}, {1}).storage_extent().is_constant(0));
  const Expr n = extent(c, "n", 100);
  const Layout layout(c, {c.constant(3), n}, {c.constant(50), c.constant(2)}, c.constant(8));
  CHECK(evaluate_int64(c, layout.storage_extent(), std::vector<std::int64_t>{0}) == 0);
  CHECK(evaluate_int64(c, layout.storage_extent(), std::vector<std::int64_t>{1}) == 8 + 1 + 100);
}

// Offset 3, sizes [3, 3], strides [0, 1]: elements 3, 4 and 5 of six, so 6 elements (24 bytes of f32), not 15 bytes.
TEST_CASE("pytorch_158690") {
  ExprContext c;
  const Layout layout = literal(c, {3, 3}, {0, 1}, 3);
  CHECK(layout.storage_extent().is_constant(6));
  CHECK(layout.element_count().is_constant(9));
  const std::array<Expr, 2> last = {c.constant(2), c.constant(2)};
  CHECK(layout.offset_of(c, last).is_constant(5));
}

// An extent beyond what a stride can reach in 128 bits must neither crash nor become a small number.
TEST_CASE("storage that overflows is an error, unless the tensor is empty") {
  ExprContext c;
  std::vector<Expr> extents;
  for (int i = 0; i < 6; ++i) extents.push_back(extent(c, "e" + std::to_string(i)));
  const Layout layout = Layout::dense(c, extents);
  std::vector<std::int64_t> values(6, std::int64_t{1} << 40);
  const auto overflow = evaluate(c, layout.storage_extent(), values);
  REQUIRE_FALSE(overflow);
  CHECK(overflow.error().message == "'e0*e1*e2*e3*e4*e5' overflows 128 bits");
  values[3] = 0;
  CHECK(evaluate(c, layout.storage_extent(), values) == Int128{0});
}

TEST_CASE("axes that continue each other merge, and no others") {
  ExprContext c;
  const Expr B = extent(c, "B", 64), H = extent(c, "H", 64), W = extent(c, "W", 64);
  const Layout dense = Layout::dense(c, {B, H, W});
  REQUIRE(dense.next_axis_continues(c, 0));
  REQUIRE(dense.next_axis_continues(c, 1));
  const Layout merged = dense.with_next_axis_merged(c, 0);
  CHECK(merged.rank() == 2);
  CHECK(merged.extents()[0] == c.mul(B, H));
  CHECK(merged.strides()[0] == W);
  CHECK(merged.storage_extent() == dense.storage_extent());
  const Layout rows(c, {H, W}, {c.add(W, c.constant(1)), c.constant(1)}, c.constant(0));
  CHECK_FALSE(rows.next_axis_continues(c, 0));
  CHECK(dense.step_of(c, 1, -2) == c.mul(c.constant(-2), W));
}

// The inductive step of the lemma, for all values: a partial offset within [0, Q] stays so when an axis is added.
TEST_CASE("the lemma's inductive step holds for all values") {
  ExprContext c;
  testing::Z3Judge z3(c, 5'000'000);
  auto& z = z3.z3();
  const z3::expr P = z.int_const("P"), Q = z.int_const("Q"), x = z.int_const("x"), e = z.int_const("e"),
                 s = z.int_const("s");
  const z3::expr hypothesis = 0 <= P && P <= Q && 0 <= x && x < e && s >= 0;
  CHECK(z3.judge(z3::implies(hypothesis, 0 <= P + x * s && P + x * s <= Q + (e - 1) * s)) == testing::Verdict::valid);
  // Without the stride's sign it does not hold.
  const z3::expr unsigned_stride = 0 <= P && P <= Q && 0 <= x && x < e;
  CHECK(z3.judge(z3::implies(unsigned_stride, 0 <= P + x * s)) == testing::Verdict::refuted);
}

// The same lemma on the expressions that Layout makes. Z3 may give up on products of symbols; it must not refute.
TEST_CASE("coordinates in range lie within the storage, rank by rank") {
  for (int rank = 0; rank <= 4; ++rank) {
    CAPTURE(rank);
    Symbolic t(rank);
    testing::Z3Judge z3(t.c, 1'000'000);
    for (int i = 0; i < rank; ++i) {
      const auto axis = static_cast<std::size_t>(i);
      z3.assume(z3.of(t.coordinates[axis]) < z3.of(t.extents[axis]));
    }
    const z3::expr offset = z3.of(t.layout.offset_of(t.c, t.coordinates));
    const auto verdict = z3.judge(0 <= offset && offset < z3.of(t.layout.storage_extent()));
    CHECK(verdict != testing::Verdict::refuted);
    if (rank <= 1) CHECK(verdict == testing::Verdict::valid);
    MESSAGE("rank ", rank, std::string(verdict == testing::Verdict::valid ? ": valid" : ": undecided"));
  }
}

TEST_CASE("coordinates in range lie within the storage, by trying all") {
  const std::uint64_t seed = testing::seed_or(3);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  for (int round = 0; round < 400; ++round) {
    const int rank = static_cast<int>(random.between(0, 4));
    Symbolic t(rank);
    std::vector<std::int64_t> values(t.c.symbol_count());
    values[t.offset.symbol()] = random.between(0, 3);
    bool empty = false;
    std::int64_t last = values[t.offset.symbol()];
    for (std::size_t i = 0; i < t.extents.size(); ++i) {
      const std::int64_t e = random.between(random.chance(20) ? 0 : 1, 4),
                         s = random.between(0, random.chance(50) ? 2 : 30);
      values[t.extents[i].symbol()] = e;
      values[t.strides[i].symbol()] = s;
      empty = empty || e == 0;
      last += (e - 1) * s;
    }
    const auto storage = evaluate_int64(t.c, t.layout.storage_extent(), values);
    REQUIRE(storage);
    CHECK(*storage == (empty ? 0 : last + 1));
    if (empty) continue;
    const Expr offset = t.layout.offset_of(t.c, t.coordinates);
    std::int64_t largest = -1;
    for (bool more = true; more;) {
      const auto at = evaluate_int64(t.c, offset, values);
      REQUIRE(at);
      REQUIRE(*at >= 0);
      REQUIRE(*at < *storage);
      largest = std::max(largest, *at);
      more = false;
      for (std::size_t i = 0; i < t.coordinates.size() && !more; ++i) {  // the next coordinate, first axis fastest
        std::int64_t& x = values[t.coordinates[i].symbol()];
        more = ++x < values[t.extents[i].symbol()];
        if (!more) x = 0;
      }
    }
    CHECK(largest + 1 == *storage);  // and not one element more than is needed
  }
}
