#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "solver/feasibility.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

// Answers about a region, compared with all its points; and questions about products that must be decided.
namespace padlock::solver {
namespace {

using ir::Expr;
using testing::Rng;

struct Question {
  Region region;
  std::vector<Expr> assumed, goal;
};

struct Tally {
  int empty = 0, found = 0, undecided = 0;
};

/// Symbols of few values, so that all points can be tried; one may be divided by.
std::vector<Expr> declare_small(ir::ExprContext& exprs, Rng& random) {
  std::vector<Expr> symbols;
  for (const char* name : {"a", "b", "c"}) {
    const std::int64_t lo = symbols.size() == 2 ? 1 : random.between(-2, 1);
    symbols.push_back(exprs.declare({.name = name,
                                     .kind = lo < 0 ? ir::SymbolKind::dim : ir::SymbolKind::extent,
                                     .range = {lo, lo + random.between(1, 6)},
                                     .congruence = {}}));
  }
  return symbols;
}

Question draw_question(Rng& random, ir::ExprContext& exprs, const std::vector<Expr>& symbols) {
  const auto draw = [&](int depth) { return testing::draw_tree(random, symbols, depth).build(exprs, symbols); };
  const auto draw_all = [&](std::int64_t least, std::int64_t most) {
    std::vector<Expr> all;
    for (std::int64_t i = random.between(least, most); i > 0; --i)
      all.push_back(exprs.sub(draw(3), exprs.constant(random.between(-2, 6))));
    return all;
  };
  Question question{.region = {.nonnegative = draw_all(0, 1), .zero = {}, .alternatives = {}},
                    .assumed = draw_all(0, 1),
                    .goal = draw_all(1, 1)};
  if (random.chance(15)) question.region.zero = {draw(2)};
  if (random.chance(30)) question.region.alternatives.push_back(draw_all(2, 3));
  return question;
}

bool holds(const ir::ExprContext& exprs, const Question& question, const std::vector<std::int64_t>& point) {
  const auto at_least_zero = [&](Expr e) {
    const Result<Int128> value = ir::evaluate(exprs, e, point);
    return value && *value >= 0;
  };
  const auto zero = [&](Expr e) {
    const Result<Int128> value = ir::evaluate(exprs, e, point);
    return value && *value == 0;
  };
  return std::ranges::all_of(question.assumed, at_least_zero) && std::ranges::all_of(question.goal, at_least_zero) &&
         std::ranges::all_of(question.region.nonnegative, at_least_zero) &&
         std::ranges::all_of(question.region.zero, zero) &&
         std::ranges::all_of(question.region.alternatives,
                             [&](const auto& any) { return std::ranges::any_of(any, at_least_zero); });
}

bool any_point(const ir::ExprContext& exprs, const Question& question) {
  std::vector<std::int64_t> point(3);
  const auto range = [&](std::uint32_t i) { return exprs.symbol(i).range; };
  for (Int128 a = range(0).lo; a <= range(0).hi; ++a)
    for (Int128 b = range(1).lo; b <= range(1).hi; ++b)
      for (Int128 c = range(2).lo; c <= range(2).hi; ++c) {
        point = {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), static_cast<std::int64_t>(c)};
        if (holds(exprs, question, point)) return true;
      }
  return false;
}

std::string text_of(const ir::ExprContext& exprs, const Question& question) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<Expr>& all) {
    for (const Expr e : all) text += what + ir::to_string(exprs, e);
  };
  add(" assumed ", question.assumed);
  add(" region ", question.region.nonnegative);
  add(" zero ", question.region.zero);
  for (const auto& any : question.region.alternatives) add(" or ", any);
  add(" goal ", question.goal);
  return text;
}

void check_question(Rng& random, Tally& tally) {
  ir::ExprContext exprs;
  const std::vector<Expr> symbols = declare_small(exprs, random);
  const Question question = draw_question(random, exprs, symbols);
  CAPTURE(text_of(exprs, question));
  const bool any = any_point(exprs, question);
  Feasibility feasibility(exprs);
  for (const Expr e : question.assumed) feasibility.assume(e);
  const Answer answer = feasibility.ask(question.region, question.goal);
  tally.empty += answer.kind == Answer::Kind::empty;
  tally.undecided += answer.kind == Answer::Kind::undecided;
  if (any) {
    CHECK(answer.kind != Answer::Kind::empty);
    CHECK(feasibility.linear_part(question.region) != Answer::Kind::empty);
  }
  const Answer found = feasibility.find_point(question.region, question.goal, symbols);
  if (any) CHECK(found.kind != Answer::Kind::empty);
  if (found.kind != Answer::Kind::found) return;
  ++tally.found;
  CHECK(any);
}

}  // namespace

TEST_CASE("a region is empty only where none of its points is one") {
  const std::uint64_t seed = testing::seed_or(169760);
  CAPTURE(seed);
  Rng random(seed);
  Tally tally;
  for (int i = 0; i < 800; ++i) check_question(random, tally);
  MESSAGE("seed " << seed << ": " << tally.empty << " empty, " << tally.found << " with a point, " << tally.undecided
                  << " not decided");
  CHECK(tally.empty > 200);
  CHECK(tally.found > 200);
  CHECK(tally.undecided < 80);
}

