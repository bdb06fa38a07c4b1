#include "ir/expr/expr_tape.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/expr/wide_sum.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

namespace padlock::ir {
namespace {

using Number = std::optional<Int128>;

/// Evaluation as the header of expr.h has it, and nothing else: recursive, every sum exact, no 64 bits.
class Reference {
 public:
  explicit Reference(std::span<const std::int64_t> values) : values_(values) {}

  Number of(Expr e) {
    if (const auto found = known_.find(e.id()); found != known_.end()) return found->second;
    std::vector<Number> operands;
    for (const Expr operand : e.operands()) operands.push_back(of(operand));
    Number value = compute(e, operands);
    if (value == std::numeric_limits<Int128>::min()) value = std::nullopt;
    return known_[e.id()] = value;
  }

 private:
  Number compute(Expr e, const std::vector<Number>& operands) const {
    if (e.kind() == ExprKind::symbol) return e.symbol() < values_.size() ? Number(values_[e.symbol()]) : std::nullopt;
    if (e.kind() == ExprKind::product) return product(operands);
    if (std::ranges::find(operands, Number()) != operands.end()) return std::nullopt;
    switch (e.kind()) {
      case ExprKind::constant:
        return e.constant();
      case ExprKind::sum: {
        WideSum sum(e.constant());
        for (std::size_t i = 0; i < operands.size(); ++i) sum.add_product(e.coefficients()[i], *operands[i]);
        return sum.value();
      }
      case ExprKind::floordiv:
        return *operands[1] > 0 ? Number(floor_div(*operands[0], *operands[1])) : std::nullopt;
      case ExprKind::mod:
        return *operands[1] > 0 ? Number(floor_mod(*operands[0], *operands[1])) : std::nullopt;
      case ExprKind::min:
        return *std::ranges::min_element(operands);
      default:
        return *std::ranges::max_element(operands);
    }
  }

  static Number product(const std::vector<Number>& factors) {
    if (std::ranges::find(factors, Number(0)) != factors.end()) return 0;
    Number value = 1;
    for (const Number& factor : factors) value = value && factor ? checked_mul(*value, *factor) : std::nullopt;
    return value;
  }

  std::span<const std::int64_t> values_;
  std::map<std::uint32_t, Number> known_;
};

/// One operation on expressions that are there already, so that tapes share nodes.
Expr grown(ExprContext& c, testing::Rng& random, const std::vector<Expr>& all) {
  const Expr a = random.pick(all), b = random.pick(all);
  const Expr divisor = c.max(b, c.constant(random.chance(90) ? 1 : -1));  // seldom one that may be negative
  switch (random.between(0, 6)) {
    case 0:
      return c.add(a, b);
    case 1:
      return c.sub(c.mul(c.constant(random.between(-9, 9)), a), b);
    case 2:
      return c.mul(a, b);
    case 3:
      return c.floordiv(a, divisor);
    case 4:
      return c.mod(a, divisor);
    case 5:
      return c.min(a, b);
    default:
      return c.max(a, b);
  }
}

std::string text_of(const Number& number) { return number ? padlock::to_string(*number) : "nothing"; }

/// What became of the roots that were evaluated.
struct Count {
  int narrow = 0, wide = 0, nothing = 0, whole_tapes = 0;
};

void check_tape(const ExprContext& c, const ExprTape& tape, const std::vector<std::int64_t>& values, Count& count) {
  Reference reference(values);
  const std::span<const Expr> roots = tape.roots();
  std::vector<Number> expected, found(roots.size());
  for (const Expr root : roots) expected.push_back(reference.of(root));
  tape.evaluate(values, found);
  std::optional<Error> first_error;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    CAPTURE(to_string(c, roots[i]));
    REQUIRE(text_of(found[i]) == text_of(expected[i]));
    const auto alone = evaluate(c, roots[i], values);
    REQUIRE(alone.has_value() == expected[i].has_value());
    if (!alone) REQUIRE(tape.explain(i, values).message == alone.error().message);
    const auto narrow = evaluate_int64(c, roots[i], values);
    REQUIRE(narrow.has_value() == (expected[i] && fits_int64(*expected[i])));
    if (!narrow && !first_error) first_error = narrow.error();
    ++(narrow ? count.narrow : expected[i] ? count.wide : count.nothing);
  }
  std::vector<std::int64_t> numbers(roots.size());
  const Status status = tape.evaluate(values, numbers);
  REQUIRE(status.has_value() == !first_error.has_value());
  count.whole_tapes += status.has_value();
  if (!status) REQUIRE(status.error().message == first_error->message);
  if (status)
    for (std::size_t i = 0; i < roots.size(); ++i) REQUIRE(Number(numbers[i]) == expected[i]);
}

}  // namespace

