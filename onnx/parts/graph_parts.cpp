#include "onnx/parts/graph_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include "onnx/limits.h"
#include "onnx/node_import.h"

namespace padlock::onnx {
namespace {

std::string quoted(std::string_view name) { return fmt::format("'{}'", name.substr(0, limits::kNameBytes)); }

}  // namespace

Parts::Parts(const Graph& graph) : graph_(graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string_view name : graph.nodes[i].outputs)
      if (!name.empty()) makers_.try_emplace(name, i);
  for (const auto* list : {&graph.inputs, &graph.values, &graph.outputs})
    for (const ValueInfo& info : *list) infos_.try_emplace(info.name, &info);
  for (const StoredTensor& tensor : graph.initializers) constants_.try_emplace(tensor.name, &tensor);
}

std::vector<std::string_view> Parts::mark(const std::vector<std::string_view>& outputs, const Cuts& cuts,
                                          std::vector<bool>& marks) const {
  marks.assign(graph_.nodes.size(), false);
  std::vector<std::string_view> begins, pending = outputs;
  std::unordered_set<std::string_view> seen;
  while (!pending.empty()) {
    const std::string_view name = pending.back();
    pending.pop_back();
    if (name.empty() || constants_.contains(name) || !seen.insert(name).second) continue;
    const auto maker = makers_.find(name);
    if (maker == makers_.end() || cuts.contains(maker->second)) {
      begins.push_back(name);
    } else if (!marks[maker->second]) {
      marks[maker->second] = true;
      const auto& inputs = graph_.nodes[maker->second].inputs;
      pending.insert(pending.end(), inputs.begin(), inputs.end());
    }
  }
  // Sorts the names in the order of the model; the search found them in another.
  std::ranges::sort(begins, {}, [&](std::string_view name) {
    const auto input = std::ranges::find(graph_.inputs, name, &ValueInfo::name);
    const auto maker = makers_.find(name);
    return std::pair(maker == makers_.end() ? 0 : maker->second + 1, input - graph_.inputs.begin());
  });
  return begins;
}

bool Parts::is_cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const {
  return std::ranges::any_of(outputs, [&](std::string_view name) {
    const auto maker = makers_.find(name);
    return maker != makers_.end() && cuts.contains(maker->second);
  });
}

Result<Part> Parts::cut(const std::vector<std::string_view>& outputs, const Cuts& cuts) const {
  for (const std::string_view name : outputs)
    if (!makers_.contains(name))
      return std::unexpected(Error{
          .code = Code::not_found,
          .blame = Blame::user,
          .message = fmt::format("expected the name of a value that the model computes, found {}", quoted(name))});
  std::vector<bool> marks;
  const std::vector<std::string_view> begins = mark(outputs, cuts, marks);
  Part part;
  part.graph.name = graph_.name;
  for (const std::string_view name : begins) {
    const auto info = infos_.find(name);
    if (info == infos_.end())
      return refused(
          fmt::format("the model does not say the type and shape of {}, at which a part begins "
                      "(onnx.shape_inference.infer_shapes adds them)",
                      quoted(name)));
    part.graph.inputs.push_back(*info->second);
  }
  std::unordered_set<std::string_view> used;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!marks[i]) continue;
    part.nodes.push_back(i);
    part.graph.nodes.push_back(graph_.nodes[i]);
    used.insert(graph_.nodes[i].inputs.begin(), graph_.nodes[i].inputs.end());
  }
  for (const StoredTensor& tensor : graph_.initializers)
    if (used.contains(tensor.name)) part.graph.initializers.push_back(tensor);
  for (const std::string_view name : outputs) part.graph.outputs.emplace_back().name = name;
  return part;
}

std::vector<std::vector<std::string_view>> Parts::groups(const Cuts& cuts) const {
  const std::vector<Node>& nodes = graph_.nodes;
  // Level of a node: the number of cuts on the longest path to it. Nodes of one level have no cut between them, so no
  // part needs its own output as an input.
  std::vector<std::size_t> levels(nodes.size()), leaders(nodes.size());
  std::iota(leaders.begin(), leaders.end(), std::size_t{0});
  const auto leader = [&](std::size_t i) {
    while (leaders[i] != i) i = leaders[i] = leaders[leaders[i]];
    return i;
  };
  std::unordered_set<std::string_view> needed;
  for (const ValueInfo& output : graph_.outputs) needed.insert(output.name);
  const auto maker_of = [&](std::string_view name, std::size_t before) {
    const auto found = makers_.find(name);
    return found != makers_.end() && found->second < before ? found->second : nodes.size();
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : nodes[i].inputs)
      if (const std::size_t maker = maker_of(name, i); maker < nodes.size())
        levels[i] = std::max(levels[i], levels[maker] + (cuts.contains(maker) ? 1 : 0));
    if (cuts.contains(i)) {
      needed.insert(nodes[i].inputs.begin(), nodes[i].inputs.end());
      continue;
    }
    for (const std::string_view name : nodes[i].inputs)
      if (const std::size_t maker = maker_of(name, i);
          maker < nodes.size() && !cuts.contains(maker) && levels[maker] == levels[i])
        leaders[leader(maker)] = leader(i);
  }
  struct Group {
    std::size_t size = 0;
    std::vector<std::string_view> outputs;
  };
  std::map<std::size_t, Group> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (cuts.contains(i)) continue;
    Group& group = groups[leader(i)];
    ++group.size;
    for (const std::string_view name : nodes[i].outputs)
      if (!name.empty() && needed.contains(name)) group.outputs.push_back(name);
  }
  std::vector<Group> sorted;
  for (auto& [first, group] : groups)
    if (!group.outputs.empty()) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::greater(), &Group::size);
  std::vector<std::vector<std::string_view>> lists;
  for (Group& group : sorted) lists.push_back(std::move(group.outputs));
  return lists;
}

}  // namespace padlock::onnx
