#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

// The metadata of a pack: numbers of any size, and texts. A number takes 7 bits a byte, the lowest first, its sign in
// the lowest bit of all.
namespace padlock::runtime {

/// What a damaged pack gets. Code: data_loss; the file is to blame, not the caller.
[[nodiscard]] std::unexpected<Error> damaged_pack(std::string what);

class ByteWriter {
 public:
  void number(Int128 value);
  void text(std::string_view text);
  void bytes(std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a ByteWriter wrote, and trusts nothing of it: what it returns lies within the bytes, which it borrows.
/// Errors: damaged_pack.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] Result<Int128> number();
  /// A number from `least` to `most`.
  [[nodiscard]] Result<std::int64_t> number(std::int64_t least, std::int64_t most);
  /// How many things follow. Each takes a byte at least, so that no more memory is asked for than the file has bytes.
  [[nodiscard]] Result<std::size_t> count();
  /// A value of an enumeration without gaps, whose last one is `last`.
  template <class E>
  [[nodiscard]] Result<E> choice(E last) {
    PADLOCK_TRY(const std::int64_t value, number(0, static_cast<std::int64_t>(last)));
    return static_cast<E>(value);
  }
  [[nodiscard]] Result<std::string_view> text();
  [[nodiscard]] Result<std::span<const std::byte>> bytes();
  /// That nothing is left.
  [[nodiscard]] Status finish() const;

 private:
  std::span<const std::byte> rest_;
};

}  // namespace padlock::runtime
