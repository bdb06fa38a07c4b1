#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/pack/pack_file.h"
#include "support/error.h"

namespace padlock::session {

using runtime::PackChoice;
using runtime::PackConfig;
using runtime::PackContents;
using runtime::PackProgram;
using runtime::PackTarget;

/// A pack: compiled programs in one file, to be run without a compiler (Context::pack makes them). It is trusted as the
/// library is: its checksum finds damage, and nothing finds malice. A cheap handle; immutable, thread-safe.
class Pack {
 public:
  /// Errors: as runtime::PackFile.
  [[nodiscard]] static Result<Pack> from_bytes(std::span<const std::byte> bytes);
  [[nodiscard]] static Result<Pack> load(const std::string& path);

  /// Returns the pack's contents, borrowed from this.
  [[nodiscard]] const PackContents& contents() const { return file_->contents(); }
  /// Returns the bytes that it was read from, borrowed from this.
  [[nodiscard]] std::span<const std::byte> bytes() const { return file_->bytes(); }
  /// As runtime::PackFile::fingerprint.
  [[nodiscard]] std::string fingerprint() const { return file_->fingerprint(); }
  /// The program of that name; of a pack with one program, that one for an empty name. Error: not_found, naming those
  /// there are.
  [[nodiscard]] Result<const PackProgram*> find(std::string_view program) const;

 private:
  explicit Pack(std::shared_ptr<const runtime::PackFile> file) : file_(std::move(file)) {}
  std::shared_ptr<const runtime::PackFile> file_;  // shared: a handle
};

}  // namespace padlock::session
