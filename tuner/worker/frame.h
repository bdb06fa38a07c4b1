#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/error.h"

// Frames go over the pipe between a tuner and its worker: a fixed head and a payload. Either side may be of another
// version, or broken, so every field is checked before use.
namespace padlock::tuner {

enum class FrameKind : std::uint32_t {
  hello,    ///< the worker's first frame; empty
  request,  ///< TryRequest
  step,     ///< Step, while the worker handles a request
  result,   ///< TryResult
};

struct Frame {
  FrameKind kind = FrameKind::hello;
  std::string payload = {};
};

/// Version of frames and payloads; changes when either does.
inline constexpr std::uint32_t kProtocolVersion = 5;
inline constexpr std::size_t kMaxPayload = std::size_t{32} << 20;  ///< a program's text may have 16 MiB

[[nodiscard]] std::string encode_frame(FrameKind kind, std::string_view payload);

/// Takes bytes as they arrive and returns frames. After an error it only returns that error.
class FrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns nullopt if more bytes are needed. Errors (data_loss) name what is wrong: the magic number, the version,
  /// the kind, a length beyond kMaxPayload, the checksum.
  [[nodiscard]] Result<std::optional<Frame>> next();
  /// Bytes of an incomplete frame.
  [[nodiscard]] std::size_t pending() const { return buffer_.size(); }

 private:
  std::string buffer_;
};

}  // namespace padlock::tuner
