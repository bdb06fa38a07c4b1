// Arithmetic on sizes: a model's computations with shapes, checked by numbers.
#include <array>
#include <limits>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "onnx/size_math.h"

#include "onnx/operators/shapes.h"
#include "tests/onnx/import_testing.h"

namespace padlock::onnx::testing {
namespace {

std::int64_t value(SizeMath& sizes, Expr e, std::span<const std::int64_t> values) {
  const auto result = ir::evaluate_int64(sizes.context(), e, values);
  REQUIRE(result.has_value());
  return *result;
}

TEST_CASE("division rounds towards zero, whatever is known of the sign") {
  SizeMath sizes;
  const Expr any = sizes.dim("a"), extent = sizes.extent("n");
  for (std::int64_t b = 1; b <= 7; ++b)
    for (std::int64_t a = -30; a <= 30; ++a) {
      const std::array<std::int64_t, 2> values = {a, a < 0 ? -a : a};
      const Expr divisor = sizes.constant(b);
      CHECK(value(sizes, sizes.truncated_div(any, divisor), values) == a / b);
      CHECK(value(sizes, sizes.truncated_div(extent, divisor), values) == values[1] / b);
      CHECK(value(sizes, sizes.truncated_div(sizes.neg(extent), divisor), values) == -values[1] / b);
    }
  CHECK(sizes.truncated_div(extent, sizes.constant(2)) == sizes.floordiv(extent, sizes.constant(2)));
}

/// Returns the text of "d", a list of one size that `nodes` compute from the extents of x[N, M].
std::string sized(std::vector<Message> nodes, std::vector<Message> constants) {
  constants.push_back(int64s("i0", {1}, {0}));
  constants.push_back(int64s("i1", {1}, {1}));
  std::vector<Message> all = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "i0"}, {"n"}),
                              node("Gather", {"s", "i1"}, {"m"})};
  all.insert(all.end(), nodes.begin(), nodes.end());
  all.push_back(node("ConstantOfShape", {"d"}, {"y"}));
  const std::string text = imported({.inputs = {value_info("x", kFloat, {"N", "M"})},
                                     .constants = constants,
                                     .nodes = all,
                                     .outputs = {value_info("y", kFloat, {})}});
  const std::size_t at = text.find("shape = [") + 9;
  return text.substr(at, text.find("], axes") - at);
}

TEST_CASE("each operator on sizes") {
  const Message two = int64s("two", {1}, {2}), minus = int64s("minus", {1}, {-3});
  CHECK(sized({node("Add", {"n", "m"}, {"d"})}, {}) == "N + M");
  CHECK(sized({node("Sub", {"n", "two"}, {"e"}), node("Max", {"e", "m", "two"}, {"d"})}, {two}) == "max(M, N - 2, 2)");
  CHECK(sized({node("Mul", {"n", "two"}, {"e"}), node("Min", {"e", "m"}, {"d"})}, {two}) == "min(M, 2*N)");
  CHECK(sized({node("Div", {"n", "two"}, {"d"})}, {two}) == "N floordiv 2");
  CHECK(sized({node("Div", {"n", "minus"}, {"e"}), node("Abs", {"e"}, {"d"})}, {minus}) == "N floordiv 3");
  CHECK(sized({node("Neg", {"n"}, {"e"}), node("Mod", {"e", "two"}, {"d"})}, {two}) == "N mod 2");
  CHECK(sized({node("Size", {"x"}, {"e"}), node("Reshape", {"e", "one"}, {"d"})}, {int64s("one", {1}, {1})}) == "N*M");
  CHECK(sized({node("Cast", {"n"}, {"e"}, {attribute("to", std::int64_t{kInt32})}),
               node("Cast", {"e"}, {"d"}, {attribute("to", std::int64_t{kInt64})})},
              {}) == "N");
}

TEST_CASE("a shape that is chosen by what is known of it") {
  // As exporters expand: 1 where the shape has -1.
  CHECK(sized({node("Equal", {"n", "none"}, {"e"}), node("Where", {"e", "two", "n"}, {"d"})},
              {int64s("two", {1}, {2}), int64s("none", {1}, {-1})}) == "N");
}

