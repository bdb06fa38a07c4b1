#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

// Values as bytes, for a file or a pipe. A value is written *fixed*, with the bytes that it has on this machine, or as
// a *number* of any size: 7 bits a byte, the lowest first, the sign in the lowest bit of all.
namespace padlock {

class ByteWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void fixed(const T& value) {
    append(std::as_bytes(std::span(&value, 1)));
  }
  void number(Int128 value);
  /// Writes the length as a number, then the text.
  void text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }
  void bytes(std::span<const std::byte> bytes);
  /// Appends bytes as they are, without their length.
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Makes the error for bytes that no ByteWriter wrote in this form, "SOURCE is damaged: WHAT". Code: data_loss; the
/// writer of the bytes is to blame, not the caller.
[[nodiscard]] std::unexpected<Error> damaged(std::string_view source, std::string_view what);

/// Reads the output of a ByteWriter without trusting it: every result lies within the bytes, which are borrowed.
/// Errors: damaged.
class ByteReader {
 public:
  /// Borrows `source`, too: the name of the bytes in errors.
  ByteReader(std::span<const std::byte> bytes, std::string_view source) : rest_(bytes), source_(source) {}

  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  /// Returns nullopt if fewer bytes are left.
  [[nodiscard]] std::optional<std::span<const std::byte>> take(std::uint64_t size);
  /// Returns nullopt if fewer bytes are left. A bool is written as fixed, but read as a byte.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  [[nodiscard]] std::optional<T> fixed() {
    const auto found = take(sizeof(T));
    if (!found) return std::nullopt;
    T value;
    std::memcpy(&value, found->data(), sizeof value);
    return value;
  }

  [[nodiscard]] Result<Int128> number();
  /// Reads a number from `least` to `most`.
  [[nodiscard]] Result<std::int64_t> number(std::int64_t least, std::int64_t most);
  /// Reads the number of items that follow. Each item takes at least one byte, so it is at most the bytes left: a
  /// damaged count cannot ask for more memory.
  [[nodiscard]] Result<std::size_t> count();
  /// Reads a value of an enumeration without gaps, whose last one is `last`.
  template <class E>
  [[nodiscard]] Result<E> choice(E last) {
    PADLOCK_TRY(const std::int64_t value, number(0, static_cast<std::int64_t>(last)));
    return static_cast<E>(value);
  }
  [[nodiscard]] Result<std::string_view> text();
  [[nodiscard]] Result<std::span<const std::byte>> bytes();
  /// Checks that no bytes are left.
  [[nodiscard]] Status finish() const;

 private:
  std::span<const std::byte> rest_;
  std::string_view source_;
};

}  // namespace padlock
