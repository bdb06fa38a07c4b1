#include "onnx/graph_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/program.h"
#include "onnx/element_types.h"
#include "onnx/limits.h"
#include "onnx/operators/operator.h"
#include "onnx/printable.h"

namespace padlock::onnx {
namespace {

constexpr std::int64_t kFirstOpset = 7, kLastOpset = 28, kLastIr = 14;

bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

/// Returns a name of the model as messages show it.
std::string quoted(std::string_view name) { return fmt::format("'{}'", name.substr(0, limits::kNameBytes)); }

std::string text_of(const std::vector<Expr>& shape, ir::DType dtype, SizeMath& sizes) {
  return fmt::format("{}{}", name_of(dtype), sizes.text(shape));
}

}  // namespace

GraphImport::GraphImport(const Model& model, const ImportOptions& options, std::int64_t steps)
    : model_(model), graph_(*model.graph), usage_(usage_of(graph_)), sizes_(steps), elements_(options.folder) {}

Result<Import> GraphImport::run() {
  PADLOCK_CHECK(check_versions());
  take_names();
  PADLOCK_CHECK(add_constants());
  for (const ValueInfo& input : graph_.inputs)
    if (!values_.contains(input.name)) add_input(input);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
    if (usage_.is_live[i]) PADLOCK_CHECK(add_node(i));
  if (refusal_count_ > 0) return refusals();
  for (const ValueInfo& output : graph_.outputs) add_result(output);
  if (refusal_count_ > 0) return refusals();
  return finish();
}

Status GraphImport::check_versions() {
  if (model_.ir_version > kLastIr)
    return refused(fmt::format("expected a model of IR version {} at most, found {}", kLastIr, model_.ir_version));
  for (const OperatorSet& set : model_.operator_sets)
    if (is_default_domain(set.domain)) opset_ = std::max(opset_, set.version);
  if (opset_ < kFirstOpset || opset_ > kLastOpset)
    return refused(fmt::format("expected a model of operator set {} to {}, found {}", kFirstOpset, kLastOpset, opset_));
  if (graph_.has_sparse_initializers) return refused("expected a model without sparse initializers");
  if (graph_.nodes.size() > limits::kNodes)
    return beyond_limits(fmt::format("expected at most {} nodes, found {}", limits::kNodes, graph_.nodes.size()));
  if (graph_.outputs.empty()) return refused("expected a model with an output");
  return {};
}

/// Names that people see in the model are taken first, so that no other name gets them.
void GraphImport::take_names() {
  std::unordered_set<std::string_view> constants;
  for (const StoredTensor& tensor : graph_.initializers) constants.insert(tensor.name);
  for (const ValueInfo& input : graph_.inputs)
    if (!constants.contains(input.name) && !kept_names_.contains(input.name))
      kept_names_[input.name] = text_.take_name(input.name);
  for (const ValueInfo& output : graph_.outputs)
    if (!kept_names_.contains(output.name)) kept_names_[output.name] = text_.take_name(output.name);
}

Status GraphImport::add_constants() {
  for (const StoredTensor& tensor : graph_.initializers) {
    if (!usage_.values.contains(tensor.name) || values_.contains(tensor.name)) continue;
    auto value = constant_value(tensor, elements_, sizes_);
    if (value) {
      values_[tensor.name] = *std::move(value);
    } else if (value.error().code == Code::resource_exhausted) {
      return std::unexpected(std::move(value).error());
    } else {
      refuse(fmt::format("the constant {}", quoted(tensor.name)), value.error().message);
      lost_.insert(tensor.name);
    }
  }
  return {};
}

// ---- inputs

void GraphImport::add_input(const ValueInfo& info) {
  Place place{.kind = Place::Kind::tensor, .model_name = printable(info.name), .names = {}};
  auto value = parameter(info, place);
  if (value) {
    values_[info.name] = *std::move(value);
  } else if (usage_.values.contains(info.name)) {
    refuse(fmt::format("the input {}", quoted(info.name)), value.error().message);
    lost_.insert(info.name);
  } else {
    place.kind = Place::Kind::unused;
  }
  import_.inputs.push_back(std::move(place));
}

Result<Value> GraphImport::parameter(const ValueInfo& info, Place& place) {
  const auto dtype = element_type(info.type);
  if (!info.is_tensor) return refused("it is no tensor");
  if (!dtype) return refused(fmt::format("its elements are of the type {}", name_of_type(info.type)));
  if (!info.has_shape) return refused("its rank is not known");
  if (info.shape.size() > limits::kRank) return refused(fmt::format("its rank is above {}", limits::kRank));
  const bool says_sizes = usage_.as_sizes.contains(info.name) && (*dtype == ir::DType::i64 || *dtype == ir::DType::i32);
  if (says_sizes && info.shape.size() <= 1) {
    const bool is_known = info.shape.empty() || info.shape[0].kind == Dimension::Kind::number;
    if (is_known) return dims_parameter(info, *dtype, place);
  }
  Value value{.dtype = *dtype, .shape = {}, .name = kept_names_[info.name], .sizes = {}, .constant = {}};
  for (std::size_t axis = 0; axis < info.shape.size(); ++axis) value.shape.push_back(extent(info, axis));
  value.is_scalar = info.shape.empty() && usage_.as_scalars.contains(info.name);
  place.kind = value.is_scalar ? Place::Kind::scalar : Place::Kind::tensor;
  place.names = {value.name};
  text_.add_parameter(value.name,
                      value.is_scalar ? std::string(name_of(*dtype)) : text_of(value.shape, *dtype, sizes_));
  return value;
}

/// Adds a parameter for each number of an input from which sizes are computed: unlike a tensor's elements, their values
/// are not in the program.
Result<Value> GraphImport::dims_parameter(const ValueInfo& info, ir::DType dtype, Place& place) {
  const std::int64_t count = info.shape.empty() ? 1 : info.shape[0].number;
  if (count < 0 || count > static_cast<std::int64_t>(limits::kSizes))
    return refused(fmt::format("it says sizes, and has {} elements, above {}", count, limits::kSizes));
  Value value{.dtype = dtype, .shape = {}, .name = {}, .sizes = std::vector<Expr>(), .constant = {}};
  if (!info.shape.empty()) value.shape.push_back(sizes_.constant(count));
  place.kind = Place::Kind::dims;
  const std::string& stem = kept_names_[info.name];
  for (std::int64_t i = 0; i < count; ++i) {
    place.names.push_back(info.shape.empty() ? stem : text_.take_name(fmt::format("{}_{}", stem, i)));
    text_.add_parameter(place.names.back(), "dim");
    value.sizes->push_back(sizes_.dim(place.names.back()));
  }
  return value;
}

/// Returns a number, or the symbol of that name. A dimension without a description gets a symbol of its own.
Expr GraphImport::extent(const ValueInfo& info, std::size_t axis) {
  const Dimension& dimension = info.shape[axis];
  if (dimension.kind == Dimension::Kind::number && dimension.number >= 0) return sizes_.constant(dimension.number);
  if (dimension.kind != Dimension::Kind::name)
    return sizes_.extent(text_.take_name(fmt::format("{}_d{}", kept_names_[info.name], axis)));
  auto [found, is_new] = symbol_names_.try_emplace(dimension.name);
  if (is_new) {
    found->second = text_.take_name(dimension.name);
    import_.symbols.push_back(
        {.kind = Place::Kind::symbol, .model_name = printable(dimension.name), .names = {found->second}});
    return sizes_.extent(found->second);
  }
  return *sizes_.context().find_symbol(found->second);
}

// ---- nodes

std::string GraphImport::subject_of(std::size_t index) const {
  const Node& node = graph_.nodes[index];
  const std::string domain = is_default_domain(node.domain) ? "" : quoted(node.domain) + ".";
  const std::string name = node.name.empty() ? fmt::format("node {}", index) : quoted(node.name);
  const std::string op = quoted(node.op);
  return fmt::format("{} ({}{})", name, domain, std::string_view(op).substr(1, op.size() - 2));
}

void GraphImport::refuse(std::string subject, std::string reason) {
  if (++refusal_count_ <= limits::kRefusals) refusals_.push_back({std::move(subject), std::move(reason)});
}

void GraphImport::refuse_node(std::size_t index, const Error& error) {
  refused_nodes_.insert(index);
  refuse(subject_of(index), error.message);
  for (const std::string_view output : graph_.nodes[index].outputs) lost_.insert(output);
}

Result<std::vector<Value*>> GraphImport::inputs_of(const Node& node, bool& is_lost) {
  std::vector<Value*> values;
  for (const std::string_view name : node.inputs) {
    const auto found = values_.find(name);
    is_lost |= lost_.contains(name);
    if (!name.empty() && found == values_.end() && !is_lost)
      return refused(fmt::format("nothing before it computes its input {}", quoted(name)));
    values.push_back(name.empty() || found == values_.end() ? nullptr : &found->second);
  }
  return values;
}

Status GraphImport::import_node(const Node& node, NodeImport& import) {
  if (model_.functions.contains({is_default_domain(node.domain) ? "" : node.domain, node.op}))
    return refused("it calls a function of the model; functions are not expanded");
  const Operator* const op = is_default_domain(node.domain) ? find_operator(node.op) : nullptr;
  if (op == nullptr) return refused(fmt::format("Padlock has no {}", node.op.substr(0, limits::kNameBytes)));
  for (const Attribute& attribute : node.attributes)
    if (attribute.has_graph || attribute.is_reference || attribute.has_other_kind)
      return refused(fmt::format("its attribute {} is a graph, a reference or of another kind that is not read",
                                 quoted(attribute.name)));
  if (import.says_sizes() && op->fold_floats != nullptr && import.has_fractions_alone()) return op->fold_floats(import);
  if (import.says_sizes() && import.has_fraction() && !op->carries_floats)
    return refused("sizes are computed with it in floats, of which it is not known when they are exact");
  if (op->fold == nullptr || !import.has_sizes_alone()) {
    if (op->import == nullptr) return refused("its inputs are data; it is known of sizes alone");
    return op->import(import);
  }
  const Status folded = op->fold(import);
  if (folded || op->import == nullptr || folded.error().code != Code::unimplemented) return folded;
  import.results().assign(node.outputs.size(), std::nullopt);
  import.set_data_reason(folded.error().message);
  const Status imported = op->import(import);
  // The reason against sizes says more than the reason against data.
  return imported || imported.error().code != Code::unimplemented ? imported : folded;
}

Status GraphImport::add_node(std::size_t index) {
  const Node& node = graph_.nodes[index];
  bool is_lost = false;
  auto values = inputs_of(node, is_lost);
  if (!values) {
    refuse_node(index, values.error());
    return {};
  }
  const bool is_known = is_default_domain(node.domain) && find_operator(node.op) != nullptr;
  if (is_lost && is_known) {  // the node that was refused has its own message
    for (const std::string_view output : node.outputs) lost_.insert(output);
    return {};
  }
  NodeImport import(node, index, opset_, sizes_, text_, elements_, *std::move(values));
  std::vector<std::string> names;
  for (const std::string_view output : node.outputs) {
    const auto kept = kept_names_.find(output);
    names.push_back(kept != kept_names_.end() && !values_.contains(output) ? kept->second : std::string());
  }
  import.set_output_names(std::move(names));
  import.set_says_sizes(
      std::ranges::any_of(node.outputs, [&](std::string_view output) { return usage_.as_sizes.contains(output); }));
  const Status status = import_node(node, import);
  if (sizes_.is_beyond_limits() || text_.is_too_long())
    return beyond_limits(fmt::format(
        "the sizes of the model are too long as expressions, or their program as a text, at {}", subject_of(index)));
  if (!status && status.error().code == Code::resource_exhausted) return status;
  if (!status) {
    refuse_node(index, status.error());
    return {};
  }
  if (import.says_sizes()) note_origins(import, index);
  keep_results(node, index, std::move(import.results()));
  return {};
}

void GraphImport::note_origins(NodeImport& import, std::size_t index) const {
  const std::string& reason = import.data_reason();
  for (std::optional<Value>& result : import.results()) {
    if (!result || result->sizes || result->fractions || result->constant != nullptr || !result->origin.empty())
      continue;
    result->origin = import.origin();
    if (result->origin.empty())
      result->origin = fmt::format("{}: {}", subject_of(index), reason.empty() ? "its result is data" : reason);
  }
}

void GraphImport::keep_results(const Node& node, std::size_t index, std::vector<std::optional<Value>> results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty()) continue;
    if (!results[i]) {
      if (!usage_.values.contains(name)) continue;
      refuse_node(index, Error{.message = fmt::format("its output {} is not computed", i)});
    } else if (!values_.try_emplace(name, *std::move(results[i])).second) {
      refuse_node(index, Error{.message = fmt::format("its output {} is there already", quoted(name))});
    }
  }
}

