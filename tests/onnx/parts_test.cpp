// Models of which a part cannot be a program: what the error says about the rest, and how to import it.
#include "tests/onnx/import_testing.h"

namespace padlock::onnx::testing {
namespace {

Message graph_value(std::string_view name, int rank, const char* extent) {
  std::vector<Dim> shape = {"N"};
  for (int axis = 1; axis < rank; ++axis) shape.emplace_back(extent);
  return value_info(name, kFloat, shape);
}

/// x -> Pad p -> Conv c -> Relu r -> Pad q -> Conv d -> Abs y. The model states the shapes of the Convs' results if
/// `has_shapes`.
ModelParts two_convs(bool has_shapes = true) {
  ModelParts parts{
      .inputs = {value_info("x", kFloat, {"N", "H"})},
      .constants = {int64s("pads", {4}, {0, 1, 0, 1}), floats("w", {1}, {2})},
      .nodes = {node("Pad", {"x", "pads"}, {"p"}, {}, "first_pad"), node("Conv", {"p", "w"}, {"c"}, {}, "first_conv"),
                node("Relu", {"c"}, {"r"}, {}, "relu"), node("Pad", {"r", "pads"}, {"q"}, {}, "second_pad"),
                node("Conv", {"q", "w"}, {"d"}, {}, "second_conv"), node("Abs", {"d"}, {"y"}, {}, "abs")},
      .outputs = {value_info("y", kFloat, {"N", "K"})}};
  if (has_shapes) parts.values = {graph_value("c", 2, "C"), graph_value("d", 2, "D")};
  return parts;
}

std::string refusal_of(const ModelParts& parts) {
  const auto made = import_model(model(parts));
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == Code::unimplemented);
  return made.error().message;
}

Result<Import> part_of(const ModelParts& parts, const Names& outputs) {
  return import_model(model(parts), {.folder = {}, .outputs = outputs});
}

TEST_CASE("a model that has an operator which programs have not lists the parts that are programs") {
  CHECK(
      refusal_of(two_convs()) ==
      "expected a model of which a program can be made, found 'first_conv' (Conv): Padlock has no Conv; 'second_conv' "
      "(Conv): Padlock has no Conv. These parts of it are programs, each to be had by its outputs (padlock import "
      "--to=NAME, or 'outputs' in C and Python): 'q' of 'c' (2 nodes); 'p' of 'x' (1 node); 'y' of 'd' (1 node)");
}

TEST_CASE("each part that is listed is a program, whose inputs are what the others compute") {
  const auto text_of = [](const Names& outputs) {
    const auto made = part_of(two_convs(), outputs);
    REQUIRE(made.has_value());
    return made->text;
  };
  CHECK(text_of({"p"}) == "program model(x: f32[N, H])\n{\n  p = pad(x, low = [0, 1], high = [0, 1])\n  return p\n}\n");
  CHECK(text_of({"q"}) ==
        "program model(c: f32[N, C])\n{\n  r = relu(c)\n  q = pad(r, low = [0, 1], high = [0, 1])\n  return q\n}\n");
  CHECK(text_of({"y"}) == "program model(d: f32[N, D])\n{\n  y = abs(d)\n  return y\n}\n");
  CHECK(text_of({"p", "y"}) ==
        "program model(x: f32[N, H], d: f32[N, D])\n{\n  p = pad(x, low = [0, 1], high = [0, 1])\n  y = abs(d)\n  "
        "return p, y\n}\n");
  // What is between: no output of a group, but a value all the same.
  CHECK(text_of({"r"}) == "program model(c: f32[N, C])\n{\n  r = relu(c)\n  return r\n}\n");
}

TEST_CASE("of a model that is a program a part can be had, too") {
  ModelParts parts = two_convs();
  parts.nodes = {node("Relu", {"x"}, {"r"}), node("Abs", {"r"}, {"y"})};
  const auto made = part_of(parts, {"r"});
  REQUIRE(made.has_value());
  CHECK(made->text == "program model(x: f32[N, H])\n{\n  r = relu(x)\n  return r\n}\n");
}

TEST_CASE("outputs that there are not, and those that a refused node computes, are refused") {
  const auto no_name = part_of(two_convs(), {"p", "z"});
  REQUIRE_FALSE(no_name.has_value());
  CHECK(no_name.error().code == Code::not_found);
  CHECK(no_name.error().message == "expected the name of a value that the model computes, found 'z'");
  CHECK(part_of(two_convs(), {"x"}).error().code == Code::not_found);
  const auto conv = part_of(two_convs(), {"c"});
  REQUIRE_FALSE(conv.has_value());
  CHECK(conv.error().code == Code::unimplemented);
  CHECK(contains(conv.error().message, "found 'first_conv' (Conv): Padlock has no Conv"));
}

TEST_CASE("where the model does not say the shape at which a part begins, that is said, and who adds it") {
  const std::string listed = refusal_of(two_convs(false));
  CHECK(contains(listed, ": 'p' of 'x' (1 node)"));
  CHECK_FALSE(contains(listed, "'q' of"));
  const auto made = part_of(two_convs(false), {"q"});
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message ==
        "the model does not say the type and shape of 'c', at which a part begins (onnx.shape_inference.infer_shapes "
        "adds "
        "them)");
  ModelParts none = two_convs(false);
  none.nodes.erase(none.nodes.begin());
  none.nodes.front() = node("Conv", {"x", "w"}, {"c"}, {}, "first_conv");
  CHECK(contains(refusal_of(none), ". Parts of it could be programs, but the model does not say the type and shape"));
}

