// Operators on one tensor and a few numbers: activations, and operators that become several operations.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "ir/text/literal.h"
#include "onnx/operators/elementwise.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {
namespace {

using ir::DType;
using ir::Op;

/// Returns a number as a literal without a type, exactly.
std::string exact(double number) { return to_string(ir::Scalar{DType::f64, std::bit_cast<std::uint64_t>(number)}); }

/// The tensor of an activation, by its name.
struct Tensor {
  std::string x;
  DType dtype;
  std::vector<Expr> shape;
};
Result<Tensor> tensor_input(NodeImport& node, Op op) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_CHECK(check_type(op, value->dtype));
  PADLOCK_TRY(std::string x, node.tensor(*value));
  return Tensor{std::move(x), value->dtype, value->shape};
}

/// Adds statements from a tensor to the node; `last` is the last one.
Status finish(NodeImport& node, const Tensor& tensor, std::string_view last) {
  node.finish(last, tensor.dtype, tensor.shape);
  return {};
}

/// Returns a bound of Clip, from an input or an attribute; empty if there is none.
Result<std::string> bound(NodeImport& node, std::size_t input, std::string_view attribute) {
  if (node.opset() < 11) return node.attribute(attribute) == nullptr ? std::string() : exact(node.number(attribute, 0));
  if (!node.has_input(input)) return std::string();
  PADLOCK_TRY(Value* const value, node.input(input));
  if (auto text = node.scalar(*value)) return *std::move(text);
  return node.tensor(*value);
}

/// Makes "x < L ? L : x": adds the comparison as a statement, and returns the select.
std::string clipped(NodeImport& node, const std::string& x, std::string_view comparison, const std::string& bound) {
  const std::string beyond = node.part(fmt::format("{}({}, {})", comparison, x, bound));
  return fmt::format("select({}, {}, {})", beyond, bound, x);
}

}  // namespace

Status import_clip(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::clamp));
  PADLOCK_TRY(const std::string lo, bound(node, 1, "min"));
  PADLOCK_TRY(const std::string hi, bound(node, 2, "max"));
  if (lo.empty() && hi.empty()) return finish(node, in, fmt::format("cast({}, {})", in.x, name_of(in.dtype)));
  if (lo.empty() || hi.empty())
    return finish(node, in, clipped(node, in.x, lo.empty() ? "gt" : "lt", lo.empty() ? hi : lo));
  // If min > max, max wins here, as the standard says; "clamp" would let min win.
  const std::string above = node.part(clipped(node, in.x, "lt", lo));
  return finish(node, in, clipped(node, above, "gt", hi));
}

Status import_leaky_relu(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  return finish(node, in, fmt::format("leaky_relu({}, alpha = {})", in.x, exact(node.number("alpha", 0.01F))));
}

Status import_prelu(NodeImport& node) {
  std::array<Value*, 2> values = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    PADLOCK_TRY(values[i], node.input(i));
  }
  PADLOCK_CHECK(check_type(Op::mul, values[0]->dtype));
  PADLOCK_TRY(const Operands operands, broadcast_operands(node, values));
  const auto& [x, slope] = std::pair(operands.names[0], operands.names[1]);
  const std::string below = node.part(fmt::format("lt({}, {}(0))", x, name_of(values[0]->dtype)));
  const std::string product = node.part(fmt::format("mul({}, {})", x, slope));
  node.finish(fmt::format("select({}, {}, {})", below, product, x), values[0]->dtype, operands.shape);
  return {};
}

Status import_reciprocal(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  return finish(node, in, fmt::format("div(1, {})", in.x));
}

Status import_thresholded_relu(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  const std::string above = node.part(fmt::format("gt({}, {})", in.x, exact(node.number("alpha", 1))));
  return finish(node, in, fmt::format("select({}, {}, 0)", above, in.x));
}

