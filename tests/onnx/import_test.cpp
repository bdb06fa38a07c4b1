// Models, and the programs that the importer makes from them.
#include "tests/onnx/import_testing.h"

#include <limits>

namespace padlock::onnx::testing {
namespace {

/// One node from x, with constants, to y.
ModelParts one_node(std::string_view op, const std::vector<Dim>& shape, const std::vector<Message>& constants,
                    const Names& inputs, const std::vector<Message>& attributes = {}) {
  return {.inputs = {value_info("x", kFloat, shape)},
          .constants = constants,
          .nodes = {node(op, inputs, {"y"}, attributes, "the_node")},
          .outputs = {value_info("y", kFloat, {})}};
}

TEST_CASE("a pad keeps names, symbols and literal amounts") {
  CHECK(imported(one_node("Pad", {"N", 3, "H"}, {int64s("pads", {6}, {0, 0, 1, 0, 0, 2})}, {"x", "pads"},
                          {attribute("mode", "reflect")})) ==
        "program model(x: f32[N, 3, H])\n{\n  y = pad(x, low = [0, 0, 1], high = [0, 0, 2], mode = reflect)\n"
        "  return y\n}\n");
}

TEST_CASE("a pad's fill is a literal of its bits, a scalar parameter, or 0") {
  const Message pads = int64s("pads", {2}, {1, 1});
  CHECK(contains(imported(one_node("Pad", {"N"}, {pads, floats("v", {}, {-1.5F})}, {"x", "pads", "v"})),
                 "value = -1.5)"));
  CHECK(contains(imported(one_node("Pad", {"N"}, {pads}, {"x", "pads"})), "high = [1])"));
  ModelParts parts = one_node("Pad", {"N"}, {pads}, {"x", "pads", "v"});
  parts.inputs.push_back(value_info("v", kFloat, {}));
  CHECK(contains(imported(parts), "(x: f32[N], v: f32)"));
  parts.nodes.push_back(node("Add", {"y", "v"}, {"z"}));  // an operand needs no scalar
  parts.outputs = {value_info("z", kFloat, {})};
  CHECK(contains(imported(parts), "(x: f32[N], v: f32[])"));
}

TEST_CASE("a gather by an input is a take; negative indices count from the end") {
  ModelParts parts = one_node("Gather", {"N", 3}, {}, {"x", "i"}, {attribute("axis", std::int64_t{-2})});
  parts.inputs.push_back(value_info("i", kInt64, {"B", "S"}));
  const std::string text = imported(parts);
  CHECK(contains(text, "(x: f32[N, 3], i: i64[B, S])"));
  CHECK(contains(text, " = add(i, i64(N))"));
  CHECK(contains(text, " = lt(i, 0)"));
  CHECK(contains(text, ", axis = 0)"));
  parts.inputs.back() = value_info("i", kInt32, {4});  // of few elements, but no size
  CHECK(contains(imported(parts), "i: i32[4]"));
  CHECK(contains(imported(parts), " = cast(i, i64)"));
}

TEST_CASE("a gather of tuples is a take along as many axes") {
  ModelParts parts = one_node("GatherND", {"N", "M", 3}, {}, {"x", "i"});
  parts.inputs.push_back(value_info("i", kInt64, {"B", 2}));
  const std::string text = imported(parts);
  CHECK(contains(text, "slice(i, start = [0, 1], limit = [B, 2])"));
  CHECK(contains(text, ", axes = [0, 1])"));
  CHECK(contains(text, "i64(M)"));
}

TEST_CASE("amounts that are an input are dims") {
  ModelParts parts = one_node("Pad", {"N", "M"}, {}, {"x", "pads"});
  parts.inputs.push_back(value_info("pads", kInt64, {4}));
  const auto made = import_model(model(parts));
  REQUIRE(made.has_value());
  CHECK(contains(made->text, "(x: f32[N, M], pads_0: dim, pads_1: dim, pads_2: dim, pads_3: dim)"));
  CHECK(contains(made->text, "low = [pads_0, pads_1], high = [pads_2, pads_3]"));
  REQUIRE(made->inputs.size() == 2);
  CHECK(made->inputs[1].kind == Place::Kind::dims);
  CHECK(made->inputs[1].names == Names{"pads_0", "pads_1", "pads_2", "pads_3"});
  CHECK(contains(made->interface(), "\"kind\": \"dims\""));
}

TEST_CASE("negative amounts crop first where elements are mirrored, and are the pad's own where it is constant") {
  const Message pads = int64s("pads", {2}, {-2, 3});
  CHECK(contains(imported(one_node("Pad", {"N"}, {pads}, {"x", "pads"}, {attribute("mode", "wrap")})),
                 "slice(x, start = [2], limit = [N])"));
  CHECK(contains(imported(one_node("Pad", {"N"}, {pads}, {"x", "pads"})), "pad(x, low = [-2], high = [3])"));
}

TEST_CASE("older pads have their amounts as attributes, newer ones have axes") {
  ModelParts old =
      one_node("Pad", {"N"}, {}, {"x"}, {attribute("pads", std::vector<std::int64_t>{1, 2}), attribute("value", 0.5F)});
  old.opset = 9;
  CHECK(contains(imported(old), "pad(x, low = [1], high = [2], value = 0.5)"));
  CHECK(contains(imported(one_node("Pad", {"N", "M"}, {int64s("pads", {2}, {1, 2}), int64s("axes", {1}, {-1})},
                                   {"x", "pads", "", "axes"})),
                 "low = [0, 1], high = [0, 2]"));
}

TEST_CASE("a pad to a multiple, as exporters write it, is one pad") {
  const ModelParts parts{
      .inputs = {value_info("x", kFloat, {"B", "S"})},
      .constants = {int64s("eight", {}, {8}), int64s("one", {1}, {1}), int64s("zeros", {3}, {0, 0, 0})},
      .nodes = {node("Shape", {"x"}, {"s"}, {attribute("start", std::int64_t{1}), attribute("end", std::int64_t{2})}),
                node("Squeeze", {"s"}, {"n"}), node("Neg", {"n"}, {"m"}), node("Mod", {"m", "eight"}, {"p"}),
                node("Reshape", {"p", "one"}, {"q"}),
                node("Concat", {"zeros", "q"}, {"pads"}, {attribute("axis", std::int64_t{0})}),
                node("Pad", {"x", "pads"}, {"padded"}), node("Relu", {"padded"}, {"y"})},
      .outputs = {value_info("y", kFloat, {"B", "S + (PythonMod(-S, 8))"})}};
  CHECK(imported(parts) ==
        "program model(x: f32[B, S])\n{\n  padded = pad(x, low = [0, 0], high = [0, (-S) mod 8])\n  y = relu(padded)\n"
        "  return y\n}\n");
}

TEST_CASE("names that are no identifiers, or are taken, get others") {
  const ModelParts parts{.inputs = {value_info("in.0", kFloat, {"batch size", "f32", ""})},
                         .constants = {},
                         .nodes = {node("Relu", {"in.0"}, {"/layer/out"}), node("Neg", {"/layer/out"}, {"in_0"})},
                         .outputs = {value_info("in_0", kFloat, {})},
                         .name = "main graph"};
  CHECK(imported(parts) ==
        "program main_graph(in_0: f32[batch_size, f32_, in_0_d2])\n{\n  layer_out = relu(in_0)\n  in_0_2 = "
        "neg(layer_out)\n"
        "  return in_0_2\n}\n");
}

TEST_CASE("slices count from the end, stop there, and take literal steps") {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return imported(
        one_node("Slice", {"N"},
                 {int64s("s", {1}, {start}), int64s("e", {1}, {end}), int64s("a", {1}, {0}), int64s("t", {1}, {step})},
                 {"x", "s", "e", "a", "t"}));
  };
  CHECK(contains(slice(0, std::numeric_limits<std::int64_t>::max(), 2),
                 "slice(x, start = [0], limit = [N], step = [2])"));
  CHECK(contains(slice(-2, std::numeric_limits<std::int64_t>::max(), 1), "start = [max(N - 2, 0)], limit = [N]"));
  check_refused(one_node("Slice", {"N"},
                         {int64s("s", {1}, {-1}), int64s("e", {1}, {-9}), int64s("a", {1}, {0}), int64s("t", {1}, {0})},
                         {"x", "s", "e", "a", "t"}),
                "'the_node' (Slice): a step of 0");
}

TEST_CASE("a slice that goes backward is a part of a mirror image") {
  const auto backward = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return imported(
        one_node("Slice", {"M", "N"},
                 {int64s("s", {1}, {start}), int64s("e", {1}, {end}), int64s("a", {1}, {1}), int64s("t", {1}, {step})},
                 {"x", "s", "e", "a", "t"}));
  };
  const std::string all = backward(-1, std::numeric_limits<std::int64_t>::min(), -2);
  CHECK(contains(all, "slice(x, start = [0, 0], limit = [M, N])"));
  CHECK(contains(all, "low = [0, 0], high = [0, N], mode = symmetric)"));
  CHECK(contains(all, "start = [0, N], limit = [M, 2*N], step = [1, 2])"));
  CHECK(contains(backward(5, 2, -1), "start = [0, min(N, 3)], limit = [M, min(N, 6)]"));
}

