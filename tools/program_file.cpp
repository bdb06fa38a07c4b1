#include "tools/program_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "support/file.h"

namespace padlock::tools {
namespace {

/// The first bytes of a pack (runtime/pack/pack_file.h).
constexpr std::string_view kPackMagic = "\x89PAD";
/// The number and kind of ModelProto's first field, ir_version. No text begins with this byte.
constexpr char kModelByte = '\x08';

/// Copies a standard input that is a pipe or a terminal to a file in memory, so that it can be read again. Returns
/// errno.
int make_input_seekable() {
  if (::lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) return 0;
  const int memory = ::memfd_create("padlock_input", MFD_CLOEXEC);
  if (memory < 0) return errno;
  std::array<char, 65536> block;
  int error = 0;
  while (error == 0) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || ::write(memory, block.data(), static_cast<std::size_t>(count)) != count) error = errno;
  }
  if (error == 0 && ::dup2(memory, STDIN_FILENO) < 0) error = errno;
  ::close(memory);
  return error;
}

Outcome<std::string> read_standard_input(std::int64_t limit) {
  int error = make_input_seekable();
  std::string text;
  while (error == 0 && static_cast<std::int64_t>(text.size()) <= limit) {
    std::array<char, 65536> block;
    const ssize_t count = ::pread(STDIN_FILENO, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count == 0) return text;
    if (count < 0) error = errno;
    if (count > 0) text.append(block.data(), static_cast<std::size_t>(count));
  }
  if (error != 0) return fail(ExitCode::file, fmt::format("cannot read the standard input: {}", std::strerror(error)));
  return fail(ExitCode::file, fmt::format("expected a standard input of at most {} bytes, found more", limit));
}

std::string first_bytes(const std::string& path) {
  std::array<char, kPackMagic.size()> bytes;
  ssize_t count = -1;
  if (path == kStandardInput) {
    if (make_input_seekable() == 0) count = ::pread(STDIN_FILENO, bytes.data(), bytes.size(), 0);
  } else if (auto file = InputFile::open(path); file) {
    count = static_cast<ssize_t>(std::min<std::int64_t>(file->size(), bytes.size()));
    if (!file->read_at(0, std::as_writable_bytes(std::span(bytes).first(static_cast<std::size_t>(count))))) count = -1;
  }
  return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const std::string first = first_bytes(path);
  if (first == kPackMagic || path.ends_with(".pack")) return FileKind::pack;
  if (first.starts_with(kModelByte) || path.ends_with(".onnx")) return FileKind::model;
  return FileKind::program;
}

Outcome<std::string> read_program_file(const std::string& path, std::int64_t limit) {
  if (path == kStandardInput) return read_standard_input(limit);
  return or_fail(ExitCode::file, read_text_file(path, limit));
}

}  // namespace padlock::tools