Status import_hard_sigmoid(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  const std::string scaled = node.part(fmt::format("mul({}, {})", in.x, exact(node.number("alpha", 0.2F))));
  const std::string moved = node.part(fmt::format("add({}, {})", scaled, exact(node.number("beta", 0.5F))));
  return finish(node, in, fmt::format("clamp({}, lo = 0, hi = 1)", moved));
}

Status import_hard_swish(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  const std::string scaled = node.part(fmt::format("mul({}, {})", in.x, exact(1.0 / 6)));
  const std::string moved = node.part(fmt::format("add({}, 0.5)", scaled));
  const std::string slope = node.part(fmt::format("clamp({}, lo = 0, hi = 1)", moved));
  return finish(node, in, fmt::format("mul({}, {})", in.x, slope));
}

Status import_gelu(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::gelu));
  const bool is_tanh = node.word("approximate", "none") == "tanh";
  return finish(node, in, fmt::format("{}({})", is_tanh ? "gelu_tanh" : "gelu", in.x));
}

Status import_swish(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::silu));
  const float alpha = node.number("alpha", 1);
  if (alpha == 1) return finish(node, in, fmt::format("silu({})", in.x));
  const std::string scaled = node.part(fmt::format("mul({}, {})", in.x, exact(alpha)));
  return finish(node, in, fmt::format("mul({}, {})", in.x, node.part(fmt::format("sigmoid({})", scaled))));
}

namespace {

/// Computes gamma * (x > 0 ? x : alpha * (exp(x * inverse) - 1)), which defines each of this family in the standard.
Status import_exponential(NodeImport& node, double alpha, double gamma, double inverse) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::exp));
  std::string power = in.x;
  if (inverse != 1) power = node.part(fmt::format("mul({}, {})", power, exact(inverse)));
  const std::string less = node.part(fmt::format("sub({}, 1)", node.part(fmt::format("exp({})", power))));
  const std::string scaled = node.part(fmt::format("mul({}, {})", less, exact(alpha)));
  const std::string above = node.part(fmt::format("gt({}, 0)", in.x));
  const std::string chosen = fmt::format("select({}, {}, {})", above, in.x, scaled);
  if (gamma == 1) return finish(node, in, chosen);
  return finish(node, in, fmt::format("mul({}, {})", node.part(chosen), exact(gamma)));
}

}  // namespace

Status import_elu(NodeImport& node) { return import_exponential(node, node.number("alpha", 1), 1, 1); }

Status import_selu(NodeImport& node) {
  return import_exponential(node, node.number("alpha", 1.67326319217681884765625F),
                            node.number("gamma", 1.05070102214813232421875F), 1);
}

Status import_celu(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  return import_exponential(node, alpha, 1, 1 / alpha);
}

Status import_mish(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::softplus));
  const std::string soft = node.part(fmt::format("softplus({})", in.x));
  return finish(node, in, fmt::format("mul({}, {})", in.x, node.part(fmt::format("tanh({})", soft))));
}

Status import_softsign(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::div));
  const std::string size = node.part(fmt::format("abs({})", in.x));
  return finish(node, in, fmt::format("div({}, {})", in.x, node.part(fmt::format("add({}, 1)", size))));
}

Status import_shrink(NodeImport& node) {
  PADLOCK_TRY(const Tensor in, tensor_input(node, Op::sqrt));
  const double lambd = node.number("lambd", 0.5F), bias = node.number("bias", 0);
  const std::string below = node.part(fmt::format("lt({}, {})", in.x, exact(-lambd)));
  const std::string above = node.part(fmt::format("gt({}, {})", in.x, exact(lambd)));
  const std::string up = node.part(fmt::format("add({}, {})", in.x, exact(bias)));
  const std::string down = node.part(fmt::format("sub({}, {})", in.x, exact(bias)));
  const std::string rest = node.part(fmt::format("select({}, {}, 0)", above, down));
  return finish(node, in, fmt::format("select({}, {}, {})", below, up, rest));
}

}  // namespace padlock::onnx
