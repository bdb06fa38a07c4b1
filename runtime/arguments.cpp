#include "runtime/arguments.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace padlock::runtime {
namespace {

/// [first, last): the bytes that a kernel may access.
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

Result<std::int64_t> bytes_of(const char* role, const ir::Value& value, Int128 elements) {
  if (elements < 0) return internal_error(fmt::format("{} {} has {} elements", role, value.name, to_string(elements)));
  // Divides, since the product might not fit.
  if (elements >= ir::kMaxStorageBytes / ir::byte_size(value.dtype))
    return failed_precondition(fmt::format("the storage of {} {} is below 2^47 bytes: it has {} elements of {}", role,
                                           value.name, to_string(elements), ir::name_of(value.dtype)));
  return static_cast<std::int64_t>(elements) * ir::byte_size(value.dtype);
}

}  // namespace

ir::Layout result_layout(const ir::Program& program, ir::ValueId id) {
  const ir::Value& value = program.value(id);
  if (value.kind == ir::ValueKind::operation) return value.layout;
  return ir::Layout::dense(program.exprs(), {value.extents().begin(), value.extents().end()});
}

std::vector<ir::Expr> ArgumentBinder::asked_of(const ir::Program& program) {
  std::vector<ir::Layout> layouts;
  for (const ir::ValueId id : program.tensor_parameters()) layouts.push_back(program.value(id).layout);
  for (const ir::ValueId id : program.results()) layouts.push_back(result_layout(program, id));
  std::vector<ir::Expr> asked;
  for (const ir::Layout& layout : layouts) asked.push_back(layout.storage_extent());
  for (const ir::Layout& layout : layouts) {
    asked.insert(asked.end(), layout.extents().begin(), layout.extents().end());
    asked.insert(asked.end(), layout.strides().begin(), layout.strides().end());
  }
  return asked;
}

template <class Elements>
Result<ArgumentSizes> ArgumentSizes::make(const ir::Program& program, const Elements& elements) {
  ArgumentSizes sizes;
  sizes.program_ = &program;
  std::size_t at = 0;
  const auto append = [&](std::span<const ir::ValueId> ids, const char* role, std::vector<std::int64_t>& to) -> Status {
    to.reserve(ids.size());
    for (const ir::ValueId id : ids) {
      PADLOCK_TRY(const Int128 count, elements(at++));
      PADLOCK_TRY(const std::int64_t bytes, bytes_of(role, program.value(id), count));
      to.push_back(bytes);
    }
    return {};
  };
  PADLOCK_CHECK(append(program.tensor_parameters(), "input", sizes.inputs_));
  PADLOCK_CHECK(append(program.results(), "result", sizes.outputs_));
  return sizes;
}

Result<ArgumentSizes> ArgumentSizes::of(const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  const std::vector<ir::Expr> asked = ArgumentBinder::asked_of(program);
  return make(program, [&](std::size_t i) { return ir::evaluate(program.exprs(), asked[i], binding.values()); });
}

Result<ArgumentSizes> ArgumentBinder::sizes(const ir::Binding& binding) const {
  const std::span<const std::int64_t> asked = binding.asked();
  if (asked.empty()) return ArgumentSizes::of(binding);
  return ArgumentSizes::make(*program_, [&](std::size_t i) -> Result<Int128> { return asked[i]; });
}

std::span<const std::int64_t> ArgumentBinder::shapes(const ir::Binding& binding,
                                                     std::vector<std::int64_t>& wide) const {
  const std::size_t tensors = program_->tensor_parameters().size() + program_->results().size();
  if (!binding.asked().empty()) return binding.asked().subspan(tensors);
  const std::vector<ir::Expr> asked = asked_of(*program_);
  for (std::size_t i = tensors; i < asked.size(); ++i) wide.push_back(binding(asked[i]));
  return wide;
}

Status ArgumentSizes::check_counts(std::size_t inputs, std::size_t outputs) const {
  if (inputs == inputs_.size() && outputs == outputs_.size()) return {};
  return invalid_argument(fmt::format("expected {} input and {} output buffers, found {} and {}", inputs_.size(),
                                      outputs_.size(), inputs, outputs));
}

Status ArgumentSizes::check(std::span<const BufferView> inputs, std::span<const BufferView> outputs) const {
  PADLOCK_CHECK(check_counts(inputs.size(), outputs.size()));
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
