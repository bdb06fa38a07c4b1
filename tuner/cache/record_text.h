#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/record.h"

// A record's only form outside of memory: a line of JSON with sorted keys, no blanks, and a hash of the rest of the
// line. Cache files and exports hold the same lines, so that either can be checked against itself.
namespace padlock::tuner {

inline constexpr int kRecordSchema = 1;  ///< raised when a member changes its meaning or is removed
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kMaxExportBytes = std::int64_t{1} << 30;  ///< limit for reading an export

/// Returns the line without a newline. Precondition: validate(record).
[[nodiscard]] std::string to_line(const Record& record);
/// Returns the record of a line exactly as to_line writes it; nullopt, without a reason, for other text. Does not
/// validate.
[[nodiscard]] std::optional<Record> scan_line(std::string_view line);
/// Parses a line that to_line writes. Errors (invalid_argument): not JSON; another schema; a missing, unknown or
/// wrongly typed member; a value that validate refuses; a wrong hash.
[[nodiscard]] Result<Record> parse_line(std::string_view line);

/// Records, and descriptions of lines that could not be read.
struct RecordSet {
  std::vector<Record> records;
  std::vector<std::string> problems;  ///< "line 3: ..."
};

/// Returns the lines of the records in the order of their places, each with its newline.
[[nodiscard]] std::string to_lines(const std::vector<Record>& records);
/// A text's lines, without their newlines.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
/// Reads every good line and ignores empty ones. A bad line becomes a problem and affects no other line.
[[nodiscard]] RecordSet parse_lines(std::string_view text);

}  // namespace padlock::tuner
