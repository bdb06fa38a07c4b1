#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/database.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {

/// Rows that were looked at, with what could not be read beside them.
struct RowSet {
  std::vector<Row> rows;
  std::vector<Row> bad;               ///< as they are
  std::vector<std::string> problems;  ///< "line 3: ...", "a record: ..."
  bool whole = true;                  ///< that all is in the two lists
};

/// Reads what can be read of lines; empty ones say nothing. A bad line is a problem and costs no other line, and is no
/// row.
[[nodiscard]] RowSet parse_rows(std::string_view text);
/// Reads what can be read of a cache's table, in the order of the places if it is whole.
[[nodiscard]] RowSet read_rows(Database& database);

/// The lines in the order of the rows, each with its newline.
[[nodiscard]] std::string lines_of(std::span<const Row> rows);
[[nodiscard]] std::string lines_of(std::span<const Row* const> rows);
/// The titles of the rows' places (title_of), each with a newline, and of the records of a text of lines. Error:
/// invalid_argument, as of the first problem of parse_rows.
[[nodiscard]] std::string titles_of(std::span<const Row> rows);
[[nodiscard]] Result<std::string> titles_of(std::string_view lines);

}  // namespace padlock::tuner
