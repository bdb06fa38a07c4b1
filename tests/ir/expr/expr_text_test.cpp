#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/program.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

using namespace padlock;
using namespace padlock::ir;

// The text of an expression, read as a constraint of a program with the same symbols, is the same expression: its
// text, which is made from the structure alone, is the same again.
TEST_CASE("random expressions survive their text") {
  const std::uint64_t seed = testing::seed_or(5);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  int read = 0, refused = 0;
  for (int round = 0; round < 600; ++round) {
    ExprContext c;
    std::vector<Expr> symbols;
    std::string parameters, bounds;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t lo = i < 2 ? 1 : -random.between(0, 1 << 20), hi = std::int64_t{1} << random.between(1, 40);
      const std::string name = fmt::format("s{}", i);
      symbols.push_back(c.declare({name, SymbolKind::dim, {lo, hi}, {}}));
      parameters += name + ": dim, ";
      bounds += fmt::format("{} <= {} <= {}, ", lo, name, hi);
    }
    const Expr e = testing::draw_tree(random, symbols, static_cast<int>(random.between(1, 5))).build(c, symbols);
    const std::string text = to_string(c, e);
    const auto program = parse_program(
        fmt::format("program p({}z: dim, x: f32[]) where {}{} <= z {{ return x }}", parameters, bounds, text));
    if (!program) {  // a constant that fits no 64 bits, say
      ++refused;
      continue;
    }
    ++read;
    CAPTURE(seed);
    CHECK(to_string(program->exprs(), program->constraints().back().lhs) == text);
  }
  MESSAGE("read back ", read, ", refused ", refused);
  CHECK(refused * 5 < read);
}
