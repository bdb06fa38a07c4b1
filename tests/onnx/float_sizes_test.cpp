// Sizes that a model computes in floats: PyTorch's exporters write math.ceil(W / 32) like that.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "onnx/fraction.h"
#include "tests/common/environment.h"
#include "tests/onnx/import_testing.h"

namespace padlock::onnx::testing {
namespace {

std::vector<Message> to(int type) { return {attribute("to", std::int64_t{type})}; }
std::vector<Message> to_int() { return to(kInt64); }

/// x[B, W], padded at the end of its rows by the number that the nodes make of W, which is "w", as "n".
ModelParts padded_by(std::vector<Message> nodes, std::vector<Message> constants) {
  ModelParts parts{
      .inputs = {value_info("x", kFloat, {"B", "W"})},
      .constants = std::move(constants),
      .nodes = {node("Shape", {"x"}, {"s"}, {attribute("start", std::int64_t{1})}), node("Squeeze", {"s"}, {"w"})},
      .outputs = {value_info("y", kFloat, {})}};
  parts.constants.push_back(int64s("zeros", {3}, {0, 0, 0}));
  parts.constants.push_back(int64s("open", {1}, {-1}));
  parts.nodes.insert(parts.nodes.end(), nodes.begin(), nodes.end());
  parts.nodes.push_back(node("Reshape", {"n", "open"}, {"n1"}));
  parts.nodes.push_back(node("Concat", {"zeros", "n1"}, {"pads"}, {attribute("axis", std::int64_t{0})}));
  parts.nodes.push_back(node("Pad", {"x", "pads"}, {"y"}));
  return parts;
}

/// Returns the text from "where" on, without line breaks.
std::string guards_and_pad(const ModelParts& parts) {
  std::string text = imported(parts);
  text = text.substr(text.find('\n') + 1);
  std::ranges::replace(text, '\n', ' ');
  text = text.substr(0, text.find(" return"));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// What ceil, floor or a cast of W / d makes of W in a float type.
std::string divided(int type, float divisor, const char* rounding) {
  std::vector<Message> nodes = {node("Cast", {"w"}, {"f"}, to(type)), node("Cast", {"d"}, {"e"}, to(type)),
                                node("Div", {"f", "e"}, {"q"}, {}, "the_quotient")};
  nodes.push_back(*rounding == '\0' ? node("Identity", {"q"}, {"r"}) : node(rounding, {"q"}, {"r"}));
  nodes.push_back(node("Cast", {"r"}, {"n"}, to_int()));
  return guards_and_pad(padded_by(nodes, {floats("d", {}, {divisor})}));
}

TEST_CASE("a size that PyTorch's exporter rounds up in floats is taken, and sizes that f32 does not hold are a guard") {
  const ModelParts parts =
      padded_by({node("Cast", {"w"}, {"f"}, to(kFloat)), node("Div", {"f", "d"}, {"q"}), node("Ceil", {"q"}, {"c"}),
                 node("Cast", {"c"}, {"i"}, to_int()), node("Mul", {"i", "m"}, {"p"}), node("Sub", {"p", "w"}, {"n"})},
                {floats("d", {}, {32}), int64s("m", {}, {32})});
  const std::string text = imported(parts);
  CHECK(text ==
        "program model(x: f32[B, W])\nwhere W <= 16777215\n{\n"
        "  y = pad(x, low = [0, 0], high = [0, -W + 32*((W + 31) floordiv 32)])\n  return y\n}\n");
  const auto program = ir::parse_program(text);
  REQUIRE(program.has_value());
  const auto bound = [&](std::int64_t width) {
    ir::BindRequest request;
    request.tensors = {ir::ArgumentShape{{2, width}, {}}};
    return ir::Binding::bind(*program, request);
  };
  CHECK(bound(16777215));
  const auto refused = bound(16777216);
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "W <= 16777215"));
}

TEST_CASE("each rounding of a quotient, in f32 and in f64, by powers of two and by other numbers") {
  const std::string guard = "where W <= 16777215 {   y = pad(x, low = [0, 0], high = [0, ";
  CHECK(divided(kFloat, 32, "Ceil") == guard + "(W + 31) floordiv 32])");
  CHECK(divided(kFloat, 14, "Ceil") == guard + "(W + 13) floordiv 14])");
  CHECK(divided(kFloat, 14, "Floor") == guard + "W floordiv 14])");
  CHECK(divided(kFloat, 3, "") == guard + "W floordiv 3])");
  CHECK(divided(kFloat, 0.5F, "") ==
        "where W <= 16777215, 2*W <= 16777215 {   y = pad(x, low = [0, 0], high = [0, 2*W])");
  CHECK(divided(kFloat, -4, "Floor") == guard + "-((W + 3) floordiv 4)])");
  CHECK(divided(kFloat, -4, "Ceil") == guard + "-(W floordiv 4)])");
  // Every size that a program has is a number of f64.
  CHECK(divided(kDouble, 14, "Ceil") == "{   y = pad(x, low = [0, 0], high = [0, (W + 13) floordiv 14])");
}

TEST_CASE("arithmetic on floats that stays exact is taken") {
  const auto made = [](std::vector<Message> nodes, const std::vector<Message>& constants) {
    nodes.insert(nodes.begin(), node("Cast", {"w"}, {"f"}, to(kDouble)));
    nodes.push_back(node("Cast", {"r"}, {"n"}, to_int()));
    for (const Message& constant : constants) nodes.insert(nodes.begin(), constant);
    std::string text = guards_and_pad(padded_by(nodes, {}));
    return text.substr(text.find("high = [0, ") + 11);
  };
  const auto number = [](const char* name, float value) {
    return node("Constant", {}, {std::string(name) + "_"}, {attribute("value_float", value)});
  };
  const auto wide = [](const char* name) { return node("Cast", {std::string(name) + "_"}, {name}, to(kDouble)); };
  // Constants are made before they are cast; the list is put in front one by one.
  CHECK(made({node("Mul", {"f", "h"}, {"r"})}, {wide("h"), number("h", 0.5F)}) == "W floordiv 2])");
  CHECK(made({node("Mul", {"f", "h"}, {"g"}), node("Add", {"g", "f"}, {"k"}), node("Floor", {"k"}, {"r"})},
             {wide("h"), number("h", 0.25F)}) == "(5*W) floordiv 4])");
  CHECK(made({node("Sub", {"f", "h"}, {"g"}), node("Neg", {"g"}, {"k"}), node("Abs", {"k"}, {"r"})},
             {wide("h"), number("h", 8)}) == "max(-W + 8, W - 8)])");
  CHECK(made({node("Max", {"f", "h"}, {"r"})}, {wide("h"), number("h", 64)}) == "max(W, 64)])");
  CHECK(made({node("Min", {"f", "h"}, {"r"})}, {wide("h"), number("h", 64)}) == "min(W, 64)])");
}

TEST_CASE("floats that move, and lists of them, are sizes, too") {
  const ModelParts parts{.inputs = {value_info("x", kFloat, {"H", "W"})},
                         .constants = {floats("scale", {2}, {0.5F, 2}), int64s("rows", {2, 1}, {2, 1}),
                                       int64s("flat", {1}, {-1}), int64s("zeros", {2}, {0, 0})},
                         .nodes = {node("Shape", {"x"}, {"s"}), node("Cast", {"s"}, {"f"}, to(kFloat)),
                                   node("Mul", {"f", "scale"}, {"m"}), node("Unsqueeze", {"m", "axis"}, {"u"}),
                                   node("Identity", {"u"}, {"v"}), node("Squeeze", {"v", "axis"}, {"t"}),
                                   node("Floor", {"t"}, {"r"}), node("Cast", {"r"}, {"n"}, to_int()),
                                   node("Concat", {"zeros", "n"}, {"pads"}, {attribute("axis", std::int64_t{0})}),
                                   node("Pad", {"x", "pads"}, {"y"})},
                         .outputs = {value_info("y", kFloat, {})}};
  ModelParts with_axis = parts;
  with_axis.constants.push_back(int64s("axis", {1}, {1}));
  CHECK(guards_and_pad(with_axis) ==
        "where H <= 16777215, W <= 16777215, 2*W <= 16777215 {   y = pad(x, low = [0, 0], high = [H floordiv 2, 2*W])");
}

TEST_CASE("a float constant that is repeated has as many elements as its shape") {
  const auto parts = [](const std::vector<std::int64_t>& shape) {
    return ModelParts{
        .inputs = {value_info("x", kFloat, {"H", "W"})},
        .constants = {int64s("shape", {static_cast<int>(shape.size())}, shape), int64s("zeros", {2}, {0, 0})},
        .nodes = {node("Shape", {"x"}, {"s"}), node("Cast", {"s"}, {"f"}, to(kDouble)),
                  node("ConstantOfShape", {"shape"}, {"two"}, {attribute("value", floats("t", {1}, {2}))}),
                  node("Cast", {"two"}, {"by"}, to(kDouble)), node("Neg", {"by"}, {"below"}),
                  node("Sub", {"f", "below"}, {"q"}), node("Cast", {"q"}, {"n"}, to_int()),
                  node("Concat", {"zeros", "n"}, {"pads"}, {attribute("axis", std::int64_t{0})}),
                  node("Pad", {"x", "pads"}, {"y"})},
        .outputs = {value_info("y", kFloat, {})}};
  };
  CHECK(contains(imported(parts({2})), "high = [H + 2, W + 2]"));
  CHECK(contains(imported(parts({1})), "high = [H + 2, W + 2]"));
  check_refused(parts({3}), "do not broadcast");
  check_refused(parts({std::int64_t{1} << 40}), "is data, known only when the model runs");
}

/// Checks the reason for a node named the_node, whose result is "r".
void check_reason(std::vector<Message> nodes, std::vector<Message> constants, const std::string& reason) {
  nodes.insert(nodes.begin(), node("Cast", {"w"}, {"f"}, to(kFloat)));
  nodes.push_back(node("Cast", {"r"}, {"n"}, to_int()));
  check_refused(padded_by(std::move(nodes), std::move(constants)), reason);
}

TEST_CASE("a float that may be rounded is refused with the node that rounds it") {
  const auto last = [](const char* op, const Names& inputs) { return node(op, inputs, {"r"}, {}, "the_node"); };
  check_reason({last("Mul", {"f", "c"})}, {floats("c", {}, {0.1F})},
               "'the_node' (Mul): (W) times ((13421773) / 134217728) is rounded in f32");
  check_reason({last("Div", {"f", "c"})}, {floats("c", {}, {0.1F})}, "'the_node' (Div): (W) / (");
  check_reason({node("Div", {"f", "c"}, {"q"}), last("Mul", {"q", "c"})}, {floats("c", {}, {3})},
               "'the_node' (Mul): (W) / 3 is rounded in f32: expected Ceil, Floor or a Cast to integers of it");
  check_reason({node("Div", {"f", "c"}, {"q"}), last("Add", {"q", "c"})}, {floats("c", {}, {3})},
               "'the_node' (Add): (W) / 3 is rounded in f32");
  check_reason({last("Div", {"f", "f"})}, {},
               "'the_node' (Div): sizes as floats are divided by W; expected a constant");
  check_reason({last("Div", {"f", "c"})}, {floats("c", {}, {0})},
               "are divided by 0; expected a constant that is not 0");
  check_reason({last("Mul", {"f", "c"})}, {floats("c", {}, {std::numeric_limits<float>::quiet_NaN()})},
               "'the_node' (Mul): sizes are computed with nan; expected a finite number");
  check_reason({last("Mul", {"f", "c"})}, {floats("c", {}, {1e-30F})}, "which is rounded");
  check_refused(
      padded_by({node("Cast", {"w"}, {"r"}, to(kFloat16), "the_node"), node("Cast", {"r"}, {"n"}, to_int())}, {}),
      "'the_node' (Cast): sizes as f16; expected f32 or f64");
}

TEST_CASE("the least whole number of 64 bits, which has no magnitude there, is rounded in f32") {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<Message> nodes = {node("Cast", {"l"}, {"f"}, to(kFloat)), node("Cast", {"f"}, {"n"}, to_int())};
  check_refused(padded_by(nodes, {int64s("l", {}, {least})}), "is rounded in f32");
}

TEST_CASE("sizes of what is data name the node that made it data") {
  check_reason({node("Sqrt", {"f"}, {"q"}, {}, "the_root"), node("Ceil", {"q"}, {"r"}, {}, "the_node")}, {},
               "(Pad): the pads 'pads' are data, known only when the model runs ('the_root' (Sqrt): ");
  check_reason({node("Round", {"f"}, {"r"}, {}, "the_node")}, {}, "('the_node' (Round): its result is data)");
}

TEST_CASE("floats of sizes that are data are computed as before") {
  const std::string text = imported(
      {.inputs = {value_info("x", kFloat, {"W"})},
       .constants = {floats("d", {}, {3})},
       .nodes = {node("Shape", {"x"}, {"s"}), node("Cast", {"s"}, {"f"}, to(kFloat)), node("Div", {"f", "d"}, {"y"})},
       .outputs = {value_info("y", kFloat, {})}});
  CHECK_FALSE(contains(text, "where"));
  CHECK(contains(text, "y = div("));
}

/// One number as floats compute it, and as fractions say.
struct Pair {
  double number = 0;
  Fraction fraction;
};

template <class Float>
double rounded(double number) {
  return static_cast<double>(static_cast<Float>(number));
}

/// Applies a random operation; if fractions refuse it, nothing changes. Arithmetic in double, rounded once to f32,
/// equals f32's own: double has more than twice its digits.
template <class Float>
bool step(std::mt19937_64& random, const FractionMath& math, SizeMath& sizes, Pair& a) {
  constexpr std::array kNumbers = {1.0, 2.0, 3.0, 0.5, 0.25, 14.0, 32.0, -4.0, 7.0, 0.1, 100.0, 6.5};
  const double number = rounded<Float>(kNumbers[random() % kNumbers.size()]);
  const ir::Scalar scalar = std::is_same_v<Float, float>
                                ? ir::Scalar{ir::DType::f32, std::bit_cast<std::uint32_t>(static_cast<float>(number))}
                                : ir::Scalar{ir::DType::f64, std::bit_cast<std::uint64_t>(number)};
  const auto other = math.from_constant(scalar);
  if (!other) return false;
  Result<Fraction> made = a.fraction;
  double now = a.number;
  switch (random() % 10) {
    case 0:
      made = math.add(a.fraction, *other), now = a.number + number;
      break;
    case 1:
      made = math.sub(a.fraction, *other), now = a.number - number;
      break;
    case 2:
    case 3:
      made = math.mul(a.fraction, *other), now = a.number * number;
      break;
    case 4:
    case 5:
      made = math.div(a.fraction, *other),
      now = static_cast<double>(static_cast<Float>(a.number) / static_cast<Float>(number));
      break;
    case 6:
      made = math.floor(a.fraction), now = std::floor(a.number);
      break;
    case 7:
      made = math.ceil(a.fraction), now = std::ceil(a.number);
      break;
    case 8:
      made = math.max(a.fraction, *other), now = std::max(a.number, number);
      break;
    default:
      made = math.neg(a.fraction), now = -a.number;
      break;
  }
  if (!made || sizes.is_beyond_limits()) return false;
  a = {rounded<Float>(now), *made};
  return true;
}

template <class Float>
void check_random_chains(ir::DType dtype, std::mt19937_64& random) {
  int compared = 0, accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    SizeMath sizes;
    const Expr width = sizes.extent("W");
    const FractionMath math(sizes, dtype);
    const std::array<std::int64_t, 1> values = {static_cast<std::int64_t>(random() >> (random() % 28 + 36))};
    Pair now{rounded<Float>(static_cast<double>(values[0])), *math.from_size(width)};
    for (std::size_t i = random() % 6; i > 0; --i) accepted += step<Float>(random, math, sizes, now) ? 1 : 0;
    const auto at = [&](Expr e) { return *ir::evaluate_int64(sizes.context(), e, values); };
    if (std::ranges::any_of(now.fraction.bounds,
                            [&](const FloatBound& bound) { return std::abs(at(bound.size)) > bound.most; }))
      continue;
    ++compared;
    const std::int64_t above = at(now.fraction.numerator), below = now.fraction.denominator;
    INFO("W = ", values[0], ": ", above, " / ", below, " and ", now.number);
    // Both are below 2^53.
    CHECK(now.number == rounded<Float>(static_cast<double>(above) / static_cast<double>(below)));
    const auto whole = math.truncate(now.fraction);
    REQUIRE(whole);
    CHECK(at(*whole) == static_cast<std::int64_t>(now.number));
    CHECK(at(math.floor(now.fraction)->numerator) == static_cast<std::int64_t>(std::floor(now.number)));
    CHECK(at(math.ceil(now.fraction)->numerator) == static_cast<std::int64_t>(std::ceil(now.number)));
  }
  CHECK(compared > 1000);
  CHECK(accepted > 2000);
}

TEST_CASE("within their bounds, random chains of float arithmetic are what fractions say of them") {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  check_random_chains<float>(ir::DType::f32, random);
  check_random_chains<double>(ir::DType::f64, random);
}

TEST_CASE("rounded quotients of f32 fall on no other side of a whole number, up to the bound") {
  constexpr std::int64_t kMost = 16777215;
  for (const std::int64_t divisor : {3, 7, 12, 14, 31, 33, 1023, 16777215}) {
    const auto by = static_cast<float>(divisor);
    for (std::int64_t n = 0; n <= kMost; n += n < kMost - 200'000 && n > 200'000 ? 1009 : 1) {
      const float quotient = static_cast<float>(n) / by;
      if (static_cast<std::int64_t>(std::ceil(quotient)) != (n + divisor - 1) / divisor ||
          static_cast<std::int64_t>(std::floor(quotient)) != n / divisor)
        FAIL("of ", n, " by ", divisor);
    }
  }
}

}  // namespace
}  // namespace padlock::onnx::testing
