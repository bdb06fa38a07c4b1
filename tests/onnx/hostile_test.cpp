// Models made to break an importer: each is harmless, or refused with a message that says what is wrong.
#include "onnx/limits.h"
#include "tests/onnx/import_testing.h"

namespace padlock::onnx::testing {
namespace {

ModelParts relu() {
  return {.inputs = {value_info("x", kFloat, {"N"})},
          .constants = {},
          .nodes = {node("Relu", {"x"}, {"y"}, {}, "the_node")},
          .outputs = {value_info("y", kFloat, {})}};
}

TEST_CASE("nodes that wait for each other, or for themselves, are refused") {
  ModelParts parts = relu();
  parts.nodes = {node("Add", {"x", "b"}, {"a"}, {}, "first"), node("Relu", {"a"}, {"b"}, {}, "second"),
                 node("Relu", {"b"}, {"y"})};
  check_refused(parts, "'first' (Add): nothing before it computes its input 'b'");
  parts = relu();
  parts.nodes = {node("Relu", {"y"}, {"y"}, {}, "the_node")};
  check_refused(parts, "'the_node' (Relu): nothing before it computes its input 'y'");
}

TEST_CASE("names that are there twice stand for one thing, or are refused") {
  ModelParts parts = relu();
  parts.nodes.push_back(node("Neg", {"x"}, {"y"}, {}, "again"));
  check_refused(parts, "'again' (Neg): its output 'y' is there already");
  parts = relu();
  parts.inputs.push_back(value_info("x", kFloat, {3}));
  CHECK(contains(imported(parts), "(x: f32[N])"));
  parts = relu();
  parts.outputs.push_back(parts.outputs[0]);
  check_refused(parts, "the output 'y': it is there twice");
  parts = relu();
  parts.constants = {int64s("pads", {2}, {1, 2}), int64s("pads", {2}, {3, 4})};
  parts.nodes = {node("Pad", {"x", "pads"}, {"y"})};
  CHECK(contains(imported(parts), "low = [1], high = [2]"));
}

TEST_CASE("extents that are huge or negative end in a message or a symbol") {
  ModelParts parts = relu();
  Message shape = Message().message(1, Message().number(1, -5));
  const Message type = Message().number(1, kFloat).message(2, shape);
  parts.inputs = {Message().bytes(1, "x").message(2, Message().message(1, type))};
  CHECK(contains(imported(parts), "(x: f32[x_d0])"));
  shape = Message();
  for (int i = 0; i < 100'000; ++i) shape.message(1, Message().number(1, 2));
  parts.inputs = {
      Message().bytes(1, "x").message(2, Message().message(1, Message().number(1, kFloat).message(2, shape)))};
  check_refused(parts, "the input 'x': its rank is above 32");
  parts = relu();
  parts.constants = {int64s("pads", {2}, {INT64_MAX, INT64_MAX})};
  parts.nodes = {node("Pad", {"x", "pads"}, {"y"}, {}, "the_node")};
  const auto made = import_model(model(parts));
  if (!made) CHECK(contains(made.error().message, "'the_node' (Pad)"));
  parts.constants = {int64s("pads", {-1}, {1})};
  check_refused(parts, "has a negative dimension");
}

TEST_CASE("a constant that is larger than what is looked at is refused, with its bytes or without") {
  const std::size_t elements = limits::kElements + 1;
  ModelParts parts = relu();
  parts.nodes = {node("Pad", {"x", "pads"}, {"y"})};
  const auto with = [&](std::string_view raw) {
    parts.constants = {
        Message().number(1, static_cast<std::int64_t>(elements)).number(2, kInt64).bytes(8, "pads").bytes(9, raw)};
    check_refused(parts, "expected a constant of at most 1048576 elements", Code::resource_exhausted);
  };
  with("");
  with(std::string(elements * sizeof(std::int64_t), '\1'));
}

TEST_CASE("graphs inside attributes, however deep, cost nothing and are refused") {
  Message inner = Message().bytes(2, "innermost");
  for (int depth = 0; depth < 1000; ++depth) {
    const Message holder = Message().bytes(1, "body").message(6, inner);
    inner = Message().message(1, Message().bytes(4, "If").message(5, holder));
  }
  ModelParts parts = relu();
  parts.nodes = {node("Relu", {"x"}, {"y"}, {Message().bytes(1, "body").message(6, inner)}, "the_node")};
  check_refused(parts, "'the_node' (Relu): its attribute 'body' is a graph");
}

TEST_CASE("a function of the model goes before the operator of that name, and is refused") {
  ModelParts parts = relu();
  const auto function = [](std::string_view name, std::string_view domain) {
    return Message().bytes(1, name).bytes(4, "a").bytes(5, "b").message(7, node("Neg", {"a"}, {"b"})).bytes(10, domain);
  };
  parts.functions = {function("Other", ""), function("Relu", "mine")};
  CHECK(contains(imported(parts), "relu(x)"));
  parts.functions.push_back(function("Relu", "ai.onnx"));
  check_refused(parts, "'the_node' (Relu): it calls a function of the model; functions are not expanded");
  // One that calls itself is no more than its name.
  parts.functions = {Message().bytes(1, "F").message(7, node("F", {"a"}, {"b"})).bytes(10, "mine")};
  parts.nodes = {Message(node("F", {"x"}, {"y"}, {}, "the_node")).bytes(7, "mine")};
  check_refused(parts, "'the_node' ('mine'.F): it calls a function of the model");
}

TEST_CASE("a graph of many nodes is refused by its number, whatever they are") {
  ModelParts parts = relu();
  parts.nodes.assign(100'000, node("Relu", {"x"}, {"y"}));
  check_refused(parts, "expected at most 20000 nodes, found 100000", Code::resource_exhausted);
}

TEST_CASE("a message lists so many refusals, counts the others, and has no control characters") {
  ModelParts parts = relu();
  parts.nodes.clear();
  parts.outputs.clear();
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "n\x1b[2J\n\t\r" + std::to_string(i);
    parts.nodes.push_back(node("NonZero", {"x"}, {name}, {}, name));
    parts.outputs.push_back(value_info(name, kInt64, {}));
  }
  const auto made = import_model(model(parts));
  REQUIRE_FALSE(made.has_value());
  const std::string& message = made.error().message;
  CHECK(contains(message, "'n?[2J???0' (NonZero)"));
  CHECK(contains(message, "; and 950 more"));
  CHECK(message.find_first_of("\x1b\n\t\r") == std::string::npos);
  CHECK(message.size() < 10'000);
}

TEST_CASE("a long name is cut in messages and in programs") {
  ModelParts parts = relu();
  const std::string name(1 << 20, 'a');
  parts.nodes = {node("Relu", {name}, {"y"}, {}, name)};
  const auto made = import_model(model(parts));
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message.size() < 1000);
  parts = relu();
  parts.inputs = {value_info(name, kFloat, {"N"})};
  parts.nodes = {node("Relu", {name}, {"y"})};
  CHECK(imported(parts).size() < 1000);
}

}  // namespace
}  // namespace padlock::onnx::testing
