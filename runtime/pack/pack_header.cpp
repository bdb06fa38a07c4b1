#include "runtime/pack/pack_header.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "abi/abi_revision.h"
#include "support/hash.h"

namespace padlock::runtime {
namespace {

constexpr std::array kMagic = {std::byte{0x89}, std::byte{'P'}, std::byte{'A'}, std::byte{'D'},
                               std::byte{'L'},  std::byte{'O'}, std::byte{'C'}, std::byte{'K'}};

template <class T>
std::byte* put(std::byte* at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) *at++ = static_cast<std::byte>(value >> (8 * i));
  return at;
}

template <class T>
T get(const std::byte*& at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(std::to_integer<T>(*at++) << (8 * i));
  return value;
}

std::unexpected<Error> other(const char* what, std::uint32_t expected, std::uint32_t found) {
  return std::unexpected(Error{.code = Code::failed_precondition,
                               .blame = Blame::environment,
                               .message = fmt::format("expected a pack of {} {}, found {}", what, expected, found)});
}

/// Cannot overflow: each part is compared with the bytes left.
bool sizes_fit(const PackHeader& header, std::uint64_t claimed, std::uint64_t file) {
  if (claimed != file) return false;
  const std::uint64_t rest = file - PackHeader::kBytes - PackHeader::kChecksumBytes;
  return header.metadata_bytes <= rest && header.code_bytes == rest - header.metadata_bytes;
}

}  // namespace

std::array<std::byte, PackHeader::kBytes> PackHeader::bytes() const {
  std::array<std::byte, kBytes> all{};
  std::byte* at = std::ranges::copy(kMagic, all.data()).out;
  at = put(at, kVersion);
  at = put(at, static_cast<std::uint32_t>(abi::kAbiRevision));
  at = put(at, std::uint64_t{0});
  at = put(at, kBytes + metadata_bytes + code_bytes + kChecksumBytes);
  at = put(at, metadata_bytes);
  put(at, code_bytes);
  return all;
}

Result<PackHeader> PackHeader::of(std::span<const std::byte> file) {
  if (file.size() < kBytes + kChecksumBytes || !std::ranges::equal(file.first(kMagic.size()), kMagic))
    return damaged_pack("it does not begin as a pack does");
  const std::byte* at = file.data() + kMagic.size();
  if (const auto version = get<std::uint32_t>(at); version != kVersion) return other("version", kVersion, version);
  const auto abi = get<std::uint32_t>(at);
  PackHeader header;
  const auto reserved = get<std::uint64_t>(at);
  const auto file_bytes = get<std::uint64_t>(at);
  header.metadata_bytes = get<std::uint64_t>(at);
  header.code_bytes = get<std::uint64_t>(at);
  if (reserved != 0 || !sizes_fit(header, file_bytes, file.size()))
    return damaged_pack(fmt::format("it says that it has {} bytes, and has {}", file_bytes, file.size()));
  const auto sum = checksum128(file.first(file.size() - kChecksumBytes));
  if (!std::ranges::equal(sum, file.last(kChecksumBytes))) return damaged_pack("its checksum is another");
  if (abi != static_cast<std::uint32_t>(abi::kAbiRevision)) return other("ABI revision", abi::kAbiRevision, abi);
  return header;
}

}  // namespace padlock::runtime
