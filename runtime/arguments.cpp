#include "runtime/arguments.h"

#include <fmt/format.h>

#include <cstdint>

namespace padlock::runtime {
namespace {

/// [first, last): the bytes that a kernel may touch.
struct ByteRange {
  std::uintptr_t first, last;
};

ByteRange range_of(const BufferView& view, std::int64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(view.data());
  return {first, first + static_cast<std::uintptr_t>(bytes)};
}

bool overlap(ByteRange a, ByteRange b) {
  return a.first < a.last && b.first < b.last && a.first < b.last && b.first < a.last;
}

Status check_size(const BufferView& view, std::int64_t needed, const char* role, const std::string& name) {
  if (view.bytes() < needed)
    return invalid_argument(
        fmt::format("the buffer of {} {} has {} bytes, {} are needed", role, name, view.bytes(), needed));
  if (needed > 0 && view.data() == nullptr)
    return invalid_argument(fmt::format("the buffer of {} {} is null, {} bytes are needed", role, name, needed));
  return {};
}

Status check_base(const BufferView& view, const char* role, const ir::Value& value) {
  const auto address = reinterpret_cast<std::uintptr_t>(view.data());
  const auto size = static_cast<std::uintptr_t>(ir::byte_size(value.dtype));
  if (address % size == 0) return {};
  return invalid_argument(fmt::format("the buffer of {} {} begins at {:#x}, a multiple of {} is needed ({})", role,
                                      value.name, address, size, ir::name_of(value.dtype)));
}

Result<std::int64_t> result_bytes(const ir::Binding& binding, ir::ValueId id) {
  const ir::Program& program = binding.program();
  const ir::Value& value = program.value(id);
  const ir::Layout layout = result_layout(program, id);
  PADLOCK_TRY(const Int128 elements, ir::evaluate(program.exprs(), layout.storage_extent(), binding.values()));
  if (elements < 0) return internal_error(fmt::format("result {} has {} elements", value.name, to_string(elements)));
  // Dividing, since the product might not fit.
  if (elements >= ir::kMaxStorageBytes / ir::byte_size(value.dtype))
    return failed_precondition(fmt::format("the storage of result {} is below 2^47 bytes: it has {} elements of {}",
                                           value.name, to_string(elements), ir::name_of(value.dtype)));
  return static_cast<std::int64_t>(elements) * ir::byte_size(value.dtype);
}

}  // namespace

ir::Layout result_layout(const ir::Program& program, ir::ValueId id) {
  const ir::Value& value = program.value(id);
  if (value.kind == ir::ValueKind::operation) return value.layout;
  return ir::Layout::dense(program.exprs(), {value.extents().begin(), value.extents().end()});
}

Result<ArgumentSizes> ArgumentSizes::of(const ir::Binding& binding) {
  ArgumentSizes sizes;
  const ir::Program& program = binding.program();
  sizes.program_ = &program;
  for (const ir::ValueId id : program.tensor_parameters())
    sizes.inputs_.push_back(binding.storage_bytes(program.value(id)));
  for (const ir::ValueId id : program.results()) {
    PADLOCK_TRY(const std::int64_t bytes, result_bytes(binding, id));
    sizes.outputs_.push_back(bytes);
  }
  return sizes;
}

Status ArgumentSizes::check(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const {
  if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size())
    return invalid_argument(fmt::format("expected {} input and {} output buffers, found {} and {}", inputs_.size(),
                                        outputs_.size(), inputs.size(), outputs.size()));
  const auto input_name = [&](std::size_t i) -> const std::string& {
    return program_->value(program_->tensor_parameters()[i]).name;
  };
  const auto output_name = [&](std::size_t i) -> const std::string& {
    return program_->value(program_->results()[i]).name;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    PADLOCK_CHECK(check_size(inputs[i], inputs_[i], "input", input_name(i)));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    PADLOCK_CHECK(check_size(outputs[o], outputs_[o], "result", output_name(o)));
    const ByteRange range = range_of(outputs[o], outputs_[o]);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (overlap(range, range_of(inputs[i], inputs_[i])))
        return invalid_argument(
            fmt::format("the buffers of result {} and input {} overlap", output_name(o), input_name(i)));
    for (std::size_t i = 0; i < o; ++i)
      if (overlap(range, range_of(outputs[i], outputs_[i])))
        return invalid_argument(
            fmt::format("the buffers of results {} and {} overlap", output_name(i), output_name(o)));
  }
  return {};
}

Status ArgumentSizes::check_scalars(std::span<const std::uint64_t> scalars) const {
  const std::size_t expected = program_->scalar_parameters().size();
  if (scalars.size() == expected) return {};
  return invalid_argument(fmt::format("expected {} scalars, found {}", expected, scalars.size()));
}

Status ArgumentSizes::check_alignment(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    PADLOCK_CHECK(check_base(inputs[i], "input", program_->value(program_->tensor_parameters()[i])));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    PADLOCK_CHECK(check_base(outputs[i], "result", program_->value(program_->results()[i])));
  return {};
}

}  // namespace padlock::runtime
