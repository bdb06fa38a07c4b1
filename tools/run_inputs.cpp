#include "tools/run_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/placement.h"

namespace padlock::tools {
namespace {

using ArgumentsByName = std::map<std::string, const InputArgument*>;

std::string parameter_list(const ir::Program& program) {
  std::vector<std::string> names;
  for (const ir::Value& value : program.values())
    if (value.kind != ir::ValueKind::operation) names.push_back(value.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Outcome<ArgumentsByName> by_name(const ir::Program& program, const std::vector<InputArgument>& arguments) {
  ArgumentsByName map;
  for (const InputArgument& argument : arguments) {
    const auto id = program.find(argument.name);
    if (!id || program.value(*id).kind == ir::ValueKind::operation)
      return fail(ExitCode::usage, fmt::format("--input names '{}', which is no parameter of the program (it has: {})",
                                               argument.name, parameter_list(program)));
    if (!map.emplace(argument.name, &argument).second)
      return fail(ExitCode::usage, fmt::format("--input gives {} twice", argument.name));
  }
  return map;
}

Outcome<const InputArgument*> find(const ArgumentsByName& map, const ir::Value& parameter) {
  const auto found = map.find(parameter.name);
  if (found != map.end()) return found->second;
  const bool is_tensor = parameter.kind == ir::ValueKind::tensor_parameter;
  return fail(ExitCode::usage, fmt::format("no value for {}: give --input={}={}", parameter.name, parameter.name,
                                           is_tensor ? "@FILE.npy, a raw file or random" : "LITERAL"));
}

}  // namespace

Outcome<RunInputs> RunInputs::open(const ir::Program& program, const std::vector<InputArgument>& arguments) {
  const auto map = by_name(program, arguments);
  if (!map) return std::unexpected(map.error());
  RunInputs inputs(program);
  // Names and literals first: a slip of the pen should not wait for a file.
  for (const ir::ValueId id : program.scalar_parameters()) {
    const auto argument = find(*map, program.value(id));
    if (!argument) return std::unexpected(argument.error());
    if (auto added = inputs.add_scalar(program.value(id), **argument); !added) return std::unexpected(added.error());
  }
  for (const ir::ValueId id : program.tensor_parameters())
    if (const auto argument = find(*map, program.value(id)); !argument) return std::unexpected(argument.error());
  for (const ir::ValueId id : program.tensor_parameters())
    if (auto added = inputs.add_tensor(program.value(id), **find(*map, program.value(id))); !added)
      return std::unexpected(added.error());
  return inputs;
}

Outcome<void> RunInputs::add_scalar(const ir::Value& parameter, const InputArgument& argument) {
  const auto* literal = std::get_if<LiteralArgument>(&argument.value);
  if (literal == nullptr)
    return fail(ExitCode::usage,
                fmt::format("{} is a scalar: give --input={}=LITERAL", parameter.name, parameter.name));
  const auto value = ir::parse_literal(literal->text, parameter.dtype);
  if (!value) return fail(ExitCode::usage, fmt::format("--input={}: {}", parameter.name, value.error().message));
  scalars_.push_back(value->bits);
  return {};
}

Outcome<void> RunInputs::add_tensor(const ir::Value& parameter, const InputArgument& argument) {
  if (const auto* literal = std::get_if<LiteralArgument>(&argument.value))
    return fail(ExitCode::usage,
                fmt::format("{} is a tensor: expected @FILE.npy, 4x16xf32=@FILE.bin or random, found '{}'",
                            parameter.name, literal->text));
  const auto* file = std::get_if<FileArgument>(&argument.value);
  if (file == nullptr) {
    files_.emplace_back();
    return {};
  }
  auto array = ArrayFile::open(*file);
  if (!array) return std::unexpected(std::move(array).error());
  if (!array->holds(parameter.dtype))
    return fail(ExitCode::mismatch, fmt::format("{}: expected elements of {} for {}, found {}", array->path(),
                                                ir::name_of(parameter.dtype), parameter.name, array->description()));
  files_.emplace_back(*std::move(array));
  return {};
}

bool RunInputs::any_random() const {
  return std::any_of(files_.begin(), files_.end(), [](const auto& file) { return !file.has_value(); });
}

Outcome<ir::BindRequest> RunInputs::request(const std::map<std::string, std::int64_t>& symbols) const {
  std::vector<std::optional<api::TensorSource>> sources;
  for (const auto& file : files_) sources.push_back(file ? std::optional(file->source()) : std::nullopt);
  auto request = api::request_for(*program_, sources, symbols);
  if (!request) return fail(ExitCode::file, request.error());
  if (!request->missing.empty()) return missing_symbols(request->missing);
  return std::move(request->request);
}

Outcome<void> RunInputs::load(const api::BoundProgram& bound, std::uint64_t seed, api::MemoryBudget& memory) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const api::TensorInfo& tensor = bound.inputs()[i];
    auto allocation = memory.allocate(tensor.storage_bytes, "input " + tensor.name);
    if (!allocation) return fail(ExitCode::mismatch, allocation.error());
    if (!files_[i]) {
      fill_random(tensor, seed, i, allocation->span());
    } else if (auto placed = place_elements(*files_[i], tensor, allocation->span()); !placed) {
      return placed;
    }
    buffers_.push_back(allocation->user_buffer());
    allocations_.push_back(*std::move(allocation));
  }
  return {};
}

}  // namespace padlock::tools
