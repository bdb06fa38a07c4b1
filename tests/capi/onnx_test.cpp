// Models through the C API: the text parses, the interface names its parameters, and errors.
#include <array>
#include <cstddef>

#include "tests/capi/capi_testing.h"
#include "tests/onnx/model_writer.h"

namespace padlock::capi::testing {
namespace {

using namespace onnx::testing;

std::string pad_model(std::string_view op = "Pad") {
  return model({.inputs = {value_info("x", kFloat, {"N"}), value_info("pads", kInt64, {2})},
                .constants = {},
                .nodes = {node(op, {"x", "pads"}, {"y"}, {}, "first")},
                .outputs = {value_info("y", kFloat, {})}});
}

std::string text_of(const padlock_text* text) { return {padlock_text_data(text), padlock_text_size(text)}; }

TEST_CASE("a model becomes a text that is a program, and says what stands for its inputs") {
  const Context context = make_context();
  const std::string bytes = pad_model();
  Text text, interface;
  Error error;
  REQUIRE_OK(
      padlock_onnx_import(context, bytes.data(), bytes.size(), nullptr, text.out(), interface.out(), error.out()),
      error);
  CHECK(text_of(text) ==
        "program model(x: f32[N], pads_0: dim, pads_1: dim)\n{\n  y = pad(x, low = [pads_0], high = [pads_1])\n  "
        "return y\n}\n");
  CHECK(text_of(interface).find("\"pads_1\"") != std::string::npos);
  const Program program = parse(context, text_of(text));
  CHECK(padlock_program_parameter_count(program) == 3);
  padlock_onnx_options options = sized<padlock_onnx_options>();
  options.folder = "/nowhere";
  REQUIRE_OK(padlock_onnx_import(context, bytes.data(), bytes.size(), &options, text.out(), nullptr, error.out()),
             error);
}

TEST_CASE("a part of a model is had by its outputs, and the interface has the model's names") {
  const Context context = make_context();
  const std::string bytes = model({.inputs = {value_info("x", kFloat, {"batch.size"})},
                                   .constants = {},
                                   .nodes = {node("Relu", {"x"}, {"82"}), node("NonZero", {"82"}, {"y"})},
                                   .outputs = {value_info("y", kFloat, {})}});
  Text text, interface;
  Error error;
  padlock_onnx_options options = sized<padlock_onnx_options>();
  const std::array<const char*, 2> outputs = {"82", nullptr};
  options.outputs = outputs.data();
  options.output_count = 1;
  REQUIRE_OK(
      padlock_onnx_import(context, bytes.data(), bytes.size(), &options, text.out(), interface.out(), error.out()),
      error);
  CHECK(text_of(text) == "program model(x: f32[batch_size])\n{\n  v82 = relu(x)\n  return v82\n}\n");
  CHECK(text_of(interface).find("\"name\": \"82\"") != std::string::npos);
  CHECK(text_of(interface).find("\"v82\"") != std::string::npos);
  CHECK(text_of(interface).find("\"name\": \"batch.size\"") != std::string::npos);
  const auto fails = [&](padlock_status status) {
    CHECK(padlock_onnx_import(context, bytes.data(), bytes.size(), &options, text.out(), nullptr, error.out()) ==
          status);
  };
  options.output_count = 2;
  fails(PADLOCK_INVALID_ARGUMENT);
  options.outputs = nullptr;
  fails(PADLOCK_INVALID_ARGUMENT);
  const char* const absent = "z";
  options.outputs = &absent;
  options.output_count = 1;
  fails(PADLOCK_NOT_FOUND);
  // Of a program that was compiled before there were parts.
  options.struct_size = offsetof(padlock_onnx_options, outputs);
  fails(PADLOCK_UNIMPLEMENTED);
}

TEST_CASE("what is no model, and what programs cannot say, have errors of their own") {
  const Context context = make_context();
  Text text, interface;
  Error error;
  CHECK(padlock_onnx_import(context, "\x3a\x7f", 2, nullptr, text.out(), interface.out(), error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_CALLER);
  const std::string bytes = pad_model("NonZero");
  CHECK(padlock_onnx_import(context, bytes.data(), bytes.size(), nullptr, text.out(), interface.out(), error.out()) ==
        PADLOCK_UNIMPLEMENTED);
  CHECK(std::string(padlock_error_message(error)).ends_with("found 'first' (NonZero): Padlock has no NonZero"));
  CHECK(text.get() == nullptr);
  CHECK(interface.get() == nullptr);
  CHECK(padlock_onnx_import(nullptr, bytes.data(), bytes.size(), nullptr, text.out(), nullptr, error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_onnx_import(context, nullptr, 4, nullptr, text.out(), nullptr, error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace padlock::capi::testing
