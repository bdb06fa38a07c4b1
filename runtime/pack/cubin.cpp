#include "runtime/pack/cubin.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace padlock::runtime {
namespace {

/// ELF's magic, 64 bits, little-endian.
constexpr std::array kIdentity = {std::byte{0x7F}, std::byte{'E'}, std::byte{'L'},
                                  std::byte{'F'},  std::byte{2},   std::byte{1}};
constexpr std::size_t kHeaderBytes = 64;
constexpr std::uint64_t kCuda = 190;        // e_machine
constexpr std::uint64_t kWithoutBytes = 8;  // SHT_NOBITS: memory without bytes in the file

/// Reads a little-endian number. Precondition: it lies within the bytes.
std::uint64_t number(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

bool is_within(std::uint64_t offset, std::uint64_t size, std::size_t all) {
  return offset <= all && size <= all - offset;
}

/// Locates a table's description in the file's header, and the fields of a table entry.
struct TableLayout {
  std::size_t offset, entry_size, count;  // in the header: 8, 2 and 2 bytes
  std::size_t least;                      // least bytes of an entry
  std::size_t data_offset, data_size;     // in an entry: 8 bytes each
};
constexpr TableLayout kSections{
    .offset = 40, .entry_size = 58, .count = 60, .least = 64, .data_offset = 24, .data_size = 32};
constexpr TableLayout kSegments{
    .offset = 32, .entry_size = 54, .count = 56, .least = 56, .data_offset = 8, .data_size = 32};

bool is_table_whole(std::span<const std::byte> bytes, const TableLayout& layout, bool has_types) {
  const std::uint64_t offset = number(bytes, layout.offset, 8);
  const std::uint64_t entry = number(bytes, layout.entry_size, 2), count = number(bytes, layout.count, 2);
  if (count == 0) return true;
  if (entry < layout.least || !is_within(offset, entry * count, bytes.size())) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = bytes.subspan(static_cast<std::size_t>(offset + i * entry), layout.least);
    if (has_types && number(at, 4, 4) == kWithoutBytes) continue;
    if (!is_within(number(at, layout.data_offset, 8), number(at, layout.data_size, 8), bytes.size())) return false;
  }
  return true;
}

}  // namespace

bool is_whole_cubin(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || !std::ranges::equal(bytes.first(kIdentity.size()), kIdentity)) return false;
  if (number(bytes, 18, 2) != kCuda || number(bytes, kSections.count, 2) == 0) return false;
  return is_table_whole(bytes, kSections, true) && is_table_whole(bytes, kSegments, false);
}

}  // namespace padlock::runtime
