#include "ir/builder.h"

#include <doctest/doctest.h>

#include "tests/ir/program_testing.h"

namespace padlock::ir {
namespace {

using Builder = ProgramBuilder;

syntax::Dim n(Int128 value) { return syntax::integer(value); }

std::string refusal(const Builder& builder) {
  const auto program = builder.build();
  REQUIRE_FALSE(program.has_value());
  CHECK_FALSE(program.error().where.known());
  return program.error().message;
}

TEST_CASE("a built program is the one that its text would be") {
  Builder b("pad_relu");
  const auto B = Builder::symbol("B"), S = Builder::symbol("S");
  const auto x = b.tensor("x", DType::f32, {B, S});
  const auto lo = b.dim("lo");
  b.where(n(1), Comparison::le, B).where(B, Comparison::le, n(4096));
  b.where(S, Comparison::le, n(65536)).where(n(-8), Comparison::le, lo).where(lo, Comparison::le, n(8));
  b.where(S + lo, Comparison::ge, n(0));
  const auto y = b.pad(
      "y", x, {.low = {n(0), lo}, .high = {n(0), mod(-(S + lo), n(8))}, .value = Builder::Operand::literal("-1.5")});
  b.result(b.apply("z", Op::relu, {y}));
  const auto program = b.build();
  REQUIRE_MESSAGE(program.has_value(), (program ? std::string() : program.error().to_string()));
  CHECK(to_string(*program) == to_string(testing::accept(R"(
    program pad_relu(x: f32[B, S], lo: dim)
    where 1 <= B <= 4096, S <= 65536, -8 <= lo <= 8, S + lo >= 0
    {
      y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
      z = relu(y)
      return z
    })")));
}

TEST_CASE("every operation and every operator can be built") {
  Builder b("all");
  const auto S = Builder::symbol("S"), T = Builder::symbol("T");
  const auto x = b.tensor("x", DType::f32, {S, n(4)}, Builder::Dims{T, n(1)});
  const auto s = b.scalar("s", DType::f32);
  const auto one = Builder::Operand::literal(Scalar{DType::f32, 0x3f800000});
  const auto p = b.pad("p", x, {.low = {n(1), n(0)}, .high = {n(2), n(0)}, .interior = {1, 0}, .value = s});
  const auto e = b.pad("e", p, {.low = {n(1), n(0)}, .high = {n(0), n(0)}, .mode = PadMode::wrap});
  const auto c = b.concat("c", {e, e}, 0);
  const auto sl = b.slice("sl", c, {.start = {n(0), n(1)}, .limit = {min(S, n(2)), n(4)}, .step = {1, 2}});
  const auto t = b.transpose("t", sl, {1, 0});
  const auto br = b.broadcast("br", t, {n(3), n(2), max(n(0), min(S, n(2)))}, {1, 2});
  const auto l = b.clamp("l", b.leaky_relu("k", br, one), Builder::Operand::literal("-1"), s);
  const auto q = b.apply("q", Op::lt, {l, one});
  b.result(b.cast("i", b.apply("r", Op::select, {q, l, one}), DType::i32)).result(x);
  b.where(floordiv(S, n(2)) * ceildiv(S, n(3)), Comparison::ge, n(0)).where(S - n(1), Comparison::ge, n(0));
  const auto program = b.build();
  REQUIRE_MESSAGE(program.has_value(), (program ? std::string() : program.error().to_string()));
  CHECK(to_string(*program) == R"(program all(x: f32[S, 4] strides [T, 1], s: f32)
where (S floordiv 2)*((S + 2) floordiv 3) >= 0, S - 1 >= 0
{
  p = pad(x, low = [1, 0], high = [2, 0], interior = [1, 0], value = s)
  e = pad(p, low = [1, 0], high = [0, 0], mode = wrap)
  c = concat(e, e, axis = 0)
  sl = slice(c, start = [0, 1], limit = [min(S, 2), 4], step = [1, 2])
  t = transpose(sl, perm = [1, 0])
  br = broadcast(t, shape = [3, 2, min(S, 2)], axes = [1, 2])
  k = leaky_relu(br, alpha = 1)
  l = clamp(k, lo = -1, hi = s)
  q = lt(l, 1)
  r = select(q, l, 1)
  i = cast(r, i32)
  return i, x
}
)");
  CHECK(to_string(*program) == to_string(testing::accept(to_string(*program))));
}

TEST_CASE("errors name the statement, there being no position") {
  Builder b("p");
  const auto x = b.tensor("x", DType::f32, {Builder::symbol("S")});
  const auto y = b.pad("y", x, {.low = {n(0), n(0)}, .high = {n(0)}});
  b.result(y);
  CHECK(refusal(b) == "statement 'y': expected 1 entries in 'low', one for each axis of 'x', found 2");
}

TEST_CASE("names and literals that no text could have are refused") {
  Builder bad("not a name");
  bad.result(bad.tensor("x", DType::f32, {}));
  CHECK(refusal(bad) == "expected a name for the program that is not reserved, found 'not a name'");
  Builder reserved("p");
  reserved.result(reserved.tensor("where", DType::f32, {}));
  CHECK(refusal(reserved) == "expected a name that is not reserved, found 'where'");
  Builder literal("p");
  const auto x = literal.tensor("x", DType::f32, {});
  literal.result(literal.apply("y", Op::add, {x, Builder::Operand::literal("1.5) return")}));
  CHECK(refusal(literal) ==
        "statement 'y': expected a literal of type f32: a number, inf, nan or bits(...), found '1.5) return'");
  Builder empty("p");
  CHECK(refusal(empty) == "expected at least one result");
  Builder result("p");
  result.result(Builder::Operand::literal("1"));
  CHECK(refusal(result) == "expected a tensor, found the unknown name '1'");
}

TEST_CASE("an expression that doubles itself is refused, not built") {
  Builder b("p");
  auto d = b.dim("d");
  for (int i = 0; i < 200; ++i) d = d * d;
  CHECK(d.too_large);
  CHECK(d.nodes.size() <= syntax::kMaxDimNodes);
  b.result(b.tensor("x", DType::f32, {d}));
  CHECK(refusal(b) == "expected at most 4096 operators in an expression");
  CHECK((-d).too_large);
}

TEST_CASE("a tree that is no expression is an error") {
  Builder b("p");
  syntax::Dim broken;
  broken.nodes.push_back({syntax::DimNode::Kind::add, 2, 0, {}, {}});
  b.result(b.tensor("x", DType::f32, {broken}));
  CHECK_FALSE(b.build().has_value());
  Builder none("p");
  none.result(none.tensor("x", DType::f32, {syntax::Dim{}}));
  CHECK_FALSE(none.build().has_value());
}

}  // namespace
}  // namespace padlock::ir
