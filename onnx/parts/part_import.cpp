#include "onnx/parts/part_import.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "onnx/graph_import.h"
#include "onnx/limits.h"
#include "onnx/parts/graph_parts.h"
#include "support/steps.h"

namespace padlock::onnx {
namespace {

constexpr int kRounds = 8;                               // of import; each turns a part's refused nodes into cuts
constexpr std::size_t kTriedParts = 64;                  // most parts that are tried
constexpr std::size_t kTriedNodes = 4 * limits::kNodes;  // nodes of all tried parts together, and of a refused model
constexpr std::size_t kListedParts = 8;                  // most parts that a message lists
constexpr std::size_t kListedNames = 4;                  // most inputs that it lists of a part, and most outputs

/// A part that can be a program.
struct ImportedPart {
  Import import;
  std::size_t nodes = 0;
  std::vector<std::string_view> inputs, outputs;
};

/// Imports the part between the cuts that computes the outputs. Its refused nodes become cuts. `steps` limits
/// arithmetic on sizes; after them no further round begins.
Result<ImportedPart> import_between(const Model& model, const ImportOptions& options, const Parts& parts,
                                    const std::vector<std::string_view>& outputs, Cuts cuts, std::int64_t steps) {
  const StepBudget all(steps);
  for (int round = 0;; ++round) {
    PADLOCK_TRY(Part part, parts.cut(outputs, cuts));
    ImportedPart made{.import = {}, .nodes = part.nodes.size(), .inputs = {}, .outputs = outputs};
    for (const ValueInfo& input : part.graph.inputs) made.inputs.push_back(input.name);
    const Model alone{.ir_version = model.ir_version,
                      .operator_sets = model.operator_sets,
                      .functions = model.functions,
                      .graph = std::move(part.graph)};
    GraphImport graph(alone, options, steps);
    auto imported = graph.run();
    if (imported) {
      made.import = *std::move(imported);
      return made;
    }
    if (round == kRounds || all.is_used_up() || imported.error().code != Code::unimplemented ||
        graph.refused_nodes().empty())
      return std::unexpected(std::move(imported).error());
    for (const std::size_t node : graph.refused_nodes()) cuts.insert(part.nodes[node]);
    if (parts.is_cut(outputs, cuts)) return std::unexpected(std::move(imported).error());
  }
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kListedNames; ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i].substr(0, limits::kNameBytes));
  return names.size() <= kListedNames ? text : fmt::format("{} and {} more", text, names.size() - kListedNames);
}

/// Lists which parts of a model can be programs; empty if none can.
std::string parts_text(const Model& model, const ImportOptions& options, const Cuts& cuts) {
  const Parts parts(*model.graph);
  std::string text, unknown;
  std::size_t tried = 0, found = 0, nodes = 0;
  const StepBudget steps(limits::kSteps / 4);
  for (const auto& outputs : parts.groups(cuts)) {
    if (++tried > kTriedParts || nodes > kTriedNodes || steps.is_used_up()) break;
    const auto made = import_between(model, options, parts, outputs, cuts, limits::kSteps / 32);
    if (!made && unknown.empty() && made.error().message.find("does not say the type") != std::string::npos)
      unknown = made.error().message;
    nodes += made ? made->nodes : model.graph->nodes.size();
    if (!made || ++found > kListedParts) continue;
    text += fmt::format("{}{} of {} ({} node{})", found == 1 ? "" : "; ", list_of(made->outputs),
                        made->inputs.empty() ? "no input" : list_of(made->inputs), made->nodes,
                        made->nodes == 1 ? "" : "s");
  }
  if (found > kListedParts) text += fmt::format("; and {} more", found - kListedParts);
  if (found > 0)
    return fmt::format(
        ". These parts of it are programs, each to be had by its outputs (padlock import --to=NAME, or "
        "'outputs' in C and Python): {}",
        text);
  return unknown.empty() ? "" : fmt::format(". Parts of it could be programs, but {}", unknown);
}

}  // namespace

Result<Import> import_whole(const Model& model, const ImportOptions& options) {
  GraphImport graph(model, options);
  auto made = graph.run();
  if (!made && made.error().code == Code::unimplemented && !graph.refused_nodes().empty())
    made.error().message += parts_text(model, options, graph.refused_nodes());
  return made;
}

Result<Import> import_part(const Model& model, const ImportOptions& options) {
  const Parts parts(*model.graph);
  const std::vector<std::string_view> outputs(options.outputs.begin(), options.outputs.end());
  PADLOCK_TRY(ImportedPart made, import_between(model, options, parts, outputs, {}, limits::kSteps));
  return std::move(made.import);
}

}  // namespace padlock::onnx
