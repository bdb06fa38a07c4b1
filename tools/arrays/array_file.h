#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/file.h"
#include "tools/arrays/arguments.h"
#include "tools/arrays/element_walk.h"
#include "tools/arrays/npy_header.h"
#include "tools/failure.h"

namespace padlock::tools {

/// A dense array in a .npy or raw file. Its shape is known and its size agrees with the shape; no element is read yet.
class ArrayFile {
 public:
  /// Opens the file and reads the header. Failures: `file`, naming it, if it cannot be read, is no valid .npy file, or
  /// has more or fewer bytes than its shape.
  [[nodiscard]] static Outcome<ArrayFile> open(const FileArgument& argument);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] const std::vector<std::int64_t>& extents() const { return extents_; }
  [[nodiscard]] ElementOrder order() const { return order_; }
  /// Returns type and shape for messages: "<f4[2, 3]".
  [[nodiscard]] std::string description() const;
  [[nodiscard]] bool holds(DLDataType type) const;

  [[nodiscard]] int element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::int64_t data_bytes() const { return data_bytes_; }
  /// Reads data bytes [offset, offset + out.size()) and makes them little-endian. Both in whole elements.
  [[nodiscard]] Outcome<void> read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  explicit ArrayFile(InputFile file) : file_(std::move(file)) {}
  Outcome<void> read_npy_header();
  Outcome<void> check_size();

  InputFile file_;
  std::string type_;               // as written in the file
  std::optional<DLDataType> raw_;  // set for a raw file
  NpyHeader header_;               // set for a .npy file
  std::vector<std::int64_t> extents_;
  ElementOrder order_ = ElementOrder::row_major;
  int element_bytes_ = 1;
  bool swapped_ = false;
  std::int64_t data_offset_ = 0;
  std::int64_t data_bytes_ = 0;
};

/// Reads the elements of an array file one by one, through a small buffer.
class ElementReader {
 public:
  explicit ElementReader(const ArrayFile& file);
  /// Returns the next element's bytes, valid until the next call. Precondition: there is a next element.
  [[nodiscard]] Outcome<const std::byte*> next();

 private:
  const ArrayFile* file_;  // borrowed (outlives this)
  std::unique_ptr<std::byte[]> buffer_;
  std::int64_t read_ = 0;  // data bytes read so far
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace padlock::tools
