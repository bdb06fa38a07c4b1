// Models for the body that imports them: chains of nodes with constants and sizes, corrupted in a few places.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/mutate.h"
#include "tests/onnx/model_writer.h"

namespace padlock::fuzz {
namespace {

using namespace onnx::testing;
using testing::Rng;

// Operators with their inputs: d of data, s of sizes, - left out.
constexpr auto kOnData =
    std::to_array<std::string_view>({"Relu d",         "Neg d",          "Sqrt d",     "Exp d",
                                     "Gelu d",         "LeakyRelu d",    "Identity d", "Flatten d",
                                     "Transpose d",    "Clip d",         "Clip ddd",   "Elu d",
                                     "Trilu d",        "Trilu ds",       "Softplus d", "Dropout d",
                                     "Add dd",         "Mul dd",         "Div dd",     "Mod dd",
                                     "Less dd",        "Equal dd",       "Max ddd",    "Mean dd",
                                     "PRelu dd",       "CastLike dd",    "Where ddd",  "Concat dd",
                                     "Pad ds",         "Pad dsd",        "Pad ds-s",   "Slice dsss",
                                     "Slice dssss",    "Gather ds",      "Reshape ds", "Squeeze d",
                                     "Squeeze ds",     "Unsqueeze ds",   "Expand ds",  "Tile ds",
                                     "Split d",        "Split ds",       "Cast d",     "CenterCropPad ds",
                                     "SpaceToDepth d", "DepthToSpace d", "Constant",   "ConstantOfShape s",
                                     "Range sss",      "NonZero d"});
constexpr auto kOnSizes = std::to_array<std::string_view>(
    {"Add ss",      "Sub ss",    "Mul ss",     "Div ss",       "Mod ss",      "Neg s",     "Abs s",
     "Min sss",     "Max ss",    "Gather ss",  "Concat ss",    "Concat sss",  "Slice sss", "Slice ssss",
     "Slice sssss", "Squeeze s", "Reshape ss", "Unsqueeze ss", "Transpose s", "Expand ss", "Where sss",
     "Equal ss",    "Cast s",    "Shape d",    "Size d",       "Range sss",   "Constant"});
constexpr std::array<std::string_view, 24> kAttributes = {
    "axis", "axes",  "perm",      "mode",      "pads",   "value",      "to",   "start",
    "end",  "alpha", "split",     "blocksize", "keep",   "k",          "fmod", "upper",
    "min",  "max",   "allowzero", "value_int", "starts", "value_ints", "ends", "approximate"};
constexpr std::array<const char*, 8> kModes = {"constant", "reflect", "edge", "wrap", "CRD", "tanh", "none", ""};

/// Small, at an end of an axis, or far away.
std::int64_t any_number(Rng& rng) {
  if (rng.chance(95)) return rng.between(rng.chance(80) ? 0 : -3, rng.chance(80) ? 3 : 9);
  if (rng.chance(50)) return rng.chance(50) ? INT64_MAX : INT64_MIN;
  return rng.between(-(std::int64_t{1} << 41), std::int64_t{1} << 41);
}

std::vector<std::int64_t> numbers(Rng& rng, std::int64_t most) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(rng.between(0, most)));
  for (std::int64_t& number : result) number = any_number(rng);
  return result;
}

/// A graph as it grows: names of data and of sizes.
struct Growth {
  ModelParts parts;
  Names data = {"x", "m"}, sizes;
  int next = 0;

  std::string fresh() { return "v" + std::to_string(next++); }
};

Message any_attribute(Rng& rng) {
  const std::string_view name = rng.pick(kAttributes);
  const std::int64_t kind = rng.between(0, 4);
  if (kind == 0) return attribute(name, rng.pick(kModes));
  if (kind == 1) return attribute(name, static_cast<float>(rng.between(-4, 4)) / 2);
  if (kind == 2) return attribute(name, numbers(rng, 6));
  if (kind == 3) return attribute(name, int64s("t", {2}, {any_number(rng), any_number(rng)}));
  return attribute(name, any_number(rng));
}

void add_constant(Growth& growth, Rng& rng) {
  const std::string name = growth.fresh();
  if (rng.chance(80)) {
    const auto list = numbers(rng, 8);
    const bool scalar = list.size() == 1 && rng.chance(50);
    growth.parts.constants.push_back(
        int64s(name, scalar ? std::vector<std::int64_t>() : std::vector{static_cast<std::int64_t>(list.size())}, list));
    growth.sizes.push_back(name);
    return;
  }
  growth.parts.constants.push_back(floats(name, {1}, {static_cast<float>(rng.between(-4, 4)) / 2}));
  growth.data.push_back(name);
}

