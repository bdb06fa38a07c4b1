#include "support/byte_stream.h"

#include <fmt/format.h>

namespace padlock {
namespace {

constexpr int kBitsPerByte = 7;
constexpr std::uint8_t kMore = 0x80;

}  // namespace

std::unexpected<Error> damaged(std::string_view source, std::string_view what) {
  return std::unexpected(
      Error{Code::data_loss, Blame::environment, fmt::format("{} is damaged: {}", source, what), {}, {}});
}

void ByteWriter::number(Int128 value) {
  auto bits = (static_cast<UInt128>(value) << 1) ^ static_cast<UInt128>(value >> 127);
  while (bits >= kMore) {
    bytes_.push_back(static_cast<std::byte>((bits & 0x7F) | kMore));
    bits >>= kBitsPerByte;
  }
  bytes_.push_back(static_cast<std::byte>(bits));
}

void ByteWriter::bytes(std::span<const std::byte> bytes) {
  number(static_cast<Int128>(bytes.size()));
  append(bytes);
}

std::optional<std::span<const std::byte>> ByteReader::take(std::uint64_t size) {
  if (size > rest_.size()) return std::nullopt;
  const auto found = rest_.first(size);
  rest_ = rest_.subspan(size);
  return found;
}

Result<Int128> ByteReader::number() {
  UInt128 bits = 0;
  for (int shift = 0;; shift += kBitsPerByte) {
    const auto next = fixed<std::uint8_t>();
    if (!next) return damaged(source_, "it ends within a number");
    const auto digit = static_cast<UInt128>(*next & ~kMore);
    if (shift >= 128 || (digit << shift) >> shift != digit) return damaged(source_, "a number has more than 128 bits");
    bits |= digit << shift;
    if ((*next & kMore) == 0) break;
  }
  return static_cast<Int128>((bits >> 1) ^ -(bits & 1));
}

Result<std::int64_t> ByteReader::number(std::int64_t least, std::int64_t most) {
  PADLOCK_TRY(const Int128 value, number());
  if (value < least || value > most)
    return damaged(source_, fmt::format("expected a number from {} to {}, found {}", least, most, to_string(value)));
  return static_cast<std::int64_t>(value);
}

Result<std::size_t> ByteReader::count() {
  PADLOCK_TRY(const Int128 value, number());
  if (value < 0 || value > static_cast<Int128>(rest_.size()))
    return damaged(source_, fmt::format("{} things in {} bytes", to_string(value), rest_.size()));
  return static_cast<std::size_t>(value);
}

Result<std::span<const std::byte>> ByteReader::bytes() {
  PADLOCK_TRY(const std::size_t size, count());
  return *take(size);
}

Result<std::string_view> ByteReader::text() {
  PADLOCK_TRY(const auto found, bytes());
  return std::string_view(reinterpret_cast<const char*>(found.data()), found.size());
}

Status ByteReader::finish() const {
  if (rest_.empty()) return {};
  return damaged(source_, fmt::format("{} bytes are left over", rest_.size()));
}

}  // namespace padlock
