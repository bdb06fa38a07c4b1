#include "ir/expr/product_form.h"

#include <doctest/doctest.h>

#include "ir/program.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

/// Whether the products of the extents of `a` and `b` are shown to be equal, in a program with these constraints.
bool equal(const std::string& where, const std::string& a, const std::string& b) {
  const std::string text = "program p(x: f32[" + a + "], y: f32[" + b +
                           "], B: dim, S: dim, C: dim, w: dim, v: dim) where 0 <= B, 0 <= S, 0 <= C, w >= 1, v >= 1" +
                           where + " { return x }";
  const Result<Program> program = parse_program(text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  Products products(program->exprs(), program->constraints());
  return products.equal(program->value(0).extents(), program->value(1).extents());
}

}  // namespace

TEST_CASE("equal products are seen whatever their factors are") {
  CHECK(equal("", "B, S * 8", "B, S, 8"));
  CHECK(equal("", "B, S, C", "C * S, B"));
  CHECK(equal("", "B * S * C * w * v * 7", "7, v, w, C, S, B"));
  CHECK(equal("", "B, 1, S, 1", "S, B"));
  CHECK(equal("", "S * S + S", "S + 1, S"));
  CHECK(equal("", "0, S", "B, 0"));
  CHECK(!equal("", "B, S", "B, S, 2"));
  CHECK(!equal("", "B, S", "B, C"));
  CHECK(!equal("", "B, S + 1", "B, S"));
}

TEST_CASE("what a remainder rounds up or down to a multiple is one") {
  CHECK(equal("", "S + (-S) mod 8", "S ceildiv 8, 8"));
  CHECK(equal("", "S - S mod 8", "8, S floordiv 8"));
  CHECK(equal("", "B, S + (-S) mod w, C", "B, S ceildiv w, w, C"));
  CHECK(equal("", "S + 3 + (-S - 3) mod w", "(S + 3) ceildiv w, w"));
  CHECK(equal("", "S + (-S) mod 8", "(S + (-S) mod 8) floordiv 8, 8"));
  CHECK(equal("", "S + (-S) mod w, B + (-B) mod v", "S ceildiv w, B ceildiv v, v * w"));
  CHECK(!equal("", "S + S mod 8", "S ceildiv 8, 8"));
  CHECK(!equal("", "S + (-S) mod 8", "S ceildiv 4, 4"));
}

TEST_CASE("a quotient times its divisor is the dividend where a constraint says that nothing is left") {
  CHECK(equal(", S mod 8 == 0", "S, B", "S floordiv 8, B, 8"));
  CHECK(equal(", S mod w == 0", "S, B", "S floordiv w, B, w"));
  CHECK(!equal("", "S, B", "S floordiv 8, B, 8"));
  CHECK(!equal(", S mod 4 == 0", "S, B", "S floordiv 8, B, 8"));
  CHECK(!equal(", S mod w == 0", "S, B", "S floordiv v, B, v"));
}
