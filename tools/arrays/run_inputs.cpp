#include "tools/arrays/run_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/messages/suggestion.h"
#include "tools/arrays/placement.h"

namespace padlock::tools {
namespace {

using ArgumentsByName = std::map<std::string, const InputArgument*>;

/// Returns the parameters that --input gives: tensors and scalars.
std::vector<padlock_parameter_info> inputs_of(const lib::Program& program, const ShownNames& names) {
  std::vector<padlock_parameter_info> parameters = program.parameters();
  show_names(parameters, names.inputs);
  std::erase_if(parameters, [](const padlock_parameter_info& p) { return p.kind == PADLOCK_DIM; });
  return parameters;
}

/// Returns the list of parameters, with the one that `name` may have meant.
std::string parameter_list(const std::vector<padlock_parameter_info>& parameters, const std::string& name) {
  std::vector<std::string> names;
  for (const padlock_parameter_info& parameter : parameters) names.emplace_back(parameter.name);
  return fmt::format("(it has: {}){}", names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     did_you_mean(name, names));
}

Outcome<ArgumentsByName> by_name(const std::vector<padlock_parameter_info>& parameters,
                                 const std::vector<InputArgument>& arguments) {
  ArgumentsByName map;
  for (const InputArgument& argument : arguments) {
    if (std::ranges::none_of(parameters, [&](const auto& p) { return argument.name == p.name; }))
      return fail(ExitCode::usage, fmt::format("--input names '{}', which is no parameter of the program {}",
                                               argument.name, parameter_list(parameters, argument.name)));
    if (!map.emplace(argument.name, &argument).second)
      return fail(ExitCode::usage, fmt::format("--input gives {} twice", argument.name));
  }
  return map;
}

Outcome<const InputArgument*> find(const ArgumentsByName& map, const padlock_parameter_info& parameter) {
  const auto found = map.find(parameter.name);
  if (found != map.end()) return found->second;
  return fail(ExitCode::usage,
              fmt::format("no value for {}: give --input={}={}", parameter.name, parameter.name,
                          parameter.kind == PADLOCK_TENSOR ? "@FILE.npy, a raw file or random" : "LITERAL"));
}

/// Returns the bits of a file's only element.
Outcome<std::uint64_t> scalar_of(const FileArgument& argument, const padlock_parameter_info& parameter) {
  PADLOCK_TRY(const ArrayFile file, ArrayFile::open(argument));
  std::uint64_t bits = 0;
  if (!file.holds(parameter.dtype) || file.data_bytes() != file.element_bytes() ||
      file.data_bytes() > static_cast<std::int64_t>(sizeof bits))
    return fail(ExitCode::mismatch, fmt::format("{}: expected one element of {} for {}, found {}", file.path(),
                                                lib::type_name(parameter.dtype), parameter.name, file.description()));
  const auto bytes = std::as_writable_bytes(std::span(&bits, 1));
  PADLOCK_CHECK(file.read(0, bytes.first(static_cast<std::size_t>(file.data_bytes()))));
  if (parameter.dtype.code == kDLBool && bits > 1)
    return fail(ExitCode::mismatch,
                fmt::format("{}: expected 0 or 1 for {}, found {}", file.path(), parameter.name, bits));
  return bits;
}

/// Describes a file's array to a binding: extents, and strides unless they are dense and row-major.
Outcome<lib::TensorView> view_of(const ArrayFile& file, DLDataType type) {
  PADLOCK_TRY(auto strides,
              or_fail(ExitCode::file, lib::dense_strides(file.extents(), file.order() == ElementOrder::row_major
                                                                             ? PADLOCK_ROW_MAJOR
                                                                             : PADLOCK_COLUMN_MAJOR)));
  return lib::TensorView(nullptr, type, file.extents(), std::move(strides));
}

}  // namespace

Outcome<RunInputs> RunInputs::open(const lib::Program& program, const std::vector<InputArgument>& arguments,
                                   const ShownNames& names) {
  const std::vector<padlock_parameter_info> parameters = inputs_of(program, names);
  PADLOCK_TRY(const auto map, by_name(parameters, arguments));
  RunInputs inputs(program);
  // Names and literals first: a typing error should not wait for a file.
  for (const padlock_parameter_info& parameter : parameters) {
    if (parameter.kind != PADLOCK_SCALAR) continue;
    PADLOCK_TRY(const auto argument, find(map, parameter));
    PADLOCK_CHECK(inputs.add_scalar(parameter, *argument));
  }
  for (const padlock_parameter_info& parameter : parameters) PADLOCK_CHECK(find(map, parameter));
  for (const padlock_parameter_info& parameter : parameters) {
    if (parameter.kind != PADLOCK_TENSOR) continue;
    PADLOCK_CHECK(inputs.add_tensor(parameter, **find(map, parameter)));
  }
  return inputs;
}

Outcome<void> RunInputs::add_scalar(const padlock_parameter_info& parameter, const InputArgument& argument) {
  if (const auto* file = std::get_if<FileArgument>(&argument.value)) {
    PADLOCK_TRY(scalars_.emplace_back(), scalar_of(*file, parameter));
    return {};
  }
  const auto* literal = std::get_if<LiteralArgument>(&argument.value);
  if (literal == nullptr)
    return fail(ExitCode::usage, fmt::format("{} is a scalar: give --input={}=LITERAL, or @FILE.npy of one element",
                                             parameter.name, parameter.name));
  const auto bits = lib::parse_scalar(literal->text, parameter.dtype);
  if (!bits) return fail(ExitCode::usage, fmt::format("--input={}: {}", parameter.name, bits.error().message()));
  scalars_.push_back(*bits);
  return {};
}

Outcome<void> RunInputs::add_tensor(const padlock_parameter_info& parameter, const InputArgument& argument) {
  if (const auto* literal = std::get_if<LiteralArgument>(&argument.value))
    return fail(ExitCode::usage,
                fmt::format("{} is a tensor: expected @FILE.npy, 4x16xf32=@FILE.bin or random, found '{}'",
                            parameter.name, literal->text));
  types_.push_back(parameter.dtype);
  const auto* file = std::get_if<FileArgument>(&argument.value);
  if (file == nullptr) {
    files_.emplace_back();
    return {};
  }
  PADLOCK_TRY(auto array, ArrayFile::open(*file));
  if (!array.holds(parameter.dtype))
    return fail(ExitCode::mismatch, fmt::format("{}: expected elements of {} for {}, found {}", array.path(),
                                                lib::type_name(parameter.dtype), parameter.name, array.description()));
  files_.emplace_back(std::move(array));
  return {};
}

bool RunInputs::any_random() const {
  return std::any_of(files_.begin(), files_.end(), [](const auto& file) { return !file.has_value(); });
}

Outcome<lib::Binding> RunInputs::binding(const std::map<std::string, std::int64_t>& symbols) {
  lib::Binding binding{.inputs = {}, .scalars = scalars_, .unplaced = true};
  for (const auto& [name, value] : symbols) binding.dims.set(name, value);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    binding.inputs.push_back(nullptr);
    if (!files_[i]) continue;
    PADLOCK_TRY(auto view, view_of(*files_[i], types_[i]));
    views_.push_back(std::move(view));
    binding.inputs.back() = views_.back().get();
  }
  const auto missing = program_.missing(binding);
  // The binding of the sizes reports all other errors.
  if (missing && !missing->empty()) return missing_symbols(*missing);
  return binding;
}

Outcome<void> RunInputs::load(const lib::Context& context, const lib::Call& call, std::uint64_t seed) {
  const std::vector<lib::TensorInfo> tensors = call.inputs();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const lib::TensorInfo& tensor = tensors[i];
    PADLOCK_TRY(auto memory, or_fail(ExitCode::mismatch,
                                     context.allocate(tensor.storage_bytes, "input " + std::string(tensor.name))));
    const std::span bytes(static_cast<std::byte*>(memory.data()), static_cast<std::size_t>(memory.bytes()));
    if (!files_[i]) {
      fill_random(tensor, seed, i, bytes);
    } else if (auto placed = place_elements(*files_[i], tensor, bytes); !placed) {
      return placed;
    }
    memory_.push_back(std::move(memory));
  }
  return {};
}

std::vector<const void*> RunInputs::pointers() const {
  std::vector<const void*> list;
  for (const lib::Memory& memory : memory_) list.push_back(memory.data());
  return list;
}

}  // namespace padlock::tools
