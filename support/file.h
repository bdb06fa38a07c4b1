#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock {

/// A regular file open for reading. Movable, closes itself. Not thread-safe.
class InputFile {
 public:
  /// Opens a file. Errors, naming the path: not_found or permission_denied as the system says; invalid_argument for a
  /// path that is not a regular file (a pipe could block for ever, and has no size to check against).
  [[nodiscard]] static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Size in bytes when it was opened.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Fills `out` with the bytes that begin at `offset`. Error (data_loss) if the file ends before, which happens only
  /// if it shrinks while it is read.
  [[nodiscard]] Status read_at(std::int64_t offset, std::span<std::byte> out) const;

 private:
  InputFile(int fd, std::string path, std::int64_t size) : fd_(fd), path_(std::move(path)), size_(size) {}
  int fd_ = -1;  // owned
  std::string path_;
  std::int64_t size_ = 0;
};

/// Reads a whole text file. Error (resource_exhausted) if it is longer than `limit` bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::int64_t limit);

/// A file that appears under its name whole or not at all: it is written under a temporary name in the same folder, and
/// `commit` renames it. Destroying it without `commit` removes the temporary file. An existing name that is no regular
/// file (/dev/stdout, a pipe) is written directly, because renaming would replace the device.
class AtomicFile {
 public:
  /// Opens a file for writing. Errors, naming the path, as the system says.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Appends. Errors: resource_exhausted for a full disk, else as the system says.
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  [[nodiscard]] Status write(std::string_view text);
  /// `synced`: `commit` returns only when the bytes are on the disk (for data that must survive a power failure).
  enum class Durability : std::uint8_t { cached, synced };
  [[nodiscard]] Status commit(Durability durability = Durability::cached);
  /// Path of the file until `commit`, for callers that must remove it without running destructors. Empty if the file
  /// has its final name.
  [[nodiscard]] const std::string& temporary_path() const { return temporary_; }

 private:
  AtomicFile() = default;
  int fd_ = -1;            // owned
  std::string path_;       // as asked for, for messages
  std::string target_;     // path_ with symbolic links resolved
  std::string temporary_;  // empty when writing directly
};

}  // namespace padlock
