#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/database.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {

/// Checked rows, and descriptions of what could not be read.
struct RowSet {
  std::vector<Row> rows;
  std::vector<Row> bad;               ///< unchanged
  std::vector<std::string> problems;  ///< "line 3: ...", "a record: ..."
  bool whole = true;                  ///< everything read is in the two lists
};

/// Reads every good line and ignores empty ones. A bad line becomes a problem, not a row, and affects no other line.
[[nodiscard]] RowSet parse_rows(std::string_view text);
/// Reads every good row of a cache's table, in the order of the places if the table is whole.
[[nodiscard]] RowSet read_rows(Database& database);

/// The lines in the order of the rows, each with its newline.
[[nodiscard]] std::string lines_of(std::span<const Row> rows);
[[nodiscard]] std::string lines_of(std::span<const Row* const> rows);
/// Returns the titles of the rows' places (title_of), each with a newline. The second form takes a text of lines;
/// error: invalid_argument, as of the first problem of parse_rows.
[[nodiscard]] std::string titles_of(std::span<const Row> rows);
[[nodiscard]] Result<std::string> titles_of(std::string_view lines);

}  // namespace padlock::tuner