// Large and small tapes, values near the ends of 64 bits among them.
TEST_CASE("a tape gives each root what the definition gives, overflow and errors included") {
  const std::uint64_t seed = testing::seed_or(20260102);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  Count count;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    ExprContext c;
    std::vector<Expr> all = testing::declare_assorted_symbols(c);
    const std::int64_t steps = round % 10 == 0 ? 300 : random.between(1, 30);
    for (std::int64_t i = 0; i < steps; ++i) {
      const Expr next = grown(c, random, all);
      if (next.depth() < 40) all.push_back(next);
    }
    std::vector<Expr> roots;
    for (std::int64_t i = random.between(1, 12); i > 0; --i) roots.push_back(random.pick(all));
    const ExprTape tape(c, roots);
    for (int draw = 0; draw < 20; ++draw) {
      auto values = testing::draw_values(random, c);
      if (draw % 2 == 0)  // small, so that whole tapes have values
        for (std::int64_t& value : values) value = random.between(-3, 9);
      check_tape(c, tape, values, count);
    }
  }
  MESSAGE(count.narrow, " roots of 64 bits, ", count.wide, " wider, ", count.nothing, " without a value; ",
          count.whole_tapes, " tapes of 64 bits");
  CHECK(count.narrow > 5000);
  CHECK(count.wide > 500);
  CHECK(count.nothing > 500);
  CHECK(count.whole_tapes > 500);
}

TEST_CASE("a tape names the first root that fails; another may have its value") {
  ExprContext c;
  const Expr S = c.declare({"S", SymbolKind::extent, {0, Int128{1} << 40}, {}});
  const Expr W = c.declare({"W", SymbolKind::dim, {kInt64Min, kInt64Max}, {}});
  const Expr cube = c.mul(c.mul(W, W), W);
  const ExprTape tape(c, {c.add(S, W), c.mul(W, W), c.mul(S, c.mod(cube, c.constant(7)))});
  std::array<std::int64_t, 3> out{};
  REQUIRE(tape.evaluate(std::array<std::int64_t, 2>{2, -4}, out));
  CHECK(out == std::array<std::int64_t, 3>{-2, 16, 12});
  constexpr std::array<std::int64_t, 2> kLarge = {0, std::numeric_limits<std::int64_t>::min()};
  const auto bad = tape.evaluate(kLarge, out);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "'W*W' is 85070591730234615865843651857942052864, which does not fit 64 bits");
  std::array<std::optional<Int128>, 3> wide;
  tape.evaluate(kLarge, wide);
  CHECK(wide[1] == Int128{1} << 126);
  CHECK(wide[2] == 0);  // W cubed has no value, and is multiplied with zero
  tape.evaluate(std::array<std::int64_t, 2>{1, kLarge[1]}, wide);
  CHECK_FALSE(wide[2]);
  CHECK(tape.explain(2, std::array<std::int64_t, 2>{1, kLarge[1]}).message ==
        "'W*W*W' overflows 128 bits, in 'S*((W*W*W) mod 7)'");
  CHECK(ExprTape().evaluate({}, std::span<std::int64_t>()));
}

}  // namespace padlock::ir
