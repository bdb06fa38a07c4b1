#include "tools/arrays/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace padlock::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the subset of Python literals that headers use.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  /// Takes the token if it is next, after any blanks.
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  /// Reads a string in either kind of quotes, without escapes.
  std::optional<std::string_view> string() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('\\') != std::string_view::npos) return std::nullopt;
    at_ = end + 1;
    return value;
  }

  std::optional<bool> boolean() {
    if (take("True")) return true;
    if (take("False")) return false;
    return std::nullopt;
  }

  /// Reads an integer >= 0; Python 2 wrote long ones with an L.
  std::optional<std::int64_t> integer() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  /// Quotes the text at this position, for messages.
  std::string here() {
    skip_blanks();
    constexpr std::size_t kShown = 20;
    std::string shown(text_.substr(at_, kShown));
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';
    return shown.empty() ? "its end" : fmt::format("'{}'", shown);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

std::unexpected<Error> expected(const char* what, LiteralReader& reader) {
  return invalid_argument(fmt::format("npy header: expected {}, found {}", what, reader.here()));
}

/// Parses "<f4" and so on: byte order, kind, bytes.
Status parse_descr(std::string_view text, NpyHeader& header) {
  header.descr = std::string(text);
  const auto wrong = [&] {
    return invalid_argument(
        fmt::format("npy header: expected a type of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 V2, found {}",
                    LiteralReader(header.descr).here()));
  };
  if (text.find('O') != std::string_view::npos)
    return invalid_argument("npy header: the file holds Python objects, which are never unpickled");
  if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
    header.big_endian = text[0] == '>';
    text.remove_prefix(1);
  }
  if (text.size() != 2) return wrong();
  header.kind = text[0];
  header.item_bytes = text[1] - '0';
  static constexpr std::string_view kTypes = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 V2";
  if (text[0] == ' ' || text[1] == ' ' || kTypes.find(text) == std::string_view::npos) return wrong();
  return {};
}

Status parse_shape(LiteralReader& reader, NpyHeader& header) {
  if (!reader.take("(")) return expected("'(' of the shape", reader);
  while (!reader.take(")")) {
    const auto extent = reader.integer();
    if (!extent) return expected("an extent >= 0 that fits 64 bits", reader);
    if (header.shape.size() == kMaxNpyRank)
      return invalid_argument(fmt::format("npy header: expected at most {} axes", kMaxNpyRank));
    header.shape.push_back(*extent);
    if (reader.take(",")) continue;
    if (header.shape.size() == 1) return expected("',': the shape is a tuple", reader);
    if (!reader.take(")")) return expected("')' of the shape", reader);
    break;
  }
  return {};
}

enum class Key : std::uint8_t { descr, fortran_order, shape };

std::optional<Key> key_from(std::string_view name) {
  if (name == "descr") return Key::descr;
  if (name == "fortran_order") return Key::fortran_order;
  if (name == "shape") return Key::shape;
  return std::nullopt;
}

Status parse_value(Key key, LiteralReader& reader, NpyHeader& header) {
  if (key == Key::shape) return parse_shape(reader, header);
  if (key == Key::fortran_order) {
    const auto value = reader.boolean();
    if (!value) return expected("True or False as fortran_order", reader);
    header.fortran_order = *value;
    return {};
  }
  const auto text = reader.string();
  if (!text) return expected("one type as descr (structured types are not read)", reader);
  return parse_descr(*text, header);
}

}  // namespace

Result<NpyPreamble> parse_npy_preamble(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) return invalid_argument("not a .npy file: it does not begin with \\x93NUMPY");
  if (text.size() < 10) return invalid_argument("npy header: the file ends inside it");
  const int major = static_cast<unsigned char>(text[6]);
  const int minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0)
    return invalid_argument(fmt::format("npy header: expected version 1.0, 2.0 or 3.0, found {}.{}", major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  NpyPreamble preamble{.text_offset = static_cast<std::int64_t>(8 + length_bytes), .text_bytes = 0};
  if (static_cast<std::int64_t>(text.size()) < preamble.text_offset)
    return invalid_argument("npy header: the file ends inside it");
  for (std::size_t i = length_bytes; i > 0; --i)
    preamble.text_bytes = preamble.text_bytes * 256 + static_cast<unsigned char>(text[7 + i]);
  if (preamble.text_bytes > kMaxNpyHeaderBytes)
    return invalid_argument(
        fmt::format("npy header: expected at most {} bytes, found {}", kMaxNpyHeaderBytes, preamble.text_bytes));
  return preamble;
}

Result<NpyHeader> parse_npy_header(std::string_view text) {
  NpyHeader header;
  LiteralReader reader(text);
  bool seen[3] = {};
  if (!reader.take("{")) return expected("'{'", reader);
  while (!reader.take("}")) {
    const auto name = reader.string();
    const auto key = name ? key_from(*name) : std::nullopt;
    if (!key) return expected("a key of descr, fortran_order, shape", reader);
    if (std::exchange(seen[static_cast<int>(*key)], true))
      return invalid_argument(fmt::format("npy header: the key {} comes twice", *name));
    if (!reader.take(":")) return expected("':'", reader);
    PADLOCK_CHECK(parse_value(*key, reader, header));
    if (reader.take(",")) continue;
    if (!reader.take("}")) return expected("',' or '}'", reader);
    break;
  }
  if (!reader.at_end()) return expected("nothing more", reader);
  if (!seen[0] || !seen[1] || !seen[2]) return invalid_argument("npy header: expected descr, fortran_order and shape");
  return header;
}

namespace {

/// Returns NumPy's letter for a type.
char kind_of(DLDataType type) {
  switch (type.code) {
    case kDLFloat:
      return 'f';
    case kDLInt:
      return 'i';
    case kDLUInt:
      return 'u';
    case kDLBool:
      return 'b';
    default:
      return 'V';
  }
}

}  // namespace

bool holds(const NpyHeader& header, DLDataType type) {
  if (header.item_bytes != byte_size(type)) return false;
  return header.kind == kind_of(type) || (type.code == kDLBfloat && header.kind == 'u');
}

std::string format_npy_header(DLDataType type, const std::vector<std::int64_t>& shape) {
  const char kind = kind_of(type);
  const int bytes = byte_size(type);
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{},{}", extent, shape.size() == 1 ? "" : " ");
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  std::string text = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 bytes == 1 ? '|' : '<', kind, bytes, extents);
  // The format asks for data at a multiple of 64 bytes.
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  const std::size_t unpadded = kPreamble + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace padlock::tools