TEST_CASE("an open extent is what the others leave") {
  CHECK(contains(imported(one_node("Reshape", {"B", "S", 64}, {int64s("s", {4}, {0, -1, 8, 8})}, {"x", "s"})),
                 "reshape(x, shape = [B, S, 8, 8])"));
  CHECK(
      contains(imported(one_node("Reshape", {"B", "S", 3}, {int64s("s", {1}, {-1})}, {"x", "s"})), "shape = [3*B*S]"));
  CHECK(contains(imported(one_node("Reshape", {"B", 6}, {int64s("s", {2}, {-1, 4})}, {"x", "s"})),
                 "shape = [(3*B) floordiv 2, 4]"));
}

TEST_CASE("dead nodes are left out, and inputs that serve nothing stay") {
  ModelParts parts = one_node("Relu", {"N"}, {}, {"x"});
  parts.inputs.push_back(value_info("unused", kFloat, {"K"}));
  parts.inputs.push_back(value_info("text", kString, {"K"}));
  parts.nodes.push_back(node("NonZero", {"x"}, {"nobody"}));
  const auto made = import_model(model(parts));
  REQUIRE(made.has_value());
  CHECK(contains(made->text, "(x: f32[N], unused: f32[K])"));
  CHECK(made->inputs[2].kind == Place::Kind::unused);
}