// ---- results

void GraphImport::add_result(const ValueInfo& info) {
  const auto found = values_.find(info.name);
  const std::string subject = fmt::format("the output {}", quoted(info.name));
  if (found == values_.end()) return refuse(subject, "nothing computes it");
  const std::string& name = kept_names_[info.name];
  Value& value = found->second;
  if (!result_names_.insert(name).second) return refuse(subject, "it is there twice");
  if (value.name != name || value.is_scalar) {
    // A value that already has another name, or none, is copied.
    const Node identity{
        .name = {}, .op = "Identity", .domain = {}, .inputs = {}, .outputs = {info.name}, .attributes = {}};
    NodeImport copy(identity, ProgramText::kNoNode, opset_, sizes_, text_, elements_, {&value});
    copy.set_output_names({value.name == name ? std::string() : name});
    const auto tensor = copy.tensor(value);
    if (!tensor) return refuse(subject, tensor.error().message);
    copy.finish(fmt::format("cast({}, {})", *tensor, name_of(value.dtype)), value.dtype, value.shape);
    value.name = copy.results()[0]->name;
    value.is_scalar = false;
  }
  text_.add_result(value.name);
  import_.results.push_back({.kind = Place::Kind::tensor, .model_name = printable(info.name), .names = {value.name}});
}

