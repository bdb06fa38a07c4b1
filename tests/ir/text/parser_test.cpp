#include <string>

#include <doctest/doctest.h>

#include "ir/text/syntax.h"
#include "tests/ir/program_testing.h"

namespace padlock::ir::syntax {
namespace {

using ir::testing::check_refused;

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

Program read(std::string_view text) {
  auto program = parse(text);
  INFO(text);
  REQUIRE_MESSAGE(program.has_value(), (program ? std::string() : program.error().to_string()));
  return *std::move(program);
}

/// An expression in postfix text.
std::string postfix(std::string_view expression) {
  const Program program = read("program p(x: f32[" + std::string(expression) + "]) { return x }");
  static constexpr const char* kNames[] = {"", "", "neg", "+", "-", "*", "floordiv", "ceildiv", "mod", "min", "max"};
  std::string text;
  for (const DimNode& node : program.parameters.at(0).extents.at(0).nodes) {
    if (!text.empty()) text += ' ';
    if (node.kind == DimNode::Kind::integer)
      text += padlock::to_string(node.value);
    else if (node.kind == DimNode::Kind::name)
      text += node.name;
    else
      text += kNames[static_cast<int>(node.kind)];
    if (node.operands > 2) text += std::to_string(node.operands);
  }
  return text;
}

TEST_CASE("operators group from the left, minus binds tighter than mod") {
  CHECK(postfix("a - b + c") == "a b - c +");
  CHECK(postfix("a floordiv b * c mod d") == "a b floordiv c * d mod");
  CHECK(postfix("a + b * c") == "a b c * +");
  CHECK(postfix("-a mod b") == "a neg b mod");
  CHECK(postfix("- -a") == "a neg neg");
  CHECK(postfix("a * -b") == "a b neg *");
  CHECK(postfix("(a - (b - c))") == "a b c - -");
  CHECK(postfix("min(a, b + 1, max(c, 2)) ceildiv 3") == "a b 1 + c 2 max min3 3 ceildiv");
}

TEST_CASE("chains of comparisons split") {
  const Program program = read("program p(S: dim) where 1 <= S < 5 == S > 2 { return x }");
  REQUIRE(program.constraints.size() == 4);
  CHECK(program.constraints[0].comparison == Comparison::le);
  CHECK(program.constraints[1].comparison == Comparison::lt);
  CHECK(program.constraints[1].rhs.nodes.at(0).value == 5);
  CHECK(program.constraints[2].comparison == Comparison::eq);
  CHECK(program.constraints[3].comparison == Comparison::gt);
}

TEST_CASE("parameters, strides, statements and arguments") {
  const Program program = read(
      "program p(x: f32[] , y: bool[A, B] strides [B, 1], s: u8, k: dim) {\n"
      "  z = pad(x, low = [], high = [1], mode = edge, value = - 1.5)\n"
      "  w = cast(y, f16) v = select(true, nan, bits ( 0xFf ))\r\n"
      "  return z, w\n}");
  REQUIRE(program.parameters.size() == 4);
  CHECK(program.parameters[0].extents.empty());
  CHECK_FALSE(program.parameters[0].strides.has_value());
  CHECK(program.parameters[1].strides->size() == 2);
  CHECK(program.parameters[2].kind == Parameter::Kind::scalar);
  CHECK(program.parameters[3].kind == Parameter::Kind::dim);
  REQUIRE(program.statements.size() == 3);
  const auto& pad = program.statements[0].arguments;
  CHECK(std::get<std::string>(pad.at(0).value) == "x");
  CHECK(pad.at(1).keyword == "low");
  CHECK(std::get<std::vector<Dim>>(pad.at(2).value).size() == 1);
  CHECK(std::get<std::string>(pad.at(3).value) == "edge");
  CHECK(std::get<Literal>(pad.at(4).value).text == "-1.5");
  CHECK(std::get<std::string>(program.statements[1].arguments.at(1).value) == "f16");
  CHECK(std::get<Literal>(program.statements[2].arguments.at(2).value).text == "bits(0xFf)");
  CHECK(program.statements[2].where.line == 3);
  CHECK(program.statements[2].where.column == 20);
  CHECK(program.results.size() == 2);
}

TEST_CASE("a byte order mark means nothing, at the beginning alone") {
  CHECK(read("\xef\xbb\xbfprogram p(x: f32[]) { return x }").name == "p");
  const auto program = parse("\xef\xbb\xbf  pogram p(x: f32[]) { return x }");
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().to_string() ==
        "1:3: expected 'program', found 'pogram'\n    pogram p(x: f32[]) { return x }\n    ^");
  check_refused("program p(\xef\xbb\xbfx: f32[]) { y = neg(x) return y }",
                "1:11: expected the name of a parameter, found '\xef\xbb\xbf'");
}

TEST_CASE("blanks and comments mean nothing") {
  CHECK(read("program p(x:f32[2]){return x}").name == "p");
  CHECK(
      read("\tprogram\r\np ( x : f32 [ 2 ] ) // \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 // more\n{ return x } //").name ==
      "p");
}

TEST_CASE("names of operations, modes and arguments are not reserved") {
  const Program program = read("program pad(low: f32[relu]) { constant = relu(low) return constant }");
  CHECK(program.statements.at(0).name == "constant");
  for (const char* word : {"program", "where", "return", "strides", "dim", "floordiv", "ceildiv", "mod", "min", "max",
                           "inf", "nan", "true", "false", "bits", "f64", "bf16", "bool", "u8"}) {
    CHECK(is_reserved(word));
    check_refused(std::string("program ") + word + "(x: f32[]) { return x }",
                  std::string("1:9: expected the name of the program, found '") + word + "'");
  }
}

TEST_CASE("a number that touches what it cannot take in is an error") {
  const auto with = [](std::string_view number) {
    return "program p(x: f32[2]) { y = add(x, " + std::string(number) + ") return y }";
  };
  check_refused(with("1."), "1:36: expected the end of the number, found '.'");
  check_refused(with("1.5.2"), "1:38: expected the end of the number, found '.'");
  check_refused(with("1e"), "1:36: expected the end of the number, found 'e'");
  check_refused(with("1e+"), "1:36: expected the end of the number, found 'e'");
  check_refused(with("12ab"), "1:37: expected the end of the number, found 'a'");
  check_refused(with("1_000"), "1:36: expected the end of the number, found '_'");
  check_refused(with("0x"), "1:35: expected hexadecimal digits after '0x'");
  check_refused(with("0X1"), "1:36: expected the end of the number, found 'X'");
  check_refused(with("0x1g"), "1:38: expected the end of the number, found 'g'");
  check_refused(with(".5"), "1:35: expected a value or a literal, found '.'; a number begins with a digit");
  check_refused(with("0x10"), "1:35: expected a value or a literal, found '0x10'");
  check_refused(with("-x"), "1:36: expected a number or 'inf', found 'x'");
  check_refused(with("-nan"), "1:36: expected a number or 'inf', found 'nan'");
  check_refused(with("bits(10)"), "1:40: expected a hexadecimal number such as 0x7fc00000, found '10'");
  check_refused("program p(x: f32[1.5]) { return x }", "1:18: expected an integer expression, found '1.5'");
}

TEST_CASE("errors stand at what was found") {
  check_refused("", "1:1: expected 'program', found the end of the text");
  check_refused("progam p() {}",
                "1:1: expected 'program', found 'progam'\n1:13: expected a statement or 'return', found '}'");
  check_refused("program p(x f32) { return x }", "1:13: expected ':', found 'f32'");
  check_refused("program p(x: f33) { return x }", "1:14: expected a type or 'dim', found 'f33'; did you mean 'f32'?");
  check_refused("program p(x: f32[2) { return x }", "1:19: expected an operator, ',' or ']', found ')'");
  check_refused("program p(x: f32[2] y: f32) { return x }", "1:21: expected ',' or ')', found 'y'");
  check_refused("program p(, x: f32) { y = neg(x) return y }", "1:11: expected the name of a parameter, found ','");
  check_refused("program p(x: f32[2],) { return x }", "1:21: expected the name of a parameter, found ')'");
  check_refused("program p(x: f32[2,]) { return x }", "1:20: expected an integer expression, found ']'");
  check_refused("program p(x: f32[S]) where S { return x }", "1:30: expected an operator or a comparison, found '{'");
  check_refused("program p(x: f32[S]) where S = 1 { return x }",
                "1:30: expected an operator or a comparison, found '='; write '=='");
  check_refused("program p(x: f32[2]) {\n  y relu(x)\n return y }", "2:5: expected '=', found 'relu'");
  check_refused("program p(x: f32[2]) {\n  y = min(x)\n return y }",
                "2:7: expected the name of an operation, found 'min'; write 'minimum'");
  check_refused("program p(x: f32[2]) { y = relu(x }", "1:35: expected ',' or ')', found '}'");
  check_refused("program p(x: f32[2]) { y = pad(low = [1], x) return y }",
                "1:43: expected a named argument after a named one, found 'x'");
  check_refused("program p(x: f32[2]) { y = pad(x, [1]) return y }",
                "1:35: expected a value or a literal, found '['; a list is an argument by name, as in 'shape = [...]'");
  check_refused("program p(x: f32[2]) { y = pad(x, low = ) return y }",
                "1:41: expected a value, a literal or '[', found ')'");
  check_refused("program p(x: f32[2]) { }", "1:24: expected a statement or 'return', found '}'");
  check_refused("program p(x: f32[2]) { return x y }", "1:33: expected ',' or '}', found 'y'");
  check_refused("program p(x: f32[2]) { return }", "1:31: expected the name of a value, found '}'");
  check_refused("program p(x: f32[2]) { return x } x", "1:35: expected the end of the program, found 'x'");
  check_refused("program p(x: f32[2]) { return x", "1:32: expected ',' or '}', found the end of the text");
  check_refused("program p(x: f32[min(2)]) { return x }", "1:23: expected an operator or ',', found ')'");
  check_refused("program p(x: f32[(2]) { return x }", "1:20: expected an operator or ')', found ']'");
  check_refused("program p(x: f32[a / b]) { return x }",
                "1:20: expected an operator, ',' or ']', found '/'; write 'floordiv' or 'ceildiv'");
}

TEST_CASE("bytes outside ASCII stand in comments alone, and there as UTF-8") {
  check_refused("program p\xc3\xa9() { return x }", "1:10: expected '(', found '\xc3\xa9'");
  check_refused("program p(x: f32[\xe2\x89\xa4 \xe2\x89\xa4]) { return x }",
                "1:18: expected an integer expression, found '\xe2\x89\xa4'");
  check_refused("program p(x: f32[\xff]) { return x }", "1:18: expected an integer expression, found the byte 0xff");
  check_refused("program p(\x01) {}",
                "1:11: expected the name of a parameter, found the byte 0x01\n"
                "1:15: expected a statement or 'return', found '}'");
  check_refused(std::string_view("program p(\0) {}", 15),
                "1:11: expected the name of a parameter, found the byte 0x00\n"
                "1:15: expected a statement or 'return', found '}'");
  check_refused("// \xc3\xa9 \xff\nprogram", "1:6: expected UTF-8, found the byte 0xff");
  for (const char* bad : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
                          "\xe2\x82", "\xf8\x88\x80\x80\x80"})
    CHECK_FALSE(parse(std::string("//") + bad + "\nprogram p(x: f32[]) { return x }").has_value());
}

