#include <string>

#include <doctest/doctest.h>

#include "tests/ir/program_testing.h"

// The rules of each operation: operands, types, shapes, what is refused and what is left to binding.
namespace padlock::ir {
namespace {

using testing::accept;
using testing::check_refused;
using testing::requirements_of;

constexpr std::string_view kHead =
    "program p(x: f32[S, 3], y: f32[T, 3], r: f32[3], o: f32[1, 3], z: f32[], i: i32[S, 3], u: u8[S], b: bool[S, 3], "
    "s: f32, h: f16, k: dim) where -9 <= k <= 9, S <= 99, T <= 99\n{\n";

/// A program of the parameters above with these statements, each on a line of its own from line 3 on.
std::string with(const std::string& statements) { return std::string(kHead) + statements + "\nreturn x }"; }

/// "DTYPE[extents]" of the last statement.
std::string type_of(const std::string& statements) {
  const Program program = accept(with(statements));
  const Value& value = program.values().back();
  std::string text;
  for (const Expr e : value.extents()) text += (text.empty() ? "" : ", ") + to_string(program.exprs(), e);
  return std::string(name_of(value.dtype)) + "[" + text + "]";
}

std::string implied(const std::string& statements) {
  return requirements_of(accept(with(statements)), Requirement::Kind::statement);
}

void refused(const std::string& statements, std::string_view expected) { check_refused(with(statements), expected); }

TEST_CASE("elementwise: types of the result") {
  for (const char* op : {"relu", "neg", "abs", "sign"}) {
    CHECK(type_of(std::string("a = ") + op + "(x)") == "f32[S, 3]");
    CHECK(type_of(std::string("a = ") + op + "(u)") == "u8[S]");
    refused(std::string("a = ") + op + "(b)", std::string("3:") + std::to_string(std::string(op).size() + 6) +
                                                  ": expected a type other than bool for '" + op +
                                                  "', found 'b' of type bool");
  }
  for (const char* op : {"sqrt", "floor", "ceil", "round"})
    CHECK(type_of(std::string("a = ") + op + "(x)") == "f32[S, 3]");
  for (const char* op : {"exp", "log", "tanh", "sigmoid", "erf", "gelu", "gelu_tanh", "silu", "softplus", "rsqrt"})
    CHECK(type_of(std::string("a = ") + op + "(x)") == "f32[S, 3]");
  refused("a = exp(i)", "3:9: expected f32, f16 or bf16 for 'exp', found 'i' of type i32");
  refused("w = cast(x, f64) a = gelu(w)", "3:27: expected f32, f16 or bf16 for 'gelu', found 'w' of type f64");
  refused("a = round(i)", "3:11: expected a float type for 'round', found 'i' of type i32");
  refused("a = sqrt(i)", "3:10: expected a float type for 'sqrt', found 'i' of type i32");
  for (const char* op : {"add", "sub", "mul", "maximum", "minimum"}) {
    CHECK(type_of(std::string("a = ") + op + "(x, r)") == "f32[S, 3]");
    CHECK(type_of(std::string("a = ") + op + "(i, -5)") == "i32[S, 3]");
  }
  refused("a = add(b, b)", "3:9: expected a type other than bool for 'add', found 'b' of type bool");
  CHECK(type_of("a = div(1, x)") == "f32[S, 3]");
  refused("a = div(i, i)", "3:9: expected a float type for 'div', found 'i' of type i32");
  for (const char* op : {"lt", "le", "gt", "ge", "eq", "ne"}) {
    CHECK(type_of(std::string("a = ") + op + "(x, 1)") == "bool[S, 3]");
    CHECK(type_of(std::string("a = ") + op + "(b, false)") == "bool[S, 3]");
  }
  CHECK(type_of("a = and(b, true)") == "bool[S, 3]");
  CHECK(type_of("a = or(b, b)") == "bool[S, 3]");
  CHECK(type_of("a = not(b)") == "bool[S, 3]");
  refused("a = not(i)", "3:9: expected bool for 'not', found 'i' of type i32");
  refused("a = and(x, b)", "3:9: expected bool for 'and', found 'x' of type f32");
  CHECK(type_of("a = leaky_relu(i, alpha = 2)") == "i32[S, 3]");
  CHECK(type_of("a = clamp(x, lo = -1, hi = s)") == "f32[S, 3]");
  refused("a = clamp(b, lo = 0, hi = 1)", "3:11: expected a type other than bool for 'clamp', found 'b' of type bool");
  CHECK(type_of("a = select(b, i, 0)") == "i32[S, 3]");
  CHECK(type_of("a = select(true, b, false)") == "bool[S, 3]");
  refused("a = select(i, x, x)", "3:12: expected the type bool, found 'i' of type i32; cast(i, bool) converts");
  for (const DType dtype : kAllDTypes)
    CHECK(type_of("a = cast(b, " + std::string(name_of(dtype)) + ")") == std::string(name_of(dtype)) + "[S, 3]");
}

TEST_CASE("operands are of one type, nothing is promoted") {
  refused("a = add(x, i)", "3:12: expected the type f32, found 'i' of type i32; cast(i, f32) converts");
  refused("a = add(h, s)", "3:12: expected the type f16, found 's' of type f32; cast(s, f16) converts");
  refused("a = select(b, x, i)", "3:18: expected the type f32, found 'i' of type i32; cast(i, f32) converts");
  refused("a = clamp(x, lo = h, hi = 1)", "3:19: expected the type f32, found 'h' of type f16; cast(h, f32) converts");
  refused("a = leaky_relu(x, alpha = h)", "3:27: expected the type f32, found 'h' of type f16; cast(h, f32) converts");
  refused("a = pad(x, low = [0, 0], high = [0, 0], value = h)", "3:49: expected the type f32, found 'h' of type f16");
}

TEST_CASE("a fill is a literal, a scalar or a tensor that broadcasts to the result") {
  const std::string pad = "a = pad(x, low = [1, 0], high = [k, 0], value = ";
  CHECK(type_of(pad + "r)") == "f32[S + k + 1, 3]");
  CHECK(type_of(pad + "o)") == "f32[S + k + 1, 3]");
  CHECK(type_of(pad + "z)") == "f32[S + k + 1, 3]");
  refused(pad + "i)", "3:49: expected a tensor of type f32 like 'x', found 'i' of type i32");
  refused("a = pad(r, low = [1], high = [0], value = o)",
          "3:43: expected a fill of rank at most 1, found 'o' of rank 2");
  refused("a = pad(x, low = [0, 1], high = [0, 0], value = r)",
          "3:49: expected equal extents of 'r' and 'a' on axis 1, found 3 and 4");
  CHECK(implied(pad + "y)").find("extents of 'y' and 'a' on axis 0") != std::string::npos);
}

TEST_CASE("reshape: as many elements") {
  CHECK(type_of("a = reshape(x, shape = [3, S])") == "f32[3, S]");
  CHECK(type_of("a = reshape(x, shape = [S, 1, 3, 1])") == "f32[S, 1, 3, 1]");
  CHECK(type_of("a = reshape(x, shape = [3*S])") == "f32[3*S]");
  CHECK(type_of("a = reshape(z, shape = [1, 1])") == "f32[1, 1]");
  CHECK(type_of("a = reshape(o, shape = [3])") == "f32[3]");
  CHECK(implied("a = reshape(x, shape = [3, S])").empty());
  CHECK(implied("p = pad(x, low = [0, 0], high = [-S mod 8, 0]) a = reshape(p, shape = [S ceildiv 8, 8, 3])").empty());
  CHECK(implied("a = reshape(x, shape = [T, 3])") ==
        "numbers of elements of 'x' and 'shape' (statement 'a'): 3*S == 3*T\n");
  refused("a = reshape(r, shape = [2])", "3:24: expected equal numbers of elements of 'r' and 'shape', found 3 and 2");
  refused("a = reshape(r, shape = [-1])", "3:25: expected shape on axis 0 >= 0, found -1");
}

TEST_CASE("pad_adjoint: the extents of the pad's operand") {
  const std::string frame = "a = pad_adjoint(x, extent = [S - 2, 1], low = [1, 1], high = [1, 1], mode = ";
  CHECK(type_of("a = pad_adjoint(x, extent = [S, 1], low = [0, 1], high = [0, 1], mode = edge)") == "f32[S, 1]");
  CHECK(type_of("a = pad_adjoint(u, extent = [S + k], low = [-k], high = [0])") == "u8[S + k]");
  CHECK(type_of("a = pad_adjoint(x, extent = [S, 2], low = [0, 0], high = [0, 0], interior = [0, 1])") == "f32[S, 2]");
  CHECK(implied("a = pad_adjoint(x, extent = [S, 1], low = [0, 1], high = [0, 1], mode = edge)").empty());
  CHECK(implied("a = pad_adjoint(x, extent = [T, 3], low = [k, 0], high = [0, 0])") ==
        "padded extent on axis 0 (statement 'a'): T + k >= 0\nextents of 'x' and 'pad' on axis 0 (statement 'a'): S == "
        "T + k\n");
  CHECK(implied(frame + "reflect)") ==
        "extent on axis 0 (statement 'a'): S - 2 >= 0\n"
        "elements that mode reflect needs of 'extent' on axis 0 (statement 'a'): min(S, 1) <= S - 2\n");
  refused("a = pad_adjoint(b, extent = [S, 3], low = [0, 0], high = [0, 0])",
          "3:17: expected a type other than bool for 'pad_adjoint', found 'b' of type bool");
  refused("a = pad_adjoint(r, extent = [2], low = [0], high = [0])",
          "3:17: expected equal extents of 'r' and 'pad' on axis 0, found 3 and 2");
  refused("a = pad_adjoint(r, extent = [-1], low = [4], high = [0])", "3:30: expected extent on axis 0 >= 0, found -1");
  refused("a = pad_adjoint(r, extent = [3, 1], low = [0], high = [0])",
          "3:29: expected 1 entries in 'extent', one for each axis of 'r', found 2");
  refused("a = pad_adjoint(r, low = [0], high = [0])", "3:5: expected 'extent' among the arguments of 'pad_adjoint'");
  refused("a = pad_adjoint(r, extent = [0], low = [3], high = [0], mode = wrap)",
          "3:41: expected elements that mode wrap needs of 'extent' on axis 0 <= 0, found 1");
  refused("a = pad_adjoint(r, extent = [3], low = [0], high = [0], mode = edge, value = 1)",
          "3:70: expected 'extent', 'low', 'high', 'interior', 'mode' of 'pad_adjoint', found 'value'");
}

TEST_CASE("iota: the coordinates of a shape in a type") {
  CHECK(type_of("a = iota(i32, shape = [S, 3], axis = 1)") == "i32[S, 3]");
  CHECK(type_of("a = iota(f16, shape = [4], axis = 0)") == "f16[4]");
  refused("a = iota(bool, shape = [S], axis = 0)", "3:10: expected a type other than bool for 'iota'");
  refused("a = iota(x, shape = [S], axis = 0)", "3:10: expected a type as the first operand of 'iota', found 'x'");
  refused("a = iota(shape = [S], axis = 0)", "3:5: expected 1 operand of 'iota' (a type), found 0");
  refused("a = iota(i32, shape = [S], axis = 1)", "3:35: expected an integer literal in [0, 1) for 'axis', found '1'");
  refused("a = iota(i32, shape = [], axis = 0)", "3:34: expected an integer literal in [0, 0) for 'axis', found '0'");
}

TEST_CASE("take: elements where an index says, of adjacent axes") {
  CHECK(type_of("a = take(x, i, axis = 0)") == "f32[S, 3, 3]");
  CHECK(type_of("a = take(x, i, axis = 1)") == "f32[S, S, 3]");
  CHECK(type_of("a = take(u, i, axes = [0])") == "u8[S, 3]");
  CHECK(type_of("a = take(x, i, i, axes = [0, 1], value = nan)") == "f32[S, 3]");
  CHECK(type_of("a = take(x, i, i, axes = [0, 1], value = x)") == "f32[S, 3]");
  CHECK(type_of("a = take(x, i, axis = 1, value = f32(S + 1))") == "f32[S, S, 3]");
  refused("a = take(x, axis = 0)",
          "3:5: expected 2 or more operands of 'take' (a tensor and an index for each axis), found 1");
  refused("a = take(z, i, axis = 0)", "3:10: expected a tensor of rank at least 1, found 'z' of rank 0");
  refused("a = take(x, u, axis = 0)", "3:13: expected i32 or i64 for 'take', found 'u' of type u8");
  refused("a = take(x, 1, axis = 0)", "3:13: expected a tensor, found the literal '1'");
  refused("a = take(x, i64(S), axis = 0)", "3:13: expected a tensor, found a size of type i64");
  refused("a = take(x, i)", "3:5: expected either 'axis' or 'axes' among the arguments of 'take', found none");
  refused("a = take(x, i, axis = 0, axes = [0])",
          "3:5: expected either 'axis' or 'axes' among the arguments of 'take', found both");
  refused("a = take(x, i, i, axis = 0)", "3:19: expected 'axes', one for each of 2 indices, found 'axis'");
  refused("a = take(x, i, axis = 2)", "3:23: expected an integer literal in [0, 2) for 'axis', found '2'");
  refused("a = take(x, i, axes = [0, 1])", "3:23: expected 1 entries in 'axes', one for each index, found 2");
  refused("a = take(x, i, i, axes = [1, 0])", "3:30: expected adjacent axes in their order in 'axes', found 0 after 1");
  refused("a = take(x, i, dim = 0)", "3:16: expected the name of an argument, found 'dim'; write 'axis'");
  refused("a = take(x, i, axis = 0, value = h)", "3:34: expected the type f32, found 'h' of type f16");
  refused("a = take(x, i, axis = 0, fill = 1)",
          "3:26: expected 'axis', 'axes', 'value' of 'take', found 'fill'; write 'value'");
  refused("a = gather(x, i, axis = 0)", "3:5: expected an operation, found 'gather'; write 'take'");
  refused("a = takes(x, i, axis = 0)", "3:5: expected an operation, found 'takes'; did you mean 'take'?");
}

TEST_CASE("take: indices are of one type, and broadcast") {
  const Program program =
      accept("program p(x: f32[A, B, C], i: i64[N, 1], j: i64[M]) { y = take(x, i, j, axes = [1, 2]) return y }");
  CHECK(to_string(program).find("y = take(x, i, j, axes = [1, 2])\n") != std::string::npos);
  const Value& y = program.values().back();
  REQUIRE(y.rank() == 3);
  CHECK(to_string(program.exprs(), y.extents()[1]) == "N");
  CHECK(to_string(program.exprs(), y.extents()[2]) == "M");
  const auto mixed =
      parse_program("program p(x: f32[A, B], i: i64[N], j: i32[N]) { y = take(x, i, j, axes = [0, 1]) return y }");
  REQUIRE(!mixed);
  CHECK(mixed.error().message == "expected the type i64, found 'j' of type i32");
}

TEST_CASE("search: integers of one type among those of rank 1") {
  const std::string from = "program p(a: i32[N], x: i32[B, S], w: i64[S], u: u8[S], m: i32[2, 2]) { y = ";
  const auto of = [&](const char* statement) {
    const auto program = parse_program(from + statement + " return y }");
    return program ? std::string(name_of(program->values().back().dtype)) : program.error().message;
  };
  CHECK(of("search(a, x)") == "i64");
  CHECK(of("search(w, w)") == "i64");
  CHECK(of("search(a, w)") == "expected the type i32, found 'w' of type i64");
  CHECK(of("search(u, u)") == "expected i32 or i64 for 'search', found 'u' of type u8");
  CHECK(of("search(m, x)") == "expected a tensor of rank 1, found 'm' of rank 2");
  CHECK(of("search(a)") == "expected 2 operands of 'search' (ascending integers, and what to search for), found 1");
  CHECK(of("searchsorted(a, x)") == "expected an operation, found 'searchsorted'; write 'search'");
}

TEST_CASE("a size is an operand where it states a type") {
  CHECK(type_of("a = add(x, f32(S + 1))") == "f32[S, 3]");
  CHECK(type_of("a = add(i32(S), 1)") == "i32[]");
  CHECK(type_of("a = clamp(x, lo = f32(-k), hi = f32(min(S, T)))") == "f32[S, 3]");
  CHECK(type_of("a = cast(i64(S), bool)") == "bool[]");
  refused("a = add(x, i64(S))", "3:12: expected the type f32, found 'i64( )' of type i64");
  refused("a = add(x, f32(Q))",
          "3:16: expected a symbol, found the unknown name 'Q' (a symbol is declared by standing "
          "alone as an extent or stride of a tensor parameter, or as a dim parameter)");
  refused("a = add(x, f32(S + ))", "3:20: expected an integer expression, found ')'");
  refused("a = add(x, f32(S floordiv k))",
          "3:27: expected a divisor that is provably positive, found k; a constraint "
          "such as k >= 1, stated before its use, would do");
  const Program program = accept(with("a = add(x, f32(S + 1 - 1))"));
  CHECK(to_string(program).find("a = add(x, f32(S))\n") != std::string::npos);
  const Program number = accept(with("a = add(x, f32(S - S + 3))"));
  CHECK(to_string(number).find("a = add(x, f32(3 + 0))\n") != std::string::npos);
}

TEST_CASE("literals take the type of the other operands") {
  refused("a = add(1, 2)", "3:9: expected an operand of 'add' that has a type, found literals alone: 'f32(1)' has one");
  refused("a = cast(1, f32)",
          "3:10: expected an operand of 'cast' that has a type, found literals alone: 'f32(1)' has one");
  refused("a = not(true)", "3:9: expected an operand of 'not' that has a type, found literals alone: 'f32(1)' has one");
  refused("a = select(b, 1, 2)",
          "3:15: expected an operand of 'select' that has a type, found literals alone: 'f32(1)' has one");
  refused("a = add(i, 1.5)", "3:12: expected a literal of type i32: an integer in its range or bits(...), found '1.5'");
  refused("a = add(u, 256)", "3:12: expected an integer of type u8 in [0, 255], found '256'");
  refused("a = add(x, 1e39)", "3:12: expected a literal that is finite in f32, found '1e39', which rounds to infinity");
  refused("a = pad(u, low = [0], high = [0], value = -1)",
          "3:43: expected an integer of type u8 in [0, 255], found '-1'");
  refused("a = eq(b, 2)", "3:11: expected a literal of type bool: true, false, 0 or 1, found '2'");
  refused("a = add(x, f32)", "3:12: expected a value or a literal, found the type 'f32'");
  CHECK(type_of("a = add(f32(1), 2)") == "f32[]");
  CHECK(type_of("a = select(b, f32(0.0), -inf)") == "f32[S, 3]");
  CHECK(type_of("a = cast(u8(200), f16)") == "f16[]");
  CHECK(type_of("a = add(x, f32(1))") == "f32[S, 3]");
  CHECK(type_of("a = pad(u, low = [0], high = [0], value = u8(7))") == "u8[S]");
  refused("a = add(x, f16(1))", "3:12: expected the type f32, found '1' of type f16");
  refused("a = add(f32(1), f16(1))", "3:17: expected the type f32, found '1' of type f16");
  refused("a = add(f32(1), x, 2)", "3:5: expected 2 operands of 'add', found 3");
  refused("a = sqrt(i32(1))", "3:10: expected a float type for 'sqrt', found '1' of type i32");
  refused("a = add(u8(256), 1)", "3:9: expected an integer of type u8 in [0, 255], found '256'");
  refused("a = clamp(x, lo = i32(1), hi = 1)", "3:19: expected the type f32, found '1' of type i32");
  refused("a = add(x, f32(s))",
          "3:12: expected a literal or a size in 'f32( )', found the scalar 's'; write 'cast(s, f32)'");
  CHECK(type_of("a = add(1, s)") == "f32[]");
  CHECK(type_of("a = clamp(1, lo = s, hi = 2)") == "f32[]");
  CHECK(type_of("a = relu(h)") == "f16[]");
  const Program program = accept(with("a = clamp(x, lo = -0, hi = bits(0x7fc00001))"));
  const auto& operands = program.values().back().operands;
  CHECK(std::get<Scalar>(operands.at(1)) == Scalar{DType::f32, 0x80000000});
  CHECK(std::get<Scalar>(operands.at(2)) == Scalar{DType::f32, 0x7fc00001});
}

TEST_CASE("a fill, alpha, lo and hi are literals or run-time scalars") {
  refused("a = clamp(x, lo = z, hi = 1)", "3:19: expected a literal or a scalar parameter, found the tensor 'z'");
  refused("a = leaky_relu(x, alpha = x)", "3:27: expected a literal or a scalar parameter, found the tensor 'x'");
  refused("a = pad(x, low = [0, 0], high = [0, 0], value = k)",
          "3:49: expected a value or a literal, found the symbol 'k'");
  const Program program = accept(with("a = pad(x, low = [0, 0], high = [0, 0])"));
  CHECK(std::get<Scalar>(program.values().back().operands.at(1)) == Scalar{DType::f32, 0});
}

TEST_CASE("operands broadcast where the extent is literally 1 or missing") {
  CHECK(type_of("a = add(x, r)") == "f32[S, 3]");
  CHECK(type_of("a = add(o, x)") == "f32[S, 3]");
  CHECK(type_of("a = add(z, x)") == "f32[S, 3]");
  CHECK(type_of("a = add(s, r)") == "f32[3]");
  CHECK(type_of("a = add(x, 1)") == "f32[S, 3]");
  CHECK(type_of("c = slice(x, start = [S - 1, 0], limit = [S, 3])\na = add(c, y)") == "f32[T, 3]");
  CHECK(implied("a = add(x, y)") == "extents of 'x' and 'y' on axis 0 (statement 'a'): S == T\n");
  CHECK(type_of("c = pad(x, low = [7 - S, 0], high = [0, 0])\na = add(x, c)") == "f32[7, 3]");
  refused("c = pad(r, low = [1], high = [0])\na = add(x, c)",
          "4:12: expected equal extents of 'x' and 'c' on axis 1, found 3 and 4");
  refused("c = pad(x, low = [1, 0], high = [0, 0])\na = add(x, c)",
          "4:12: expected equal extents of 'x' and 'c' on axis 0, found S and S + 1");
  refused("c = pad(x, low = [1, 0], high = [0, 0])\na = select(b, x, c)",
          "4:18: expected equal extents of 'b' and 'c' on axis 0, found S and S + 1");
  // An equality that a constraint states is shown, and asked of no binding.
  const Program program = accept("program p(x: f32[S], y: f32[T]) where S == T { a = add(x, y) return a }");
  CHECK(requirements_of(program, Requirement::Kind::statement).empty());
}

TEST_CASE("pad: extents") {
  CHECK(type_of("a = pad(x, low = [k, 0], high = [1, -1])") == "f32[S + k + 1, 2]");
  CHECK(type_of("a = pad(x, low = [0, 0], high = [0, 0], interior = [0, 2])") == "f32[S, 7]");
  CHECK(type_of("a = pad(u, low = [0], high = [0], interior = [2])") == "u8[S + 2*max(S - 1, 0)]");
  CHECK(type_of("a = pad(z, low = [], high = [])") == "f32[]");
  CHECK(type_of("a = pad(r, low = [-1], high = [-2])") == "f32[0]");
  CHECK(implied("a = pad(x, low = [k, 0], high = [1, 0])") ==
        "padded extent on axis 0 (statement 'a'): S + k + 1 >= 0\n");
  CHECK(implied("a = pad(x, low = [1, 0], high = [2, 0])").empty());
  refused("a = pad(x, low = [0, -2], high = [0, -2])", "3:22: expected padded extent on axis 1 >= 0, found -1");
  refused("a = pad(x, low = [-99, 0], high = [-1, 0])", "3:19: expected padded extent on axis 0 >= 0, found S - 100");
}

TEST_CASE("pad: modes") {
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"}) {
    const std::string tail = std::string(", mode = ") + mode;
    CHECK(implied("a = pad(r, low = [5], high = [-2]" + tail + ")").empty());
    CHECK(implied("a = pad(u, low = [0], high = [0]" + tail + ")").empty());
    CHECK(implied("a = pad(u, low = [2], high = [0]" + tail + ")") ==
          std::string("elements that mode ") + mode + " needs of 'u' on axis 0 (statement 'a'): 1 <= S\n");
    CHECK(implied("a = pad(u, low = [-S], high = [0]" + tail + ")").empty());
    refused("a = pad(u, low = [0], high = [0], interior = [0]" + tail + ")",
            std::string("3:35: expected no 'interior' in mode ") + mode + ": it is for mode constant");
    refused("a = pad(u, low = [0], high = [0], value = 0" + tail + ")",
            std::string("3:35: expected no 'value' in mode ") + mode + ": it is for mode constant");
    refused("c = slice(r, start = [1], limit = [1])\na = pad(c, low = [1], high = [0]" + tail + ")",
            std::string("4:19: expected elements that mode ") + mode + " needs of 'c' on axis 0 <= 0, found 1");
  }
  CHECK(accept(with("a = pad(x, low = [1, 0], high = [0, 0], mode = constant, value = inf)"))
            .values()
            .back()
            .operands.size() == 2);
  CHECK(accept(with("a = pad(r, low = [1], high = [0], mode = wrap)")).values().back().operands.size() == 1);
  refused("a = pad(x, low = [0, 0], high = [0, 0], mode = mirror)",
          "3:48: expected a mode: constant, edge, reflect, symmetric or wrap, found 'mirror'; write 'reflect', or "
          "'symmetric' where the edge repeats");
  refused("a = pad(x, low = [0, 0], high = [0, 0], mode = 1)",
          "3:48: expected a mode: constant, edge, reflect, symmetric or wrap");
}

TEST_CASE("pad: lists") {
  refused("a = pad(x, low = [0], high = [0, 0])",
          "3:18: expected 2 entries in 'low', one for each axis of 'x', found 1");
  refused("a = pad(x, low = [0, 0], high = [0, 0], interior = [1])",
          "3:52: expected 2 entries in 'interior', one for each axis of 'x', found 1");
  refused("a = pad(u, low = [0], high = [0], interior = [-1])",
          "3:47: expected integer literals of at least 0 in 'interior', found an expression");
  refused("a = pad(u, low = [0], high = [0], interior = [k])",
          "3:47: expected integer literals of at least 0 in 'interior', found 'k'");
  refused("a = pad(u, low = [0], high = [0], interior = [9223372036854775808])",
          "3:47: expected integer literals of at least 0 in 'interior', found 9223372036854775808");
  refused("a = pad(u, low = [q], high = [0])",
          "3:19: expected a symbol, found the unknown name 'q' (a symbol is declared by standing alone as an extent or "
          "stride of "
          "a tensor parameter, or as a dim parameter)");
  refused("a = pad(u, low = [18446744073709551616], high = [0])",
          "3:19: expected a value that fits 64 bits, found 18446744073709551616");
}

TEST_CASE("slice") {
  CHECK(type_of("a = slice(x, start = [k, 1], limit = [S, 3])") == "f32[S - k, 2]");
  CHECK(type_of("a = slice(r, start = [0], limit = [3], step = [2])") == "f32[2]");
  CHECK(type_of("a = slice(u, start = [1], limit = [S], step = [3])") == "u8[(S + 1) floordiv 3]");
  CHECK(implied("a = slice(u, start = [k], limit = [S - k])") ==
        "start on axis 0 (statement 'a'): k >= 0\nstart on axis 0 (statement 'a'): k <= S - k\n"
        "limit on axis 0 (statement 'a'): S - k <= S\n");
  CHECK(implied("a = slice(x, start = [0, 3], limit = [S, 3])").empty());
  refused("a = slice(r, start = [-1], limit = [3])", "3:23: expected start on axis 0 >= 0, found -1");
  refused("a = slice(r, start = [2], limit = [1])", "3:23: expected start on axis 0 <= 1, found 2");
  refused("a = slice(r, start = [2], limit = [4])", "3:36: expected limit on axis 0 <= 3, found 4");
  refused("a = slice(u, start = [0], limit = [S + 1])", "3:36: expected limit on axis 0 <= S, found S + 1");
  refused("a = slice(r, start = [0], limit = [3], step = [0])",
          "3:48: expected integer literals of at least 1 in 'step', found 0");
  refused("a = slice(r, start = [0])", "3:5: expected 'limit' among the arguments of 'slice'");
}

TEST_CASE("concat") {
  CHECK(type_of("a = concat(x, y, axis = 0)") == "f32[S + T, 3]");
  CHECK(type_of("a = concat(x, axis = 1)") == "f32[S, 3]");
  CHECK(type_of("a = concat(x, x, x, axis = 1)") == "f32[S, 9]");
  CHECK(implied("a = concat(x, y, axis = 1)") == "extents of 'x' and 'y' on axis 0 (statement 'a'): S == T\n");
  refused("a = concat(axis = 0)", "3:5: expected one or more operands of 'concat', found 0");
  refused("a = concat(z, axis = 0)", "3:12: expected tensors of rank at least 1, found 'z' of rank 0");
  refused("a = concat(x, i, axis = 0)", "3:15: expected a tensor of type f32 like 'x', found 'i' of type i32");
  refused("a = concat(x, r, axis = 0)", "3:15: expected a tensor of rank 2 like 'x', found 'r' of rank 1");
  refused("c = pad(x, low = [1, 1], high = [0, 0])\na = concat(x, c, axis = 0)",
          "4:15: expected equal extents of 'x' and 'c' on axis 1, found 3 and 4");
  for (const char* axis : {"2", "-1", "1.0", "k", "true", "bits(0x0)"})
    refused(std::string("a = concat(x, y, axis = ") + axis + ")",
            std::string("3:25: expected an integer literal in [0, 2) for 'axis', found '") + axis + "'");
  refused("a = concat(x, y, axis = [0])", "3:25: expected no list for 'axis'");
  refused("a = concat(x, s, axis = 0)", "3:15: expected a tensor, found the scalar 's'");
}

TEST_CASE("transpose") {
  CHECK(type_of("a = transpose(x, perm = [1, 0])") == "f32[3, S]");
  CHECK(type_of("a = transpose(z, perm = [])") == "f32[]");
  refused("a = transpose(x, perm = [0])", "3:25: expected 2 entries in 'perm', one for each axis of 'x', found 1");
  refused("a = transpose(x, perm = [0, 2])", "3:29: expected integer literals in [0, 2) in 'perm', found 2");
  refused("a = transpose(x, perm = [1, 1])", "3:29: expected axes that differ in 'perm', found 1 again");
}

TEST_CASE("broadcast") {
  CHECK(type_of("a = broadcast(r, shape = [S, 3, T], axes = [1])") == "f32[S, 3, T]");
  CHECK(type_of("a = broadcast(o, shape = [3, S], axes = [1, 0])") == "f32[3, S]");
  CHECK(type_of("a = broadcast(z, shape = [2, S], axes = [])") == "f32[2, S]");
  CHECK(type_of("a = broadcast(z, shape = [], axes = [])") == "f32[]");
  CHECK(implied("a = broadcast(u, shape = [T, k], axes = [0])") ==
        "shape on axis 1 (statement 'a'): k >= 0\nextents of 'u' and 'shape' on axis 0 (statement 'a'): S == T\n");
  refused("a = broadcast(r, shape = [4], axes = [0])",
          "3:39: expected equal extents of 'r' and 'shape' on axis 0, found 3 and 4");
  refused("a = broadcast(r, shape = [3, -1], axes = [0])", "3:30: expected shape on axis 1 >= 0, found -1");
  refused("a = broadcast(x, shape = [S, 3], axes = [0, 0])",
          "3:45: expected axes that differ in 'axes', found 0 again");
  refused("a = broadcast(r, shape = [3], axes = [1])", "3:39: expected integer literals in [0, 1) in 'axes', found 1");
  refused("a = broadcast(r, shape = [3], axes = [])",
          "3:38: expected 1 entries in 'axes', one for each axis of 'r', found 0");
}

TEST_CASE("movement takes tensors") {
  refused("a = pad(1, low = [], high = [])", "3:9: expected a tensor, found the literal '1'");
  refused("a = slice(s, start = [], limit = [])", "3:11: expected a tensor, found the scalar 's'");
  refused("a = transpose(S, perm = [])", "3:15: expected a tensor, found the symbol 'S'");
  refused("a = transpose(f32, perm = [])", "3:15: expected a tensor, found the type 'f32'");
}

TEST_CASE("arguments: the right ones, once, of the right form") {
  refused("a = foo(x)", "3:5: expected an operation, found 'foo'");
  refused("a = relu()", "3:5: expected 1 operand of 'relu', found 0");
  refused("a = add(x)", "3:5: expected 2 operands of 'add', found 1");
  refused("a = cast(x)", "3:5: expected 2 operands of 'cast' (a value and a type), found 1");
  refused("a = cast(x, i)", "3:13: expected a type as the second operand of 'cast', found 'i'");
  refused("a = leaky_relu(x, 1)", "3:5: expected 1 operand of 'leaky_relu', found 2");
  refused("a = relu(x, low = [0])", "3:13: expected no named argument of 'relu', found 'low'");
  refused("a = pad(x, low = [0, 0], hi = [0, 0])",
          "3:26: expected 'low', 'high', 'interior', 'mode', 'value' of 'pad', found 'hi'");
  refused("a = pad(x, low = [0, 0], low = [0, 0])", "3:26: expected 'low' once, found it again");
  refused("a = pad(x, high = [0, 0])", "3:5: expected 'low' among the arguments of 'pad'");
  refused("a = pad(x, low = 0, high = [0, 0])", "3:18: expected a list in brackets for 'low'");
  refused("a = pad(x, low = [0, 0], high = [0, 0], mode = [0])", "3:48: expected no list for 'mode'");
  CHECK(type_of("a = pad(x, value = 1, high = [0, 0], low = [1, 0])") == "f32[S + 1, 3]");
}

}  // namespace
}  // namespace padlock::ir