std::unexpected<Error> GraphImport::refusals() const {
  std::string list;
  for (const Refusal& refusal : refusals_)
    list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", refusal.subject, refusal.reason);
  if (refusal_count_ > refusals_.size()) list += fmt::format("; and {} more", refusal_count_ - refusals_.size());
  return refused(fmt::format("expected a model of which a program can be made, found {}", list));
}

Result<Import> GraphImport::finish() {
  for (const ir::Constraint& guard : sizes_.guards())
    text_.add_guard(fmt::format("{} {} {}", sizes_.text(guard.lhs), name_of(guard.comparison), sizes_.text(guard.rhs)));
  ProgramText names;  // separate: a program's name may equal one of its values'
  const std::string text = text_.print(names.take_name(graph_.name.empty() ? "model" : graph_.name));
  auto program = ir::parse_program(text);
  if (program) {
    import_.text = to_string(*program);
    return std::move(import_);
  }
  Error error = std::move(program).error();
  const std::size_t node = text_.node_at(error.where.line);
  const std::string subject = node == ProgramText::kNoNode ? "the model" : subject_of(node);
  const std::string line = error.where.source_line;
  error.where = {};  // the user has never seen the program's text
  error.others.clear();
  error.message = fmt::format("{}: {}", subject, error.message);
  return std::unexpected(std::move(error).in(fmt::format("while verifying {}", line)));
}

}  // namespace padlock::onnx
