// The parts of a pack that need no code: expressions and launch contracts as bytes.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/pack/contract.h"
#include "runtime/pack/expr_table.h"
#include "runtime/pack/pack_header.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

namespace padlock::runtime {
namespace {

using ir::Expr;

/// What the simplifier makes of an expression once more need not be its form; its values are.
bool same_values(const ir::ExprContext& exprs, Expr a, Expr b, testing::Rng& random) {
  for (int draw = 0; draw < 20; ++draw) {
    const std::vector<std::int64_t> values = testing::draw_values(random, exprs);
    const auto x = ir::evaluate(exprs, a, values), y = ir::evaluate(exprs, b, values);
    if (x && (!y || *x != *y)) return false;
  }
  return true;
}

TEST_CASE("expressions are read with the same values, and nearly all as the same handles") {
  const std::uint64_t seed = testing::seed_or(20261122);
  MESSAGE("seed " << seed);
  testing::Rng random(seed);
  // Symbols as a program has them.
  const auto program = ir::parse_program(
      "program p(x: f32[A, B], n: dim, k: dim) where 1 <= A <= 100, B mod 8 == 0, -5 <= n <= 5 "
      "{ y = pad(x, low = [0, 0], high = [0, 0]) return y }");
  REQUIRE(program);
  std::vector<Expr> symbols;
  for (const char* name : {"A", "B", "n", "k"}) symbols.push_back(*program->exprs().find_symbol(name));
  int inner = 0, same = 0, all = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Expr> roots;
    for (int i = 0; i < 4; ++i)
      roots.push_back(testing::draw_tree(random, symbols, 5).build(program->exprs(), symbols));
    ByteWriter writer;
    const auto order = write_exprs(roots, writer);
    REQUIRE(order);
    const std::vector<std::byte> bytes = std::move(writer).take();
    ByteReader reader(bytes, kPack);
    const auto read = read_exprs(*program, reader);
    REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
    CHECK(reader.finish());
    for (const Expr root : roots) {
      const Expr again = (*read)[order->slot(root)];
      same += again == root ? 1 : 0;
      ++all;
      CHECK(same_values(program->exprs(), root, again, random));
      inner += root.operands().empty() ? 0 : 1;
    }
  }
  CHECK(inner > 400);
  CHECK(same > all * 95 / 100);
}

TEST_CASE("expressions that the simplifier may not see are refused") {
  const auto program = ir::parse_program("program p(x: f32[A]) { y = pad(x, low = [0], high = [0]) return y }");
  REQUIRE(program);
  const auto refusal = [&](std::vector<int> numbers) {
    ByteWriter writer;
    for (const int number : numbers) writer.number(number);
    const std::vector<std::byte> bytes = std::move(writer).take();
    ByteReader reader(bytes, kPack);
    const auto read = read_exprs(*program, reader);
    return read ? "" : read.error().message;
  };
  constexpr int kConstant = 0, kSymbol = 1, kProduct = 3, kFloordiv = 4;
  CHECK(refusal({2, kSymbol, 0, kFloordiv, 0, 0}) == "the pack is damaged: the divisor A may not be positive");
  CHECK(refusal({2, kConstant, 0, kFloordiv, 0, 0}) == "the pack is damaged: the divisor 0 may not be positive");
  CHECK(refusal({1, kSymbol, 1}) == "the pack is damaged: expected a number from 0 to 0, found 1");
  CHECK(refusal({1, kFloordiv, 0, 0}) == "the pack is damaged: expected a number from 0 to -1, found 0");
  CHECK(refusal({1, kProduct, 0}) == "the pack is damaged: an operation has no operands");
  CHECK(refusal({1, 9, 0}) == "the pack is damaged: expected a number from 0 to 7, found 9");
}

TEST_CASE("a contract that names a coordinate is not written") {
  const auto program = ir::parse_program("program p(x: f32[A]) { y = pad(x, low = [0], high = [0]) return y }");
  REQUIRE(program);
  abi::KernelVariant variant;
  variant.abi.rows = variant.abi.columns = variant.abi.row_bytes = program->exprs().coordinate(0);
  CHECK(write_contracts({.kernels = {{variant}}}).error().code == Code::internal);
}

}  // namespace
}  // namespace padlock::runtime
