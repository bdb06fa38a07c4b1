#pragma once

#include <cstdint>
#include <string>

#include "tools/failure.h"

// Finds the kind of a file by its contents. "-" is the standard input, which may be read several times.
namespace padlock::tools {

inline constexpr const char* kStandardInput = "-";

enum class FileKind : std::uint8_t {
  program,  ///< a text, or a file that cannot be read
  model,    ///< ONNX: by the first byte, or the name M.onnx
  pack,     ///< by the first bytes, or the name F.pack
};
[[nodiscard]] FileKind kind_of_file(const std::string& path);

/// Reads the whole file. Failure: file, if it cannot be read or has more than `limit` bytes.
[[nodiscard]] Outcome<std::string> read_program_file(const std::string& path, std::int64_t limit);

}  // namespace padlock::tools
