#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tools/arrays/element_type.h"

namespace padlock::tools {

/// The header of a .npy file: NumPy's format, versions 1.0, 2.0 and 3.0.
struct NpyHeader {
  char kind = 'f';     ///< 'f', 'i', 'u', 'b' or 'V'
  int item_bytes = 4;  ///< 1, 2, 4 or 8
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::string descr;  ///< as written, e.g. "<f4"
};

/// The bytes before the header's text.
struct NpyPreamble {
  std::int64_t text_offset = 0;
  std::int64_t text_bytes = 0;
};

/// Bytes of the longest preamble, which suffice for parse_npy_preamble.
inline constexpr std::int64_t kNpyPreambleBytes = 12;
/// NumPy writes 64 to a few hundred bytes; a longer header is refused unread.
inline constexpr std::int64_t kMaxNpyHeaderBytes = 64 << 10;
/// NumPy's limit.
inline constexpr std::size_t kMaxNpyRank = 64;

/// Parses the preamble. Errors (invalid_argument): the bytes do not begin as a .npy file of a known version, or
/// announce a header beyond kMaxNpyHeaderBytes.
[[nodiscard]] Result<NpyPreamble> parse_npy_preamble(std::span<const std::byte> bytes);
/// Parses the header's text: one dictionary with descr, fortran_order and shape. Errors (invalid_argument) say what was
/// expected and found; Python objects and structured types are refused.
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::string_view text);

/// Returns whether the file's elements have type `type`; bf16, which NumPy lacks, is V2 or u2.
[[nodiscard]] bool holds(const NpyHeader& header, DLDataType type);
/// Returns preamble and header of a little-endian, row-major file of version 1.0. Precondition: the type is not bf16.
[[nodiscard]] std::string format_npy_header(DLDataType type, const std::vector<std::int64_t>& shape);

}  // namespace padlock::tools