TEST_CASE("an error shows its line without the line end") {
  const auto program = parse("program p(\r\n\tx: f31)\r\n{ return x }");
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().to_string("a.pad") ==
        "a.pad:2:5: expected a type or 'dim', found 'f31'; did you mean 'f32'?\n  \tx: f31)\n  \t   ^");
}

TEST_CASE("what works and what is refused for its size") {
  const auto extent = [](const std::string& e) { return "program p(x: f32[S, " + e + "]) { return x }"; };
  CHECK(parse(extent(repeat("(", 256) + "S" + repeat(")", 256))).has_value());
  check_refused(extent(repeat("(", 257) + "S" + repeat(")", 257)), "1:278: expected parentheses at most 256 deep",
                Code::resource_exhausted);
  CHECK(parse(extent("S" + repeat(" + 1", 4096))).has_value());
  check_refused(extent("S" + repeat("+1", 4097)), "1:8216: expected at most 4096 operators in an expression",
                Code::resource_exhausted);
  CHECK(parse(extent(repeat("-", 4096) + "S")).has_value());
  check_refused(extent(repeat("-", 4097) + "S"), "1:4118: expected at most 4096 operators in an expression",
                Code::resource_exhausted);
  check_refused(extent(std::string(39, '9')),
                "1:21: expected an integer below 2^126, found '" + std::string(39, '9') + "'");
  check_refused(extent(std::string(5000, '9')), "1:21: expected a number of at most 4096 characters, found 5000",
                Code::resource_exhausted);
  check_refused(extent(std::string(5000, 'a')), "1:21: expected a name of at most 4096 characters, found 5000",
                Code::resource_exhausted);
  check_refused(std::string((1 << 20) + 1, ' '), "1:1: expected a program of at most 1048576 bytes, found 1048577",
                Code::resource_exhausted);
}

TEST_CASE("a line too long to show is left out of the error") {
  const auto program = parse(std::string(5000, ' ') + "x");
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().where.column == 5001);
  CHECK(program.error().where.source_line.empty());
}

}  // namespace
}  // namespace padlock::ir::syntax