TEST_CASE("products with a common factor are in the order of the others") {
  ir::ExprContext exprs;
  const auto extent = [&](const char* name) {
    return exprs.declare(
        {.name = name, .kind = ir::SymbolKind::extent, .range = {0, Int128{1} << 40}, .congruence = {}});
  };
  const Expr n = extent("n");
  const Expr m = extent("m");
  const Expr x = exprs.coordinate(0);
  const Expr few = exprs.min(m, exprs.constant(2));
  const Expr more = exprs.max(few, exprs.min(m, exprs.sub(exprs.constant(65), n)));
  const auto less = [&](Expr a, Expr b) { return exprs.sub(exprs.sub(b, a), exprs.constant(1)); };
  Feasibility feasibility(exprs);
  // x < n * more - n * few lies below n * m - n * few, and need not lie below n * few.
  const Region region{
      .nonnegative = {less(x, exprs.sub(exprs.mul(n, more), exprs.mul(n, few)))}, .zero = {}, .alternatives = {}};
  const Expr beyond = exprs.sub(x, exprs.sub(exprs.mul(n, m), exprs.mul(n, few)));
  CHECK(feasibility.ask(region, {beyond}).kind == Answer::Kind::empty);
  CHECK(feasibility.find_point(region, {exprs.sub(x, exprs.mul(n, few))}, {n, m}).kind == Answer::Kind::found);
  CHECK(feasibility.solver().calls() < 100);
}

TEST_CASE("an assumption that shares no variable with a question costs it next to nothing") {
  const auto steps_with = [](int unrelated) {
    ir::ExprContext exprs;
    const auto declare = [&](const std::string& name) {
      return exprs.declare({.name = name, .kind = ir::SymbolKind::extent, .range = {0, 1000}, .congruence = {}});
    };
    const Expr a = declare("a");
    const Expr b = declare("b");
    Feasibility feasibility(exprs);
    feasibility.assume(exprs.sub(b, a));
    for (int i = 0; i < unrelated; ++i)
      feasibility.assume(exprs.sub(declare(fmt::format("s{}", i)), declare(fmt::format("t{}", i))));
    const StepBudget steps(1000000);
    const Region region{.nonnegative = {exprs.sub(a, exprs.constant(5))}, .zero = {}, .alternatives = {}};
    CHECK(feasibility.ask(region, {exprs.sub(exprs.constant(4), b)}).kind == Answer::Kind::empty);
    return steps.taken();
  };
  // A word of 64 of them at a time is passed over, three times at most.
  CHECK(steps_with(6400) - steps_with(0) <= 3 * 6400 / 64);
}

TEST_CASE("the opposite of an assumption is excluded at once, whatever else is assumed of its sizes") {
  const auto steps_with = [](int others) {
    ir::ExprContext exprs;
    const auto declare = [&](const std::string& name) {
      return exprs.declare({.name = name, .kind = ir::SymbolKind::extent, .range = {0, 1000}, .congruence = {}});
    };
    const Expr a = declare("a");
    const Expr b = declare("b");
    Feasibility feasibility(exprs);
    for (int i = 0; i < others; ++i)
      feasibility.assume(exprs.add(exprs.sub(declare(fmt::format("s{}", i)), a), exprs.mul(exprs.constant(i), b)));
    feasibility.assume(exprs.add(exprs.sub(b, a), exprs.constant(7)));
    const Expr goal = exprs.sub(exprs.sub(a, b), exprs.constant(8));
    const Expr possible = exprs.sub(exprs.sub(a, b), exprs.constant(7));
    const StepBudget steps(1000000);
    CHECK(feasibility.ask({}, {goal}).kind == Answer::Kind::empty);
    const std::int64_t taken = steps.taken();
    CHECK(feasibility.ask({}, {possible}).kind == Answer::Kind::found);
    return taken;
  };
  CHECK(steps_with(100) == steps_with(0));
}

TEST_CASE("whether something follows is asked for a limited time: mostly it does not") {
  ir::ExprContext exprs;
  const auto declare = [&](const char* name, std::int64_t least) {
    return exprs.declare({.name = name,
                          .kind = least < 0 ? ir::SymbolKind::dim : ir::SymbolKind::extent,
                          .range = {least, std::int64_t{1} << 47},
                          .congruence = {}});
  };
  const Expr n = declare("n", 0);
  const Expr d = declare("d", -(std::int64_t{1} << 47));
  // Its cases are the values of a factor, one after the other.
  const Expr product = exprs.mul(exprs.mul(n, exprs.sub(n, exprs.constant(1))), d);
  const Expr goal = exprs.sub(exprs.add(n, product), exprs.constant(1073869961));
  Feasibility feasibility(exprs);
  const StepBudget steps(0);
  CHECK(feasibility.ask({}, {goal}, Feasibility::Effort::connected).kind != Answer::Kind::empty);
  CHECK(steps.taken() < limits::kQuestionSteps * 5 / 4);
}

TEST_CASE("a product of a sum is the sum of the products") {
  ir::ExprContext exprs;
  std::vector<Expr> d;
  for (const char* name : {"a", "b", "c", "d"})
    d.push_back(exprs.declare(
        {.name = name, .kind = ir::SymbolKind::dim, .range = {-(Int128{1} << 40), Int128{1} << 40}, .congruence = {}}));
  const Expr ab = exprs.mul(d[0], d[1]);
  const Expr sum = exprs.mul(ab, exprs.sub(exprs.mul(d[2], d[3]), exprs.constant(1)));
  const Expr rest = exprs.sub(exprs.mul(exprs.mul(ab, d[2]), d[3]), ab);
  Feasibility feasibility(exprs);
  for (const int sign : {1, -1}) {
    const Expr apart = exprs.mul(exprs.constant(sign), exprs.sub(sum, rest));
    CHECK(feasibility.ask({}, {exprs.sub(apart, exprs.constant(1))}).kind == Answer::Kind::empty);
    CHECK(feasibility.ask({}, {apart}).kind == Answer::Kind::found);
  }
  CHECK(feasibility.solver().calls() < 50);
}

}  // namespace padlock::solver