TEST_CASE("outputs that are inputs, constants or one value twice are copies") {
  ModelParts parts = one_node("Identity", {"N"}, {floats("c", {2}, {1.5F, 1.5F})}, {"x"});
  parts.nodes.push_back(node("Identity", {"c"}, {"z"}));
  parts.outputs.push_back(value_info("z", kFloat, {2}));
  parts.outputs.push_back(value_info("x", kFloat, {"N"}));
  const std::string text = imported(parts);
  CHECK(contains(text, "y = cast(x, f32)"));
  CHECK(contains(text, "broadcast(z_part, shape = [2], axes = [])"));
  CHECK(contains(text, "return y, z, x"));
}

TEST_CASE("sizes as data are coordinates") {
  ModelParts parts = one_node("Shape", {"N", 7}, {}, {"x"});
  const std::string text = imported(parts);
  CHECK(contains(text, "iota(i64, shape = [N + 1], axis = 0)"));
  CHECK(contains(text, "start = [N], limit = [N + 1]"));
  CHECK(contains(text, "cast(i64(7), i64)"));
}

TEST_CASE("what cannot be imported is listed by name, operator and reason, all of it") {
  const ModelParts parts{.inputs = {value_info("x", kFloat, {"N"}), value_info("s", kString, {"N"})},
                         .constants = {},
                         .nodes = {node("NonZero", {"x"}, {"a"}, {}, "first"), node("Relu", {"a"}, {"b"}),
                                   node("Loop", {"b"}, {"c"}, {}, "second"), node("StringNormalizer", {"s"}, {"d"})},
                         .outputs = {value_info("c", kFloat, {}), value_info("d", kFloat, {})}};
  const auto made = import_model(model(parts));
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message ==
        "expected a model of which a program can be made, found the input 's': its elements are of the type string; "
        "'first' (NonZero): Padlock has no NonZero; 'second' (Loop): Padlock has no Loop; "
        "node 3 (StringNormalizer): Padlock has no StringNormalizer. Parts of it could be programs, but the model does "
        "not say the type and shape of "
        "'a', at which a part begins (onnx.shape_inference.infer_shapes adds them)");
}

