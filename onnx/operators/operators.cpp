#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onnx/operators/elementwise.h"
#include "onnx/operators/movement.h"
#include "onnx/operators/operator.h"
#include "onnx/operators/sizes.h"

namespace padlock::onnx {
namespace {

using ir::Op;
using enum OperatorGroup;

// Bits of inputs that say sizes.
constexpr std::uint32_t kInput0 = 1, kInput1 = 2, kInput2 = 4, kInput3 = 8, kInput4 = 16;

constexpr auto kOperators = std::to_array<Operator>({
    {.name = "CenterCropPad", .group = movement, .import = import_center_crop_pad, .size_inputs = kInput1},
    {.name = "Concat", .group = movement, .import = import_concat, .carries_sizes = true},
    {.name = "Constant",
     .group = movement,
     .import = import_constant,
     .note = "no texts, no sparse tensors; as data one value, or up to 64"},
    {.name = "ConstantOfShape", .group = movement, .import = import_constant_of_shape, .size_inputs = kInput0},
    {.name = "DepthToSpace", .group = movement, .import = import_depth_to_space},
    {.name = "Dropout",
     .group = movement,
     .import = import_dropout,
     .size_inputs = kInput2,
     .note = "that does not train"},
    {.name = "Expand", .group = movement, .import = import_expand, .size_inputs = kInput1, .carries_sizes = true},
    {.name = "Flatten", .group = movement, .import = import_flatten, .carries_sizes = true},
    {.name = "Gather",
     .group = movement,
     .import = import_gather,
     .size_inputs = kInput1,
     .carries_sizes = true,
     .note = "literal indices, of data in at most 64 runs"},
    {.name = "Identity", .group = movement, .import = import_identity, .carries_sizes = true},
    {.name = "Pad", .group = movement, .import = import_pad, .size_inputs = kInput1 | kInput3, .note = "literal axes"},
    {.name = "Range",
     .group = movement,
     .import = import_range,
     .size_inputs = kInput0 | kInput1 | kInput2,
     .carries_sizes = true,
     .note = "int32 and int64; start and step literal where the result is data"},
    {.name = "Reshape",
     .group = movement,
     .import = import_reshape,
     .size_inputs = kInput1,
     .carries_sizes = true,
     .note = "extents that cannot be negative"},
    {.name = "Slice",
     .group = movement,
     .import = import_slice,
     .size_inputs = kInput1 | kInput2 | kInput3 | kInput4,
     .carries_sizes = true,
     .note = "literal axes and steps"},
    {.name = "SpaceToDepth", .group = movement, .import = import_space_to_depth},
    {.name = "Split", .group = movement, .import = import_split, .size_inputs = kInput1},
    {.name = "Squeeze",
     .group = movement,
     .import = import_squeeze,
     .size_inputs = kInput1,
     .carries_sizes = true,
     .note = "literal axes; without them, extents that are literally 1"},
    {.name = "Tile", .group = movement, .import = import_tile, .size_inputs = kInput1},
    {.name = "Transpose", .group = movement, .import = import_transpose, .carries_sizes = true},
    {.name = "Trilu", .group = movement, .import = import_trilu, .size_inputs = kInput1, .note = "a literal diagonal"},
    {.name = "Unsqueeze",
     .group = movement,
     .import = import_unsqueeze,
     .size_inputs = kInput1,
     .carries_sizes = true,
     .note = "literal axes"},

    {.name = "Abs", .group = elementwise, .import = import_as<Op::abs>, .fold = fold_abs, .carries_sizes = true},
    {.name = "Add", .group = elementwise, .import = import_as<Op::add>, .fold = fold_add, .carries_sizes = true},
    {.name = "And", .group = elementwise, .import = import_as<Op::logical_and>},
    {.name = "Cast", .group = elementwise, .import = import_cast, .carries_sizes = true},
    {.name = "CastLike", .group = elementwise, .import = import_cast_like, .carries_sizes = true},
    {.name = "Ceil", .group = elementwise, .import = import_as<Op::ceil>},
    {.name = "Clip", .group = elementwise, .import = import_clip},
    {.name = "Div",
     .group = elementwise,
     .import = import_div,
     .fold = fold_div,
     .carries_sizes = true,
     .note = "floats, integers of at most 32 bits, sizes by what is provably positive"},
    {.name = "Equal", .group = elementwise, .import = import_as<Op::eq>, .fold = fold_equal, .carries_sizes = true},
    {.name = "Floor", .group = elementwise, .import = import_as<Op::floor>},
    {.name = "Greater", .group = elementwise, .import = import_as<Op::gt>, .fold = fold_greater, .carries_sizes = true},
    {.name = "GreaterOrEqual",
     .group = elementwise,
     .import = import_as<Op::ge>,
     .fold = fold_greater_or_equal,
     .carries_sizes = true},
    {.name = "HardSigmoid", .group = elementwise, .import = import_hard_sigmoid},
    {.name = "HardSwish", .group = elementwise, .import = import_hard_swish},
    {.name = "IsInf", .group = elementwise, .import = import_is_inf},
    {.name = "IsNaN", .group = elementwise, .import = import_is_nan},
    {.name = "LeakyRelu", .group = elementwise, .import = import_leaky_relu},
    {.name = "Less", .group = elementwise, .import = import_as<Op::lt>, .fold = fold_less, .carries_sizes = true},
    {.name = "LessOrEqual",
     .group = elementwise,
     .import = import_as<Op::le>,
     .fold = fold_less_or_equal,
     .carries_sizes = true},
    {.name = "Max", .group = elementwise, .import = import_max, .fold = fold_max, .carries_sizes = true},
    {.name = "Mean", .group = elementwise, .import = import_mean},
    {.name = "Min", .group = elementwise, .import = import_min, .fold = fold_min, .carries_sizes = true},
    {.name = "Mod",
     .group = elementwise,
     .import = import_mod,
     .fold = fold_mod,
     .carries_sizes = true,
     .note = "as Div, but no floats"},
    {.name = "Mul", .group = elementwise, .import = import_as<Op::mul>, .fold = fold_mul, .carries_sizes = true},
    {.name = "Neg", .group = elementwise, .import = import_as<Op::neg>, .fold = fold_neg, .carries_sizes = true},
    {.name = "Not",
     .group = elementwise,
     .import = import_as<Op::logical_not>,
     .fold = fold_not,
     .carries_sizes = true},
    {.name = "Or", .group = elementwise, .import = import_as<Op::logical_or>},
    {.name = "PRelu", .group = elementwise, .import = import_prelu},
    {.name = "Reciprocal", .group = elementwise, .import = import_reciprocal},
    {.name = "Relu", .group = elementwise, .import = import_as<Op::relu>},
    {.name = "Round", .group = elementwise, .import = import_as<Op::round>},
    {.name = "Shrink", .group = elementwise, .import = import_shrink},
    {.name = "Sign", .group = elementwise, .import = import_as<Op::sign>},
    {.name = "Softsign", .group = elementwise, .import = import_softsign},
    {.name = "Sqrt", .group = elementwise, .import = import_as<Op::sqrt>},
    {.name = "Sub", .group = elementwise, .import = import_as<Op::sub>, .fold = fold_sub, .carries_sizes = true},
    {.name = "Sum", .group = elementwise, .import = import_sum, .fold = fold_add, .carries_sizes = true},
    {.name = "ThresholdedRelu", .group = elementwise, .import = import_thresholded_relu},
    {.name = "Where", .group = elementwise, .import = import_where, .fold = fold_where, .carries_sizes = true},
    {.name = "Xor", .group = elementwise, .import = import_xor},

    {.name = "Celu", .group = activation, .import = import_celu},
    {.name = "Elu", .group = activation, .import = import_elu},
    {.name = "Erf", .group = activation, .import = import_as<Op::erf>},
    {.name = "Exp", .group = activation, .import = import_as<Op::exp>},
    {.name = "Gelu", .group = activation, .import = import_gelu},
    {.name = "Log", .group = activation, .import = import_as<Op::log>},
    {.name = "Mish", .group = activation, .import = import_mish},
    {.name = "Selu", .group = activation, .import = import_selu},
    {.name = "Sigmoid", .group = activation, .import = import_as<Op::sigmoid>},
    {.name = "Softplus", .group = activation, .import = import_as<Op::softplus>},
    {.name = "Swish", .group = activation, .import = import_swish},
    {.name = "Tanh", .group = activation, .import = import_as<Op::tanh>},

    {.name = "Shape", .group = sizes, .import = import_shape},
    {.name = "Size", .group = sizes, .import = import_size},
});

constexpr std::array<std::string_view, 4> kGroups = {"data movement", "elementwise", "activations", "sizes"};

}  // namespace

std::span<const Operator> operators() { return kOperators; }

const Operator* find_operator(std::string_view name) {
  const auto* const found = std::ranges::find(kOperators, name, &Operator::name);
  return found == kOperators.end() ? nullptr : found;
}

std::string operator_table() {
  std::string table = "| operator | group | on sizes | what of it |\n|---|---|---|---|\n";
  for (const Operator& op : kOperators)
    table += fmt::format("| `{}` | {} | {} | {} |\n", op.name, kGroups[static_cast<std::size_t>(op.group)],
                         op.carries_sizes || op.group == OperatorGroup::sizes ? "yes" : "",
                         op.note.empty() ? "all" : op.note);
  return table;
}

}  // namespace padlock::onnx
