#include "runtime/pack/byte_stream.h"

#include <utility>

#include <fmt/format.h>

namespace padlock::runtime {
namespace {

constexpr int kBitsPerByte = 7;
constexpr auto kMore = std::byte{0x80};

}  // namespace

std::unexpected<Error> damaged_pack(std::string what) {
  return std::unexpected(Error{Code::data_loss, Blame::environment, "the pack is damaged: " + std::move(what), {}, {}});
}

void ByteWriter::number(Int128 value) {
  auto bits = (static_cast<UInt128>(value) << 1) ^ static_cast<UInt128>(value >> 127);
  while (bits >= 0x80) {
    bytes_.push_back(static_cast<std::byte>(bits & 0x7F) | kMore);
    bits >>= kBitsPerByte;
  }
  bytes_.push_back(static_cast<std::byte>(bits));
}

void ByteWriter::text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }

void ByteWriter::bytes(std::span<const std::byte> bytes) {
  number(static_cast<Int128>(bytes.size()));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<Int128> ByteReader::number() {
  UInt128 bits = 0;
  for (int shift = 0;; shift += kBitsPerByte) {
    if (rest_.empty()) return damaged_pack("it ends within a number");
    const std::byte next = rest_.front();
    rest_ = rest_.subspan(1);
    const auto digit = static_cast<UInt128>(next & ~kMore);
    if (shift >= 128 || (digit << shift) >> shift != digit) return damaged_pack("a number has more than 128 bits");
    bits |= digit << shift;
    if ((next & kMore) == std::byte{0}) break;
  }
  return static_cast<Int128>((bits >> 1) ^ -(bits & 1));
}

Result<std::int64_t> ByteReader::number(std::int64_t least, std::int64_t most) {
  PADLOCK_TRY(const Int128 value, number());
  if (value < least || value > most)
    return damaged_pack(fmt::format("expected a number from {} to {}, found {}", least, most, to_string(value)));
  return static_cast<std::int64_t>(value);
}

Result<std::size_t> ByteReader::count() {
  PADLOCK_TRY(const Int128 value, number());
  if (value < 0 || value > static_cast<Int128>(rest_.size()))
    return damaged_pack(fmt::format("{} things in {} bytes", to_string(value), rest_.size()));
  return static_cast<std::size_t>(value);
}

Result<std::span<const std::byte>> ByteReader::bytes() {
  PADLOCK_TRY(const std::size_t size, count());
  const auto found = rest_.first(size);
  rest_ = rest_.subspan(size);
  return found;
}

Result<std::string_view> ByteReader::text() {
  PADLOCK_TRY(const auto found, bytes());
  return std::string_view(reinterpret_cast<const char*>(found.data()), found.size());
}

Status ByteReader::finish() const {
  if (rest_.empty()) return {};
  return damaged_pack(fmt::format("{} bytes are left over", rest_.size()));
}

}  // namespace padlock::runtime
