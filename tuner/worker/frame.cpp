#include "tuner/worker/frame.h"

#include <fmt/format.h>

#include <cstring>

#include "support/hash.h"

namespace padlock::tuner {
namespace {

// The same host writes and reads, so its own byte order serves.
struct Head {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
  std::uint64_t checksum = 0;  // checksum of the fields above and the payload
};
static_assert(sizeof(Head) == 24);

constexpr std::uint32_t kMagic = 0x4b'57'4c'50;  // "PLWK"

/// Computes the checksum of the head, with the payload's checksum in place of the head's own.
std::uint64_t checksum(Head head, std::string_view payload) {
  head.checksum = checksum64(payload);
  return checksum64({reinterpret_cast<const char*>(&head), sizeof head});
}

std::unexpected<Error> data_loss(std::string message) {
  return std::unexpected(
      Error{.code = Code::data_loss, .blame = Blame::environment, .message = "a frame " + std::move(message)});
}

Status check_head(const Head& head) {
  if (head.magic != kMagic) return data_loss(fmt::format("begins with {:#010x}, not {:#010x}", head.magic, kMagic));
  if (head.version != kProtocolVersion)
    return data_loss(fmt::format("has version {}, not {}", head.version, kProtocolVersion));
  if (head.kind > static_cast<std::uint32_t>(FrameKind::result))
    return data_loss(fmt::format("is of the unknown kind {}", head.kind));
  if (head.bytes > kMaxPayload)
    return data_loss(fmt::format("claims {} bytes, {} are the most", head.bytes, kMaxPayload));
  return {};
}

}  // namespace

std::string encode_frame(FrameKind kind, std::string_view payload) {
  Head head{.magic = kMagic,
            .version = kProtocolVersion,
            .kind = static_cast<std::uint32_t>(kind),
            .bytes = static_cast<std::uint32_t>(payload.size())};
  head.checksum = checksum(head, payload);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += payload;
  return bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  Head head;
  if (buffer_.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, buffer_.data(), sizeof head);
  PADLOCK_CHECK(check_head(head));
  if (buffer_.size() - sizeof head < head.bytes) return std::nullopt;
  Frame frame{.kind = static_cast<FrameKind>(head.kind), .payload = buffer_.substr(sizeof head, head.bytes)};
  if (checksum(head, frame.payload) != head.checksum) return data_loss("does not match its checksum");
  buffer_.erase(0, sizeof head + head.bytes);
  return frame;
}

}  // namespace padlock::tuner
