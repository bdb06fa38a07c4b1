// Errors as objects, and option structs of other versions.
#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

TEST_CASE("a text that does not parse: line, column, and the line with a caret") {
  const Context context = make_context();
  const std::string text = "program p(x: f32[S])\n{ y = rely(x) return y }";
  Program program;
  Error error;
  REQUIRE(padlock_program_parse(context, text.data(), text.size(), program.out(), error.out()) ==
          PADLOCK_INVALID_ARGUMENT);
  CHECK(program.get() == nullptr);
  CHECK(padlock_error_status(error) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_CALLER);
  CHECK(padlock_error_line(error) == 2);
  CHECK(padlock_error_column(error) == 7);
  CHECK(std::string(padlock_error_text(error)).find("{ y = rely(x) return y }\n        ^") != std::string::npos);
  CHECK(padlock_error_axis(error) == -1);
  CHECK(padlock_error_expression(error) == std::string());
  CHECK(padlock_error_value_count(error) == 0);
  CHECK(padlock_error_value(error, 0).name == nullptr);
}

TEST_CASE("a text with several errors: each with its place, all in the text, and each outlives the others") {
  const Context context = make_context();
  const std::string text = "program p(x: f33[S])\n{ y = relu(x) z = rely(y)\n  w = tanh(v) return y }";
  Program program;
  Error error;
  REQUIRE(padlock_program_parse(context, text.data(), text.size(), program.out(), error.out()) ==
          PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected a type or 'dim', found 'f33'; did you mean 'f32'?"));
  REQUIRE(padlock_error_other_count(error) == 2);
  CHECK(padlock_error_line(padlock_error_other(error, 0)) == 2);
  CHECK(padlock_error_column(padlock_error_other(error, 1)) == 12);
  CHECK(padlock_error_other(error, 2) == nullptr);
  CHECK(padlock_error_other_count(padlock_error_other(error, 1)) == 0);
  const std::string all = padlock_error_text(error);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(all.find(padlock_error_text(padlock_error_other(error, i))) != std::string::npos);
  CHECK(padlock_error_text(padlock_error_other(error, 0)) ==
        std::string("2:19: expected an operation, found 'rely'; did you mean 'relu'?\n"
                    "  { y = relu(x) z = rely(y)\n                    ^"));
  Error last;
  *last.out() = padlock_error_other(error, 1);
  padlock_error_retain(last);
  error = Error();
  CHECK(padlock_error_line(last) == 3);
  CHECK(padlock_error_other_count(nullptr) == 0);
  CHECK(padlock_error_other(nullptr, 0) == nullptr);
}

TEST_CASE("sizes that break a constraint: the constraint and the values in it") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, kPadRelu), "reference");
  const PadReluSizes sizes(4, 2, -3);
  Call call;
  Error error;
  REQUIRE(padlock_kernel_bind(kernel, &sizes.options, call.out(), error.out()) == PADLOCK_FAILED_PRECONDITION);
  CHECK(padlock_error_expression(error) == std::string("S + lo >= 0"));
  REQUIRE(padlock_error_value_count(error) == 2);
  CHECK(padlock_error_value(error, 0).name == std::string("S"));
  CHECK(padlock_error_value(error, 0).value == 2);
  CHECK(padlock_error_value(error, 1).name == std::string("lo"));
  CHECK(padlock_error_value(error, 1).value == -3);
  CHECK(padlock_error_line(error) == 2);
}

TEST_CASE("a tensor that does not have the declared extents: its axis") {
  const Context context = make_context();
  const Kernel kernel = compile(
      parse(context, "program p(x: f32[N, 2 * N]) { y = pad(x, low = [0, 1], high = [0, 0], value = 0) return y }"),
      "reference");
  Tensor x({3, 7});
  const DLTensor view = x.view();
  const DLTensor* const inputs[] = {&view};
  padlock_bind_options options = sized<padlock_bind_options>();
  options.inputs = inputs;
  options.input_count = 1;
  Call call;
  Error error;
  REQUIRE(padlock_kernel_bind(kernel, &options, call.out(), error.out()) == PADLOCK_FAILED_PRECONDITION);
  CHECK(padlock_error_axis(error) == 1);
  CHECK(std::string(padlock_error_expression(error)) == "2*N");
  REQUIRE(padlock_error_value_count(error) == 1);
  CHECK(padlock_error_value(error, 0).value == 3);
}

TEST_CASE("NULL where something has to be, and no place for the error") {
  Program program;
  Error error;
  CHECK(padlock_program_parse(nullptr, "", 0, program.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected a context, found NULL"));
  CHECK(padlock_program_parse(nullptr, "", 0, nullptr, nullptr) == PADLOCK_INVALID_ARGUMENT);
  const Context context = make_context();
  CHECK(padlock_program_parse(context, "", 0, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected a place for the handle, found NULL"));
  CHECK(padlock_program_parse(context, nullptr, 5, program.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  Kernel kernel;
  CHECK(padlock_program_compile(nullptr, nullptr, kernel.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected a program, found NULL"));
  CHECK(padlock_error_status(nullptr) == PADLOCK_UNKNOWN);
  CHECK(padlock_error_message(nullptr) == std::string());
}

TEST_CASE("every status has its name") {
  CHECK(padlock_status_name(PADLOCK_OK) == std::string("OK"));
  CHECK(padlock_status_name(PADLOCK_CANCELLED) == std::string("CANCELLED"));
  CHECK(padlock_status_name(PADLOCK_UNAUTHENTICATED) == std::string("UNAUTHENTICATED"));
  CHECK(padlock_status_name(17) == std::string("UNKNOWN"));
  CHECK(padlock_status_name(-1) == std::string("UNKNOWN"));
}

}  // namespace
}  // namespace padlock::capi::testing