TEST_CASE("sizes in two dimensions are moved as tensors are") {
  // As older exporters convert torch's pads: [a, b, c, d] becomes [[c, d], [a, b]], and is transposed.
  const std::string text =
      imported({.inputs = {value_info("x", kFloat, {"N", "M"})},
                .constants = {int64s("pads", {4}, {1, 2, 3, 4}), int64s("two", {2}, {-1, 2}), int64s("s", {1}, {-1}),
                              int64s("e", {1}, {std::numeric_limits<std::int64_t>::min()}), int64s("a", {1}, {0}),
                              int64s("t", {1}, {-1}), int64s("flat", {1}, {-1})},
                .nodes = {node("Reshape", {"pads", "two"}, {"p2"}), node("Slice", {"p2", "s", "e", "a", "t"}, {"p3"}),
                          node("Transpose", {"p3"}, {"p4"}), node("Reshape", {"p4", "flat"}, {"p5"}),
                          node("Pad", {"x", "p5"}, {"y"})},
                .outputs = {value_info("y", kFloat, {})}});
  CHECK(contains(text, "low = [3, 1], high = [4, 2]"));
}

TEST_CASE("sizes have as many elements as their shape") {
  check_refused(
      {.inputs = {value_info("x", kFloat, {"N", "M"})},
       .constants = {int64s("three", {2}, {3, 1})},
       .nodes = {node("Shape", {"x"}, {"s"}), node("Reshape", {"s", "three"}, {"t"}), node("Transpose", {"t"}, {"y"})},
       .outputs = {value_info("y", kInt64, {})}},
      "(Reshape): 2 elements in the shape [3, 1]");
}

/// y of the shape that one node makes of the extents of x[N], which are "n".
ModelParts shaped_by(Message last, std::vector<Message> constants = {}) {
  constants.push_back(int64s("seven", {1}, {7}));
  constants.push_back(int64s("minus", {1}, {-1}));
  return {.inputs = {value_info("x", kFloat, {"N"})},
          .constants = constants,
          .nodes = {node("Shape", {"x"}, {"n"}), node("Sub", {"n", "seven"}, {"less"}), node("Neg", {"n"}, {"below"}),
                    std::move(last), node("Abs", {"d"}, {"e"}), node("ConstantOfShape", {"e"}, {"y"})},
          .outputs = {value_info("y", kFloat, {})}};
}

TEST_CASE("a divisor that could be 0 is a guard, which is checked when sizes are bound") {
  const auto guarded = [](Message last, const std::string& guard, const std::string& size) {
    const std::string text = imported(shaped_by(std::move(last)));
    CAPTURE(text);
    CHECK(contains(text, "\nwhere " + guard + "\n{"));
    CHECK(contains(text, "shape = [" + size + "]"));
  };
  guarded(node("Div", {"seven", "n"}, {"d"}), "N >= 1", "7 floordiv N");
  guarded(node("Mod", {"seven", "n"}, {"d"}), "N >= 1", "7 mod N");
  guarded(node("Mod", {"seven", "n"}, {"d"}, {attribute("fmod", std::int64_t{1})}), "N >= 1",
          "max(-(N*(7 floordiv N)) + 7, N*(7 floordiv N) - 7)");
  // What could be negative, too, is positive with the guard.
  guarded(node("Div", {"seven", "less"}, {"d"}), "N - 7 >= 1", "7 floordiv (N - 7)");
  const auto program = ir::parse_program(imported(shaped_by(node("Mod", {"seven", "n"}, {"d"}))));
  REQUIRE(program.has_value());
  const auto bound = [&](std::int64_t extent) {
    ir::BindRequest request;
    request.tensors = {ir::ArgumentShape{{extent}, {}}};
    return ir::Binding::bind(*program, request);
  };
  CHECK(bound(1));
  const auto refused = bound(0);
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "N >= 1"));
}

