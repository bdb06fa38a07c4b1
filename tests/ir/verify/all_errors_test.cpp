#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "ir/text/syntax.h"
#include "support/messages/error_list.h"
#include "tests/ir/program_testing.h"

// Each fault of a text is reported once, and nothing else is reported.
namespace padlock::ir {
namespace {

using testing::check_refused;

TEST_CASE("every statement that is wrong is an error, whatever kind of error") {
  check_refused(
      "program p(x: f32[A, B])\n{\n"
      "  a = pod(x)\n"
      "  b = relu(x, x)\n"
      "  c = pad(x, low = [0, 0], high = [0, 0], mode = refelct)\n"
      "  d = relu(x\n"
      "  e = add(x, q)\n"
      "  f = tanh(x)\n"
      "  return f, g\n}\n",
      "3:7: expected an operation, found 'pod'; did you mean 'pad'?\n"
      "4:7: expected 1 operand of 'relu', found 2\n"
      "5:50: expected a mode: constant, edge, reflect, symmetric or wrap, found 'refelct'; did you mean 'reflect'?\n"
      "7:3: expected ',' or ')', found 'e'\n"
      "7:14: expected a value or a literal, found the unknown name 'q'\n"
      "9:13: expected a tensor, found the unknown name 'g'");
}

TEST_CASE("every parameter and constraint that is wrong is an error") {
  check_refused(
      "program p(x: f33[A], y: f32[B C], z: f32[A mod K], s: dim)\n"
      "  where A <= , B >= 1, s % 2 == 0, A > Q\n"
      "{\n  r = relu(z)\n  return r\n}\n",
      "1:14: expected a type or 'dim', found 'f33'; did you mean 'f32'?\n"
      "1:31: expected an operator, ',' or ']', found 'C'\n"
      "1:48: expected a symbol, found the unknown name 'K' (a symbol is declared by standing alone as an extent or "
      "stride of a tensor parameter, or as a dim parameter)\n"
      "2:14: expected an integer expression, found ','\n"
      "2:26: expected an operator or a comparison, found '%'; write 'mod'\n"
      "2:40: expected a symbol, found the unknown name 'Q' (a symbol is declared by standing alone as an extent or "
      "stride of a tensor parameter, or as a dim parameter)");
}

TEST_CASE("every argument of one statement that is wrong is an error") {
  check_refused(
      "program p(x: f32[A, B])\n{\n"
      "  y = pad(x, low = [a, K], high = [0, L], interior = [-1, B], mode = mirrored)\n  return y\n}\n",
      "3:21: expected a symbol, found the unknown name 'a'; did you mean 'A'?\n"
      "3:24: expected a symbol, found the unknown name 'K' (a symbol is declared by standing alone as an extent or "
      "stride of a tensor parameter, or as a dim parameter)\n"
      "3:39: expected a symbol, found the unknown name 'L' (a symbol is declared by standing alone as an extent or "
      "stride of a tensor parameter, or as a dim parameter)\n"
      "3:55: expected integer literals of at least 0 in 'interior', found an expression\n"
      "3:59: expected integer literals of at least 0 in 'interior', found 'B'\n"
      "3:70: expected a mode: constant, edge, reflect, symmetric or wrap, found 'mirrored'");
  check_refused("program p(x: f32[4, 4])\n{\n  y = slice(x, start = [-1, 0], limit = [2, 5])\n  return y\n}\n",
                "3:25: expected start on axis 0 >= 0, found -1\n3:45: expected limit on axis 1 <= 4, found 5");
  check_refused("program p(x: f32[A])\n{\n  y = pad(q, lo = [0], high = [k])\n  return y\n}\n",
                "3:11: expected a value or a literal, found the unknown name 'q'\n"
                "3:14: expected 'low', 'high', 'interior', 'mode', 'value' of 'pad', found 'lo'; did you mean 'low'?\n"
                "3:32: expected a symbol, found the unknown name 'k' (a symbol is declared by standing alone as an "
                "extent or stride of a tensor parameter, or as a dim parameter)");
}

TEST_CASE("what uses a value, a symbol or a constraint in error is no error by itself") {
  // A faulty statement, and a user of its result.
  check_refused("program p(x: f32[A]) { y = pod(x) z = relu(y) w = add(z, y) return w, z, y }",
                "1:28: expected an operation, found 'pod'; did you mean 'pad'?");
  // A statement that does not parse, and one that does not begin.
  check_refused("program p(x: f32[A])\n{\n  y = x + x\n  z = relu(y)\n  return z, y\n}\n",
                "3:9: expected '(', found '+'; write 'add(a, b)', each operation as a statement of its own");
  check_refused("program p(x: f32[A])\n{\n  y relu(x)\n  z = relu(y)\n  return z, y\n}\n",
                "3:5: expected '=', found 'relu'");
  // A parameter of an unknown type, and one that does not parse.
  check_refused("program p(x: float[A]) { y = relu(x) z = pad(y, low = [A], high = [0]) return z }",
                "1:14: expected a type or 'dim', found 'float'; write 'f32'");
  check_refused("program p(x f32[A, B], s: f32) { y = pad(x, low = [A, 0], high = [B, 0], value = s) return y }",
                "1:13: expected ':', found 'f32'");
  // A name that is used often.
  check_refused("program p(x: f32[A]) { y = add(x, w) z = add(w, y) u = pad(w, low = [w], high = [0]) return w }",
                "1:35: expected a value or a literal, found the unknown name 'w'");
  // A constraint, and the divisor that it would show.
  check_refused(
      "program p(x: f32[A], k: dim) where k >= , A mod k == 0\n"
      "{ y = pad(x, low = [A floordiv k], high = [0]) return y }",
      "1:41: expected an integer expression, found ','");
  check_refused(
      "program p(x: f32[A], k: dim) where k > K, A mod k == 0\n"
      "{ y = pad(x, low = [A floordiv k], high = [0]) return y }",
      "1:40: expected a symbol, found the unknown name 'K'; did you mean 'k'?");
  // A tensor that is too large, and a user of it.
  check_refused("program p(x: f32[1099511627776, 4194304]) { y = relu(x) z = relu(y) return z }",
                "1:11: expected bytes of 'x' < 140737488355328, found 18446744073709551616");
}

TEST_CASE("the text is read on behind brackets that are not closed") {
  check_refused("program p(x: f32[A])\n{\n  y = pad(x, low = [0, high = [0])\n  z = tanhh(x)\n  return z\n}\n",
                "3:29: expected an operator, ',' or ']', found '='\n"
                "4:7: expected an operation, found 'tanhh'; did you mean 'tanh'?");
  check_refused("program p(x: f32[A)\n  where A >= 1\n{\n  z = tanhh(x)\n  return z\n}\n",
                "1:19: expected an operator, ',' or ']', found ')'\n"
                "4:7: expected an operation, found 'tanhh'; did you mean 'tanh'?");
  check_refused("program p(x: f32[A]) where A >= (1\n{\n  z = tanhh(x)\n  return z\n}\n",
                "2:1: expected an operator or ')', found '{'\n"
                "3:7: expected an operation, found 'tanhh'; did you mean 'tanh'?");
}

TEST_CASE("words that no text has do not hide the rest") {
  check_refused("program p(x: f32[A])\n{\n  y = add(x, 1.5.2)\n  z = add(x, $)\n  w = add(x, 0x)\n  return w\n}\n",
                "3:17: expected the end of the number, found '.'\n"
                "4:14: expected a value or a literal, found '$'\n"
                "5:14: expected hexadecimal digits after '0x'");
}

TEST_CASE("twenty errors are shown, and that there are more is said") {
  std::string text = "program p(x: f32[A])\n{\n";
  for (int i = 0; i < 30; ++i) text += "  y" + std::to_string(i) + " = pod(x)\n";
  const auto program = parse_program(text + "  return y0\n}\n");
  REQUIRE_FALSE(program.has_value());
  const Error& error = program.error();
  REQUIRE(error.others.size() == ErrorList::kMost - 1);
  CHECK(error.others.back().where.line == 22);
  CHECK(error.others.back().context ==
        std::vector<std::string>{"there are more errors: the first 20 that were found are shown"});
  CHECK(error.context.empty());
}

/// The text with the word at `at` replaced.
std::string with_word(std::string text, std::size_t at, std::size_t length, std::string_view word) {
  return text.replace(at, length, word);
}

TEST_CASE("in every example, one wrong word is one error, wherever it stands") {
  // What comes behind '=' and before '(' is an operation, behind ": " a type; a name that is no word of the text is
  // unknown, in the place of any operand.
  const std::vector<std::pair<std::regex, std::string>> faults = {
      {std::regex("= (\\w+)\\("), "convolve"},
      {std::regex(": (f32|f16|i32|i64|u8)\\b"), "complex64"},
      {std::regex("mode = (\\w+)"), "bounce"},
      {std::regex("(low) = \\["), "left_edge"},
      {std::regex("\\((\\w+), low"), "unknown"}};
  int texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".pad") continue;
    std::stringstream file;
    file << std::ifstream(entry.path()).rdbuf();
    const std::string text = file.str();
    for (const auto& [place, word] : faults) {
      for (auto match = std::sregex_iterator(text.begin(), text.end(), place); match != std::sregex_iterator();
           ++match) {
        const auto at = static_cast<std::size_t>(match->position(1)),
                   length = static_cast<std::size_t>(match->length(1));
        const std::string line = text.substr(text.rfind('\n', at) + 1, at - text.rfind('\n', at) - 1);
        if (line.find("//") != std::string::npos) continue;
        const auto program = parse_program(with_word(text, at, length, word));
        INFO(entry.path() << ": " << word << " at byte " << at);
        REQUIRE_FALSE(program.has_value());
        INFO(program.error().to_string());
        CHECK(program.error().message.find("'" + word + "'") != std::string::npos);
        CHECK(program.error().others.empty());
        ++texts;
      }
    }
  }
  CHECK(texts >= 30);
}

TEST_CASE("a program that is built, without a text, has all its errors as well") {
  const auto syntax = syntax::parse("program p(x: f32[A]) { y = pod(x) z = relu(x, x) return y }");
  REQUIRE(syntax.has_value());
  syntax::Program built = *syntax;
  for (syntax::Statement& statement : built.statements) statement.operation_where = {};
  const auto program = verify(built);
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().to_string() ==
        "statement 'y': expected an operation, found 'pod'; did you mean 'pad'?\n"
        "statement 'z': expected 1 operand of 'relu', found 2");
}

}  // namespace
}  // namespace padlock::ir
