#pragma once

#include <cstdint>
#include <string>

#include "tools/failure.h"

// The file that a command works on, by what it holds. "-" is the standard input, which may be read several times.
namespace padlock::tools {

inline constexpr const char* kStandardInput = "-";

enum class FileKind : std::uint8_t {
  program,  ///< a text, and whatever cannot be read
  model,    ///< ONNX: by its first byte, or its name M.onnx
  pack,     ///< by its first bytes, or its name F.pack
};
[[nodiscard]] FileKind kind_of_file(const std::string& path);

/// Reads all of it. Failure: file, for one that cannot be read or has more than `limit` bytes.
[[nodiscard]] Outcome<std::string> read_program_file(const std::string& path, std::int64_t limit);

}  // namespace padlock::tools
