#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "support/byte_stream.h"
#include "support/error.h"

namespace padlock::runtime {

/// Name of a pack's bytes in errors.
inline constexpr std::string_view kPack = "the pack";

/// Makes the error for a file that is no pack, or was changed after writing. Code: data_loss.
[[nodiscard]] inline std::unexpected<Error> damaged_pack(std::string_view what) { return damaged(kPack, what); }

/// The first bytes of a pack. See pack_file.h.
struct PackHeader {
  static constexpr std::size_t kBytes = 48;
  static constexpr std::size_t kChecksumBytes = 16;
  static constexpr std::uint32_t kVersion = 7;

  std::uint64_t metadata_bytes = 0;
  std::uint64_t code_bytes = 0;

  [[nodiscard]] std::array<std::byte, kBytes> bytes() const;
  /// Reads the header of a whole file, and checks its sizes and checksum. Errors: as PackFile::parse.
  [[nodiscard]] static Result<PackHeader> of(std::span<const std::byte> file);
};

}  // namespace padlock::runtime
