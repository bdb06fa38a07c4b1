#include <string>

#include <doctest/doctest.h>

#include "ir/operation.h"
#include "ir/text/foreign.h"
#include "tests/ir/program_testing.h"

// Spellings of other languages are answered with ours.
namespace padlock::ir {
namespace {

using testing::check_refused;

void refused_statement(const std::string& statement, const std::string& expected) {
  check_refused("program p(x: f32[A], z: f32[A])\n{\n" + statement + "\nreturn y\n}\n", "3:" + expected);
}

void refused_extent(const std::string& extent, const std::string& expected) {
  check_refused("program p(x: f32[A], z: f32[" + extent + "])\n{ y = relu(x) return y }\n", "1:" + expected);
}

TEST_CASE("signs of arithmetic on sizes") {
  refused_extent("A % 2", "31: expected an operator, ',' or ']', found '%'; write 'mod'");
  refused_extent("A / 2", "31: expected an operator, ',' or ']', found '/'; write 'floordiv' or 'ceildiv'");
  refused_extent("A ** 2", "31: expected an operator, ',' or ']', found '**'; write a product");
  check_refused("program p(x: f32[A], z: f32[A // 2])\n{ y = relu(x) return y }\n",
                "2:1: expected an operator, ',' or ']', found '{'; '//' begins a comment: write 'floordiv' to divide");
  check_refused("program p(x: f32[A])\n{\n  y = pad(x, low = [A // 2], high = [0])\n  z = tanhh(x)\n  return y, z\n}\n",
                "4:3: expected an operator, ',' or ']', found 'z'; '//' begins a comment: write 'floordiv' to divide\n"
                "4:7: expected an operation, found 'tanhh'; did you mean 'tanh'?");
}

TEST_CASE("signs of arithmetic on tensors") {
  refused_statement("y = x + z",
                    "7: expected '(', found '+'; write 'add(a, b)', each operation as a statement of its own");
  refused_statement("y = relu(x) * z",
                    "13: expected a statement or 'return', found '*'; write 'mul(a, b)', each "
                    "operation as a statement of its own");
  refused_statement("y = relu(x - z)",
                    "12: expected ',' or ')', found '-'; write 'sub(a, b)', each operation as a statement of its own");
  refused_statement("y = relu(x);", "12: expected a statement or 'return', found ';'; a statement ends without ';'");
  refused_statement("y = x[0]", "6: expected '(', found '['; write 'slice' to take a part of a tensor");
}

TEST_CASE("calls in calls") {
  refused_statement("y = relu(neg(x))",
                    "13: expected ',' or ')', found '('; a call is a statement of its own: t = "
                    "pad(...), then relu(t)");
  check_refused("program p(x: f32[A]) { return relu(x) }",
                "1:35: expected ',' or '}', found '('; a call is a statement of its own: t = pad(...), then relu(t)");
}

TEST_CASE("names in quotes") {
  const auto mode = [](const std::string& word, const std::string& hint) {
    refused_statement("y = pad(x, low = [0], high = [0], mode = " + word + ")",
                      "42: expected a value, a literal or '[', found '" + word + "'; " + hint);
  };
  mode("\"reflect\"", "write reflect without quotes");
  mode("'edge'", "write edge without quotes");
  mode("\"replicate\"", "write 'edge'");
  mode("\"refelct\"", "did you mean 'reflect'?");
  refused_statement("y = relu(\"x\")", "10: expected a value or a literal, found '\"x\"'; write x without quotes");
}

TEST_CASE("types of NumPy, PyTorch and C") {
  const auto type = [](const std::string& theirs, const std::string& ours) {
    check_refused("program p(x: " + theirs + "[A]) { y = relu(x) return y }",
                  "1:14: expected a type or 'dim', found '" + theirs + "'; write " + ours);
    refused_statement("y = cast(x, " + theirs + ")",
                      "13: expected a type as the second operand of 'cast', found '" + theirs + "'; write " + ours);
  };
  type("float32", "'f32'");
  type("int32", "'i32'");
  type("float", "'f32'");
  type("bfloat16", "'bf16'");
  type("uint8", "'u8'");
  type("int", "'i32' or 'i64'");
}

TEST_CASE("modes of PyTorch, NumPy, OpenCV and ONNX") {
  const auto mode = [](const std::string& theirs, const std::string& hint) {
    refused_statement(
        "y = pad(x, low = [0], high = [0], mode = " + theirs + ")",
        "42: expected a mode: constant, edge, reflect, symmetric or wrap, found '" + theirs + "'; " + hint);
  };
  mode("replicate", "write 'edge'");
  mode("circular", "write 'wrap'");
  mode("Reflect", "did you mean 'reflect'?");
  mode("zeros", "write 'constant'");
}

TEST_CASE("operations and arguments of PyTorch, NumPy and JAX") {
  const auto operation = [](const std::string& theirs, const std::string& hint) {
    refused_statement("y = " + theirs + "(x)", "5: expected an operation, found '" + theirs + "'; " + hint);
  };
  operation("concatenate", "write 'concat'");
  operation("ReLU", "did you mean 'relu'?");
  operation("multiply", "write 'mul'");
  refused_statement("y = where(x, x, z)", "5: expected the name of an operation, found 'where'; write 'select'");
  refused_statement("y = max(x, z)", "5: expected the name of an operation, found 'max'; write 'maximum'");
  refused_statement("y = pad(x, low = [0], high = [0], constant_values = 1)",
                    "35: expected 'low', 'high', 'interior', 'mode', 'value' of 'pad', found 'constant_values'; write "
                    "'value'");
  refused_statement("y = pad(x, padding = [1])",
                    "12: expected 'low', 'high', 'interior', 'mode', 'value' of 'pad', found 'padding'; write 'low' "
                    "and 'high'");
  refused_statement("y = clamp(x, min = 0, hi = 1)", "14: expected the name of an argument, found 'min'; write 'lo'");
}

TEST_CASE("what a table answers is a name of ours") {
  for (const char* name : {"concatenate", "where", "multiply", "swish", "clip"}) {
    const std::string hint = foreign_hint(Vocabulary::operation, name);
    REQUIRE(hint.starts_with("; write '"));
    CHECK(op_from_name(hint.substr(9, hint.size() - 10)).has_value());
  }
  CHECK(foreign_hint(Vocabulary::operation, "convolve").empty());
  CHECK(spelling_hint(Vocabulary::type, "bf61") == "; did you mean 'bf16'?");
}

}  // namespace
}  // namespace padlock::ir
