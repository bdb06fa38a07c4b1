#include "tools/arrays/array_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/int128.h"

namespace padlock::tools {
namespace {

/// A multiple of every element size.
constexpr std::size_t kBufferBytes = 256 << 10;

void swap_bytes(std::span<std::byte> data, std::size_t size) {
  for (std::size_t i = 0; i < data.size(); i += size) std::reverse(data.data() + i, data.data() + i + size);
}

}  // namespace

Outcome<ArrayFile> ArrayFile::open(const FileArgument& argument) {
  PADLOCK_TRY(auto opened, or_fail(ExitCode::file, InputFile::open(argument.path)));
  ArrayFile array(std::move(opened));
  if (argument.raw) {
    array.type_ = lib::type_name(argument.raw->type);
    array.raw_ = argument.raw->type;
    array.extents_ = argument.raw->extents;
    array.element_bytes_ = byte_size(argument.raw->type);
  } else if (auto read = array.read_npy_header(); !read) {
    return std::unexpected(std::move(read).error());
  }
  PADLOCK_CHECK(array.check_size());
  return array;
}

Outcome<void> ArrayFile::read_npy_header() {
  const auto failed = [this](const Error& error) { return fail(ExitCode::file, error, path()); };
  std::byte start[kNpyPreambleBytes];
  const auto present = static_cast<std::size_t>(std::min(kNpyPreambleBytes, file_.size()));
  if (auto read = file_.read_at(0, {start, present}); !read) return failed(read.error());
  const auto preamble = parse_npy_preamble({start, present});
  if (!preamble) return failed(preamble.error());
  if (preamble->text_bytes > file_.size() - preamble->text_offset)
    return fail(ExitCode::file, fmt::format("{}: npy header: the file ends inside it", path()));

  std::string text(static_cast<std::size_t>(preamble->text_bytes), '\0');
  if (auto read = file_.read_at(preamble->text_offset, std::as_writable_bytes(std::span(text))); !read)
    return failed(read.error());
  auto header = parse_npy_header(text);
  if (!header) return failed(header.error());

  header_ = *std::move(header);
  type_ = header_.descr;
  extents_ = header_.shape;
  order_ = header_.fortran_order ? ElementOrder::column_major : ElementOrder::row_major;
  element_bytes_ = header_.item_bytes;
  // V2 is two opaque bytes, whose order is not swapped.
  swapped_ = header_.big_endian && header_.kind != 'V' && element_bytes_ > 1;
  data_offset_ = preamble->text_offset + preamble->text_bytes;
  return {};
}

Outcome<void> ArrayFile::check_size() {
  const std::int64_t present = file_.size() - data_offset_;
  Int128 needed = element_bytes_;
  for (const std::int64_t extent : extents_) {
    // One more factor of at most 2^63 still fits. Beyond that the product is too large, unless an axis is empty.
    if (needed < Int128{1} << 63) needed *= extent;
    if (extent == 0) needed = 0;
    if (needed == 0) break;
  }
  if (needed != present)
    return fail(ExitCode::file,
                fmt::format("{}: expected {} bytes of data for {}, found {}", path(),
                            needed <= kInt64Max ? to_string(needed) : "more than 2^63", description(), present));
  data_bytes_ = present;
  return {};
}

std::string ArrayFile::description() const { return fmt::format("{}[{}]", type_, fmt::join(extents_, ", ")); }

bool ArrayFile::holds(DLDataType type) const { return raw_ ? is_same(*raw_, type) : tools::holds(header_, type); }

Outcome<void> ArrayFile::read(std::int64_t offset, std::span<std::byte> out) const {
  PADLOCK_CHECK(or_fail(ExitCode::file, file_.read_at(data_offset_ + offset, out)));
  if (swapped_) swap_bytes(out, static_cast<std::size_t>(element_bytes_));
  return {};
}

ElementReader::ElementReader(const ArrayFile& file)
    : file_(&file), buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

Outcome<const std::byte*> ElementReader::next() {
  if (at_ == filled_) {
    at_ = 0;
    filled_ = std::min(kBufferBytes, static_cast<std::size_t>(file_->data_bytes() - read_));
    PADLOCK_CHECK(file_->read(read_, {buffer_.get(), filled_}));
    read_ += static_cast<std::int64_t>(filled_);
  }
  const std::byte* const element = buffer_.get() + at_;
  at_ += static_cast<std::size_t>(file_->element_bytes());
  return element;
}

}  // namespace padlock::tools
