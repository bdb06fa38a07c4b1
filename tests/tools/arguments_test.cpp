#include "tools/arrays/arguments.h"

#include <doctest/doctest.h>

namespace padlock::tools {
namespace {

template <class T>
std::string text_of(const Outcome<T>& outcome) {
  if (outcome) return "ok";
  CHECK(outcome.error().code == ExitCode::usage);
  return outcome.error().errors[0].text;
}

TEST_CASE("raw specifications") {
  const auto spec = parse_raw_spec("4x16xbf16");
  REQUIRE(spec);
  CHECK(spec->extents == std::vector<std::int64_t>{4, 16});
  CHECK(std::string(lib::type_name(spec->type)) == "bf16");
  CHECK(parse_raw_spec("f32")->extents.empty());
  CHECK(parse_raw_spec("0xi8")->extents == std::vector<std::int64_t>{0});
  for (const char* text :
       {"", "4", "4x", "x", "xf32", "4xxf32", "-1xf32", "4x16", "4x f32", "99999999999999999999xf32", "f33"}) {
    CAPTURE(text);
    CHECK(text_of(parse_raw_spec(text)).starts_with("expected extents and a type such as 4x16xf32"));
  }
}

TEST_CASE("inputs are files, random or literals") {
  const auto npy = parse_input("x=@dir/a=b.npy");
  REQUIRE(npy);
  CHECK(npy->name == "x");
  CHECK(std::get<FileArgument>(npy->value).path == "dir/a=b.npy");
  CHECK_FALSE(std::get<FileArgument>(npy->value).raw.has_value());
  const auto raw = parse_input("x=2xf16=@x.bin");
  REQUIRE(raw);
  CHECK(std::get<FileArgument>(raw->value).path == "x.bin");
  CHECK(std::get<FileArgument>(raw->value).raw->type.bits == 16);
  CHECK(std::holds_alternative<RandomArgument>(parse_input("x=random")->value));
  CHECK(std::get<LiteralArgument>(parse_input("v=bits(0x7fc00001)")->value).text == "bits(0x7fc00001)");
  CHECK(std::get<LiteralArgument>(parse_input("v=")->value).text.empty());
  CHECK(text_of(parse_input("x")) == "expected --input=NAME=VALUE, found '--input=x'");
  CHECK(text_of(parse_input("=@x.npy")) == "expected --input=NAME=VALUE, found '--input==@x.npy'");
}

TEST_CASE("outputs are .npy or .bin files") {
  CHECK(parse_output("z=@a.npy")->format == OutputArgument::Format::npy);
  CHECK(parse_output("z=@a.bin")->format == OutputArgument::Format::raw);
  CHECK(text_of(parse_output("z=a.npy")) == "expected --output=NAME=@FILE, found '--output=z=a.npy'");
  CHECK(text_of(parse_output("z=@a.txt")) ==
        "expected a file that ends in .npy or .bin (raw), found '--output=z=@a.txt'");
  CHECK(text_of(parse_output("z")) == "expected --output=NAME=@FILE, found '--output=z'");
}

TEST_CASE("expectations are files") {
  CHECK(parse_expect("z=@a.npy")->file.path == "a.npy");
  CHECK(parse_expect("z=2xf32=@a.bin")->file.raw->extents == std::vector<std::int64_t>{2});
  CHECK(text_of(parse_expect("z=1.5")).starts_with("expected --expect=NAME=@FILE"));
}

TEST_CASE("bindings are names and 64-bit integers, each name once") {
  const auto symbols = parse_bind({"B=4,lo=-3", "S=9223372036854775807"});
  REQUIRE(symbols);
  CHECK(symbols->at("lo") == -3);
  CHECK(symbols->at("S") == INT64_MAX);
  CHECK(text_of(parse_bind({"B=4", "B=4"})) == "--bind gives B twice");
  CHECK(text_of(parse_bind({"B=9223372036854775808"})) ==
        "expected a 64-bit integer for B in --bind, found '9223372036854775808'");
  for (const char* text : {"", "B", "B=4,", ",B=4", "=4"}) {
    CAPTURE(text);
    CHECK(text_of(parse_bind({text})).starts_with("expected --bind=NAME=INTEGER,..., found '--bind="));
  }
  for (const char* text : {"B=", "B=4.5", "B=0x10", "B= 4", "B=+4", "B=1e3"}) {
    CAPTURE(text);
    CHECK(text_of(parse_bind({text})).starts_with("expected a 64-bit integer for B in --bind, found '"));
  }
}

TEST_CASE("names that are no symbols are listed with those that are") {
  const auto context = lib::Context::create();
  REQUIRE(context);
  const auto program = context->parse("program p(x: f32[A, B], n: dim, v: f32) { y = relu(x) return y }");
  REQUIRE(program);
  CHECK(check_symbols(*program, {{"A", 1}, {"n", 2}}));
  CHECK(text_of(check_symbols(*program, {{"C", 1}})) ==
        "--bind names 'C', which is no symbol of the program (it has: A, B, n)");
  CHECK(text_of(check_symbols(*program, {{"v", 1}})).starts_with("--bind names 'v'"));
  CHECK(missing_symbols({"A", "n"}).error().errors[0].text == "no value for A, n: give --bind=A=...,n=...");
}

}  // namespace
}  // namespace padlock::tools