TEST_CASE("a divisor that is never positive needs no guard where it is negative, and is refused where it could be 0") {
  CHECK_FALSE(contains(imported(shaped_by(node("Div", {"n", "minus"}, {"d"}))), "where"));
  check_refused(shaped_by(node("Div", {"seven", "below"}, {"d"})),
                "(Div): the divisor -N is never positive, and may be 0");
  check_refused(shaped_by(node("Mod", {"seven", "zero"}, {"d"}), {int64s("zero", {1}, {0})}),
                "(Mod): the divisor 0 is never positive, and may be 0");
}

TEST_CASE("an extent that a reshape leaves open is divided by extents that are not 0") {
  const ModelParts parts{
      .inputs = {value_info("x", kFloat, {"N", "M"}), value_info("z", kFloat, {"K"})},
      .constants = {int64s("open", {1}, {-1})},
      .nodes = {node("Shape", {"z"}, {"k"}), node("Concat", {"k", "open"}, {"s"}, {attribute("axis", std::int64_t{0})}),
                node("Reshape", {"x", "s"}, {"y"}, {attribute("allowzero", std::int64_t{1})})},
      .outputs = {value_info("y", kFloat, {})}};
  CHECK(contains(imported(parts), "where K >= 1"));
}

TEST_CASE("divisors without end are refused: a program has as many guards as constraints") {
  ModelParts parts = shaped_by(node("Abs", {"n"}, {"d"}));
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i), size = "s" + number, quotient = "q" + number;
    parts.constants.push_back(int64s("c" + number, {1}, {i + 7}));
    parts.nodes.push_back(node("Sub", {"n", "c" + number}, {size}));
    parts.nodes.push_back(node("Mul", {size, size}, {size + "b"}));
    parts.nodes.push_back(node("Sub", {size + "b", "n"}, {size + "c"}));
    parts.nodes.push_back(node("Div", {"seven", size + "c"}, {quotient}));
    parts.nodes.push_back(node("ConstantOfShape", {quotient}, {"t" + number}));
    parts.outputs.push_back(value_info("t" + number, kFloat, {}));
  }
  check_refused(parts, "too long", Code::resource_exhausted);
}

TEST_CASE("a comparison that depends on sizes is refused") {
  check_refused(
      shaped_by(node("Where", {"n", "seven", "n"}, {"d"})),
      "(ConstantOfShape): the shape 'e' are data, known only when the model runs (node 3 (Where): a choice of "
      "sizes that depends on them)");
}

TEST_CASE("sizes that grow without end are refused") {
  ModelParts parts{.inputs = {value_info("x", kFloat, {"N", "M"})},
                   .constants = {},
                   .nodes = {},
                   .outputs = {value_info("y", kFloat, {})}};
  parts.nodes.push_back(node("Shape", {"x"}, {"t0"}));
  // Each takes the one before it twice: the graph grows by three nodes, the text is twice as long.
  for (int i = 0; i < 40; ++i) {
    const std::string last = "t" + std::to_string(i), one = last + "a", other = last + "b";
    parts.nodes.push_back(node("Sub", {"c", last}, {one}));
    parts.nodes.push_back(node("Mul", {last, "t0"}, {other}));
    parts.nodes.push_back(node("Max", {one, other}, {"t" + std::to_string(i + 1)}));
  }
  parts.constants.push_back(int64s("c", {1}, {3}));
  parts.nodes.push_back(node("ConstantOfShape", {"t40"}, {"y"}));
  parts.nodes.push_back(node("Relu", {"y"}, {"z"}));
  parts.outputs = {value_info("z", kFloat, {})};
  check_refused(parts, "too long", Code::resource_exhausted);
}

TEST_CASE("a shape with a negative extent has no elements to count, whatever its others are") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK_FALSE(size_count(std::vector<std::int64_t>{0, kLeast}).has_value());
  CHECK_FALSE(size_count(std::vector<std::int64_t>{-1, 0}).has_value());
  CHECK(size_count(std::vector<std::int64_t>{3, 0}) == 0);
  CHECK(size_count(std::vector<std::int64_t>{}) == 1);
}

}  // namespace
}  // namespace padlock::onnx::testing