TEST_CASE("a node that waits for a refused one is in no part with what that one needs") {
  // y = x + conv(pad(x)): one program of both pads would need its own result.
  ModelParts parts{.inputs = {value_info("x", kFloat, {"N", "H"})},
                   .constants = {int64s("pads", {4}, {0, 1, 0, 1}), floats("w", {1}, {2})},
                   .nodes = {node("Relu", {"x"}, {"r"}), node("Pad", {"r", "pads"}, {"p"}),
                             node("Conv", {"p", "w"}, {"c"}), node("Add", {"r", "c"}, {"y"})},
                   .outputs = {value_info("y", kFloat, {"N", "H"})}};
  parts.values = {graph_value("c", 2, "H")};
  CHECK(contains(refusal_of(parts), ": 'p' of 'x' (2 nodes); 'y' of 'x', 'c' (2 nodes)"));
  const auto made = part_of(parts, {"y"});
  REQUIRE(made.has_value());
  CHECK(contains(made->text, "(x: f32[N, H], c: f32[N, H])"));
}

TEST_CASE("a node that is refused for its inputs is left out of a part as an unknown one is") {
  ModelParts parts = two_convs();
  parts.nodes[1] = node("Sqrt", {"p"}, {"c"}, {}, "root");
  parts.nodes[4] = node("Pad", {"q", "q"}, {"d"}, {}, "no_pad");  // amounts that are data
  const std::string refused = refusal_of(parts);
  CHECK(contains(refused, "'no_pad' (Pad): the pads 'q' are data"));
  CHECK(contains(refused, ": 'q' of 'x' (4 nodes); 'y' of 'd' (1 node)"));
  CHECK(part_of(parts, {"y"}).has_value());
}

TEST_CASE("thirty pads and one convolution: the message has some parts, and the number of the others") {
  ModelParts parts = two_convs();
  parts.nodes.clear();
  parts.outputs.clear();
  parts.values.clear();
  for (int i = 0; i < 30; ++i) {
    const std::string pad = "p" + std::to_string(i), conv = "c" + std::to_string(i);
    parts.nodes.push_back(node("Pad", {"x", "pads"}, {pad}));
    parts.nodes.push_back(node("Conv", {pad, "w"}, {conv}));
    parts.outputs.push_back(value_info(conv, kFloat, {"N", "H"}));
  }
  const std::string refused = refusal_of(parts);
  CHECK(contains(refused, ": 'p0' of 'x' (1 node); 'p1' of 'x' (1 node); "));
  CHECK(contains(refused, "; and 22 more"));
}

}  // namespace
}  // namespace padlock::onnx::testing
