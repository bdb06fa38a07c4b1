#include "support/code_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace padlock {
namespace {

std::unexpected<Error> refused(const char* what, std::size_t bytes, int error) {
  std::string message = fmt::format("{} of {} bytes for code: {}", what, bytes, std::generic_category().message(error));
  if (error == ENOMEM || error == EAGAIN) return resource_exhausted(std::move(message));
  return unavailable(std::move(message));
}

}  // namespace

Result<std::shared_ptr<const CodeMemory>> CodeMemory::map(std::span<const std::byte> code) {
  std::shared_ptr<CodeMemory> made(new CodeMemory());
  if (code.empty()) return made;
  void* const pages = ::mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return refused("mmap", code.size(), errno);
  made->pages_ = pages;
  made->bytes_ = code.size();
  std::memcpy(pages, code.data(), code.size());
  // A CPU whose caches of code do not watch its stores (AArch64) could run older bytes. On x86-64 the call does
  // nothing.
  auto* const first = static_cast<char*>(pages);
  __builtin___clear_cache(first, first + code.size());
  // Never writable and executable at once: an attacker could overwrite such code while it can run.
  if (::mprotect(pages, code.size(), PROT_READ | PROT_EXEC) != 0) return refused("mprotect", code.size(), errno);
  return made;
}

CodeMemory::~CodeMemory() {
  if (pages_ != nullptr) ::munmap(pages_, bytes_);
}

}  // namespace padlock
