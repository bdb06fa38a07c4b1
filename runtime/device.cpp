#include "runtime/device.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace padlock::runtime {
namespace {

Status check_range(const DeviceMemory& memory, std::int64_t offset, std::int64_t bytes) {
  if (offset >= 0 && bytes >= 0 && bytes <= memory.bytes() && offset <= memory.bytes() - bytes) return {};
  return std::unexpected(
      Error{Code::out_of_range, Blame::user,
            fmt::format("expected bytes of {} from {} on within {}", bytes, offset, memory.bytes())});
}

}  // namespace

Status DeviceMemory::copy(DeviceMemory& to, std::int64_t to_offset, const DeviceMemory& from, std::int64_t from_offset,
                          std::int64_t bytes) {
  PADLOCK_CHECK(check_range(to, to_offset, bytes));
  PADLOCK_CHECK(check_range(from, from_offset, bytes));
  if (bytes == 0) return {};
  const auto count = static_cast<std::size_t>(bytes);
  std::byte* const target = to.on_host();
  const std::byte* const source = from.on_host();
  if (target == nullptr && source == nullptr) return to.copy_from(from, from_offset, to_offset, bytes);
  if (target == nullptr) return to.write(to_offset, {source + from_offset, count});
  if (source == nullptr) return from.read(from_offset, {target + to_offset, count});
  std::memmove(target + to_offset, source + from_offset, count);
  return {};
}

Result<std::unique_ptr<Comparison>> Device::load_comparison(const abi::CompiledCode& /*code*/) const { return nullptr; }

Result<std::unique_ptr<const LoadedProgram>> Device::load_beside(const ir::Program& program,
                                                                 abi::CompiledCode code) const {
  return load(program, std::move(code));
}

Status Device::check_bytes(std::int64_t bytes, const std::string& what) {
  if (bytes >= 0) return {};
  return invalid_argument(fmt::format("expected 0 bytes or more for {}, found {}", what, bytes));
}

}  // namespace padlock::runtime
