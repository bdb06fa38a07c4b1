#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/record.h"

// A record's one form outside of memory: a line of JSON, keys sorted, no blanks, with a hash of the rest of the line. A
// cache file holds the same lines as an export, so that either can be checked against itself.
namespace padlock::tuner {

inline constexpr int kRecordSchema = 1;  ///< raised when a member changes its meaning or goes away
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kMaxExportBytes = std::int64_t{1} << 30;  ///< that are read of one export

/// Without a newline. Precondition: validate(record).
[[nodiscard]] std::string to_line(const Record& record);
/// The record of a line that is exactly as to_line writes it; else nothing, without a reason. Does not validate.
[[nodiscard]] std::optional<Record> scan_line(std::string_view line);
/// Parses a line that to_line writes. Errors (invalid_argument): no JSON, another schema, a member that is
/// missing, unknown or of a wrong type, a value that validate refuses, a hash that is not the line's.
[[nodiscard]] Result<Record> parse_line(std::string_view line);

/// Records with what could not be read beside them.
struct RecordSet {
  std::vector<Record> records;
  std::vector<std::string> problems;  ///< "line 3: ..."
};

/// The lines of the records in the order of their places, each with its newline.
[[nodiscard]] std::string to_lines(const std::vector<Record>& records);
/// A text's lines, without their newlines.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
/// Reads what can be read; empty lines say nothing. A bad line is a problem and costs no other line.
[[nodiscard]] RecordSet parse_lines(std::string_view text);

}  // namespace padlock::tuner