Names any_inputs(std::string_view kinds, Growth& growth, Rng& rng) {
  Names inputs;
  for (const char kind : kinds) {
    const bool is_size = (kind == 's') != rng.chance(3);
    inputs.push_back(kind == '-' || rng.chance(1) ? "" : is_size ? rng.pick(growth.sizes) : rng.pick(growth.data));
  }
  if (rng.chance(3)) inputs.push_back(rng.pick(growth.data));
  return inputs;
}

void add_node(Growth& growth, Rng& rng) {
  const bool on_sizes = rng.chance(50);
  const std::string_view chosen = on_sizes ? rng.pick(kOnSizes) : rng.pick(kOnData);
  const std::size_t space = std::min(chosen.find(' '), chosen.size());
  const Names inputs = any_inputs(space < chosen.size() ? chosen.substr(space + 1) : "", growth, rng);
  std::vector<Message> attributes;
  for (std::int64_t i = rng.chance(50) ? rng.between(1, 2) : 0; i > 0; --i) attributes.push_back(any_attribute(rng));
  const std::string name = growth.fresh();
  growth.parts.nodes.push_back(
      node(chosen.substr(0, space), inputs, rng.chance(10) ? Names{name, growth.fresh()} : Names{name}, attributes));
  (on_sizes ? growth.sizes : growth.data).push_back(name);
}

/// A size that is computed in floats, as exporters do.
void add_float_size(Growth& growth, Rng& rng) {
  constexpr std::array<float, 9> kFactors = {32, 14, 0.5F, 3, -4, 0.1F, 0, 1e30F, 2.75F};
  constexpr std::array<const char*, 9> kSteps = {"Div", "Mul", "Add", "Sub", "Max", "Min", "Ceil", "Floor", "Neg"};
  std::string last = growth.fresh();
  const int type = rng.chance(80) ? kFloat : rng.chance(50) ? kDouble : kFloat16;
  growth.parts.nodes.push_back(node("Cast", {rng.pick(growth.sizes)}, {last}, {attribute("to", std::int64_t{type})}));
  for (std::int64_t i = rng.between(1, 4); i > 0; --i) {
    const std::string factor = growth.fresh(), next = growth.fresh();
    const std::string_view op = rng.pick(kSteps);
    growth.parts.constants.push_back(floats(factor, {}, {rng.pick(kFactors)}));
    const bool is_unary = op == "Ceil" || op == "Floor" || op == "Neg";
    growth.parts.nodes.push_back(node(op, is_unary ? Names{last} : Names{last, factor}, {next}));
    last = next;
  }
  growth.data.push_back(last);
  growth.sizes.push_back(growth.fresh());
  growth.parts.nodes.push_back(node("Cast", {last}, {growth.sizes.back()}, {attribute("to", std::int64_t{kInt64})}));
}

std::string valid_model(Rng& rng) {
  Growth growth;
  growth.parts.opset = static_cast<int>(rng.chance(90) ? 20 : rng.between(6, 29));
  growth.parts.inputs = {value_info("x", kFloat, {"N", 3, "H", "W"}),
                         value_info("m", static_cast<int>(rng.chance(90) ? 1 : rng.between(1, 16)), {"W"}),
                         value_info("p", kInt64, {static_cast<int>(rng.between(0, 8))})};
  growth.parts.nodes.push_back(node("Shape", {rng.pick(growth.data)}, {"s"}));
  growth.sizes = {"p", "s"};
  for (std::int64_t i = rng.between(0, 5); i > 0; --i) add_constant(growth, rng);
  if (rng.chance(20)) add_float_size(growth, rng);
  for (std::int64_t i = rng.between(1, rng.chance(70) ? 4 : 12); i > 0; --i) add_node(growth, rng);
  // Where a part begins behind a node that is refused, its shape may be there.
  for (int i = 0; i < growth.next; ++i)
    if (rng.chance(20)) growth.parts.values.push_back(value_info("v" + std::to_string(i), kFloat, {"N", "V"}));
  // The last value is the output; sometimes there are more.
  growth.parts.outputs = {value_info(growth.data.back(), kFloat, {})};
  if (rng.chance(30)) growth.parts.outputs.push_back(value_info(growth.sizes.back(), kInt64, {}));
  return model(growth.parts);
}

constexpr std::array<std::string_view, 10> kWords = {
    "Pad",  "Loop", "x",        "\x80\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "\x0a", "\x3a", "\x12\x00", "../x",     "ai.onnx"};

}  // namespace

std::string make_input(Rng& rng) {
  std::string bytes = valid_model(rng);
  if (rng.chance(60)) return bytes;
  if (rng.chance(50)) {
    for (std::int64_t left = rng.between(1, 4); left > 0; --left)
      rng.pick(bytes) = static_cast<char>(rng.between(0, 255));
    return bytes;
  }
  return mutate(bytes, valid_model(rng), kWords, rng);
}

}  // namespace padlock::fuzz
