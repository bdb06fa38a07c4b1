#include "runtime/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

namespace padlock::runtime {
namespace {

Result<std::uint32_t> place_of(ir::ValueId id, const std::vector<ir::ValueId>& list, const char* role,
                               const abi::KernelAbi& abi) {
  const auto found = std::find(list.begin(), list.end(), id);
  if (found == list.end())
    return internal_error(
        fmt::format("kernel {} names value {} as {}, which the program does not", abi.name, id, role));
  return static_cast<std::uint32_t>(found - list.begin());
}

Status places(std::span<const ir::ValueId> ids, const std::vector<ir::ValueId>& list, const char* role,
              const abi::KernelAbi& abi, std::vector<std::uint32_t>& out) {
  for (const ir::ValueId id : ids) {
    PADLOCK_TRY(const std::uint32_t place, place_of(id, list, role, abi));
    out.push_back(place);
  }
  return {};
}

}  // namespace

Result<ArgumentPlaces> ArgumentPlaces::of(const abi::KernelAbi& abi, const ir::Program& program) {
  ArgumentPlaces made;
  PADLOCK_CHECK(places(abi.inputs, program.tensor_parameters(), "an input", abi, made.inputs));
  PADLOCK_CHECK(places(abi.results, program.results(), "a result", abi, made.results));
  PADLOCK_CHECK(places(abi.scalars, program.scalar_parameters(), "a scalar", abi, made.scalars));
  return made;
}

Status check_same_arguments(const abi::KernelAbi& abi, const abi::KernelAbi& variant) {
  if (variant.inputs == abi.inputs && variant.results == abi.results && variant.scalars == abi.scalars) return {};
  return internal_error(fmt::format("kernel {} takes other arguments than {}", variant.name, abi.name));
}

std::vector<std::uint64_t> buffer_offsets(const abi::LaunchPart& part, const abi::KernelAbi& abi,
                                          const ir::Program& program) {
  std::vector<std::uint64_t> offsets;
  const auto add = [&](std::int64_t elements, ir::ValueId id) {
    offsets.push_back(static_cast<std::uint64_t>(elements) *
                      static_cast<std::uint64_t>(ir::byte_size(program.value(id).dtype)));
  };
  for (std::size_t i = 0; i < abi.inputs.size(); ++i) add(part.origins[i], abi.inputs[i]);
  for (const ir::ValueId id : abi.results) add(part.first_element, id);
  return offsets;
}

Status check_fault(const abi::AccessFault& fault, const abi::KernelAbi& abi) {
  if (fault.claimed == 0) return {};
  const auto index = static_cast<std::uint64_t>(fault.access);
  const std::string access = index < abi.accesses.size() ? abi.accesses[index] : fmt::format("access {}", fault.access);
  return internal_error(fmt::format("kernel {}: {} is out of bounds: offset {}, storage of {} elements", abi.name,
                                    access, fault.coordinate, fault.extent));
}

}  // namespace padlock::runtime
