#include "onnx/usage.h"

#include <algorithm>
#include <ranges>

#include "onnx/operators/operator.h"

namespace padlock::onnx {
namespace {

bool is_scalar_place(const Node& node, std::size_t input) {
  return (node.op == "Pad" && input == 2) || (node.op == "Clip" && input >= 1);
}

void use(const Node& node, Usage& usage, std::unordered_set<std::string_view>& elsewhere) {
  const Operator* const op = find_operator(node.op);
  const bool gives_sizes =
      std::ranges::any_of(node.outputs, [&](std::string_view name) { return usage.as_sizes.contains(name); });
  const bool folds = op != nullptr && op->carries_sizes;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string_view name = node.inputs[i];
    const bool says_sizes = op != nullptr && i < 32 && (op->size_inputs >> i & 1) != 0;
    usage.values.insert(name);
    const bool is_type_alone = node.op == "CastLike" && i == 1;
    if (says_sizes || (gives_sizes && folds && !is_type_alone)) usage.as_sizes.insert(name);
    (is_scalar_place(node, i) ? usage.as_scalars : elsewhere).insert(name);
  }
}

}  // namespace

Usage usage_of(const Graph& graph) {
  Usage usage;
  std::unordered_set<std::string_view> elsewhere;
  for (const ValueInfo& output : graph.outputs) {
    usage.values.insert(output.name);
    elsewhere.insert(output.name);
  }
  usage.is_live.resize(graph.nodes.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    usage.is_live[i] = std::ranges::any_of(
        node.outputs, [&](std::string_view name) { return !name.empty() && usage.values.contains(name); });
    if (usage.is_live[i]) use(node, usage, elsewhere);
  }
  std::erase_if(usage.as_scalars, [&](std::string_view name) { return elsewhere.contains(name); });
  return usage;
}

}  // namespace padlock::onnx