TEST_CASE("names are shown as UTF-8, whatever their bytes are") {
  ModelParts parts = one_node("Relu", {"N"}, {}, {"x"});
  parts.nodes[0] = node("R\x01\xff\xc3\xa9\xc3", {"x"}, {"y"});
  check_refused(parts, "(R??\xc3\xa9?)");
  parts = one_node("Relu", {"N"}, {}, {"\xed\xa0\x80x"});
  parts.inputs = {value_info("\xed\xa0\x80x", kFloat, {"N"})};
  const auto made = import_model(model(parts));
  REQUIRE(made.has_value());
  CHECK(made->inputs[0].model_name == "???x");
  CHECK(contains(made->text, "(x: f32[N])"));
}

TEST_CASE("each reason to refuse a node") {
  check_refused(one_node("Pad", {"N"}, {int64s("pads", {3}, {1, 1, 1})}, {"x", "pads"}), "it has 3 pads for 1 axes");
  check_refused(one_node("Pad", {"N"}, {int64s("pads", {2}, {1, 1})}, {"x", "pads"}, {attribute("mode", "odd")}),
                "the mode 'odd'");
  check_refused(one_node("Transpose", {"N", "M"}, {}, {"x"}, {attribute("perm", std::vector<std::int64_t>{0, 0})}),
                "axis 0 twice");
  check_refused(one_node("Concat", {"N"}, {}, {"x"}, {attribute("axis", std::int64_t{1})}),
                "axis 1 of a tensor of rank 1");
  check_refused(one_node("Add", {3}, {floats("c", {2}, {1, 2})}, {"x", "c"}), "extents 3 and 2 do not broadcast");
  check_refused(one_node("Not", {"N"}, {}, {"x"}), "'not' does not take f32");
  check_refused(one_node("Cast", {"N"}, {}, {"x"}, {attribute("to", std::int64_t{17})}), "a cast to float8e4m3fn");
  check_refused(one_node("Relu", {"N"}, {}, {"missing"}), "nothing before it computes its input 'missing'");
  check_refused(one_node("Reshape", {"N"}, {int64s("s", {2}, {-1, -1})}, {"x", "s"}), "two extents are left open");
  std::vector<float> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  check_refused(one_node("Add", {100}, {floats("c", {100}, many)}, {"x", "c"}), "a constant of 100 different elements");
}

TEST_CASE("versions out of reach are refused") {
  ModelParts parts = one_node("Relu", {"N"}, {}, {"x"});
  parts.opset = 6;
  check_refused(parts, "expected a model of operator set 7 to 28, found 6");
  parts.opset = 20;
  parts.ir_version = 15;
  check_refused(parts, "expected a model of IR version 14 at most, found 15");
}

}  // namespace
}  // namespace padlock::onnx::testing
