#include "support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace padlock {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return Code::resource_exhausted;
    default:
      return Code::unavailable;
  }
}

std::unexpected<Error> system_error(const char* what, const std::string& path, int error) {
  return std::unexpected(Error{.code = code_of(error),
                               .blame = Blame::environment,
                               .message = fmt::format("cannot {} {}: {}", what, path, std::strerror(error))});
}

/// A path with an embedded NUL would name another file than the one shown.
Status check_path(const std::string& path) {
  if (path.empty()) return invalid_argument("expected a file name, found an empty one");
  if (path.find('\0') != std::string::npos) return invalid_argument("a file name cannot contain a NUL byte");
  return {};
}

/// Linux moves at most 0x7ffff000 bytes a call.
constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  PADLOCK_CHECK(check_path(path));
  // O_NONBLOCK: opening a pipe without a writer would otherwise block for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error("read", path, errno);
  InputFile file(fd, path, 0);
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error("read", path, errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument(fmt::format("cannot read {}: not a regular file", path));
  file.size_ = info.st_size;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status InputFile::read_at(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), std::min(out.size(), kMaxTransfer), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path_, errno);
    if (got == 0)
      return std::unexpected(Error{.code = Code::data_loss,
                                   .blame = Blame::environment,
                                   .message = fmt::format("cannot read {}: it ends at byte {}", path_, offset)});
    offset += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<std::string> read_text_file(const std::string& path, std::int64_t limit) {
  PADLOCK_TRY(const InputFile file, InputFile::open(path));
  if (file.size() > limit)
    return resource_exhausted(
        fmt::format("cannot read {}: it has {} bytes, at most {} are read", path, file.size(), limit));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  PADLOCK_CHECK(file.read_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

namespace {

struct FreeDeleter {
  void operator()(char* p) const { std::free(p); }
};

/// Returns the path that a write to `path` reaches: with symbolic links resolved if possible, else the path itself.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, FreeDeleter> real(::realpath(path.c_str(), nullptr));
  return real ? std::string(real.get()) : path;
}

/// Opens a new file beside `target`; on success `name` is its path.
int open_temporary(const std::string& target, std::string& name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.{}.{}.tmp", target, ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  PADLOCK_CHECK(check_path(path));
  AtomicFile file;
  file.path_ = path;
  file.target_ = resolved(path);
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return system_error("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    // O_NONBLOCK was for the open alone; a slow reader must not make writes fail.
    if (file.fd_ >= 0) ::fcntl(file.fd_, F_SETFL, 0);
  } else if (exists && ::access(path.c_str(), W_OK) != 0) {
    return system_error("write", path, errno);  // renaming over it would ignore that it is read-only
  } else {
    file.fd_ = open_temporary(file.target_, file.temporary_);
    // The new file gets the old one's permissions.
    if (file.fd_ >= 0 && exists && ::fchmod(file.fd_, info.st_mode & 07777) != 0) {
      const int error = errno;
      return system_error("write", path, error);
    }
  }
  if (file.fd_ < 0) {
    file.temporary_.clear();
    return system_error("write", path, errno);
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Status AtomicFile::write(std::string_view text) { return write(std::as_bytes(std::span(text))); }

Status AtomicFile::commit(Durability durability) {
  if (durability == Durability::synced && !temporary_.empty() && ::fsync(fd_) != 0)
    return system_error("write", path_, errno);
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) return system_error("write", path_, errno);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("write", path_, errno);
  temporary_.clear();
  return {};
}

}  // namespace padlock
