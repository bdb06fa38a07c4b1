#include "tuner/cache/row_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/host/in_parallel.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

Result<Row> row_of(std::string_view line) {
  PADLOCK_TRY(const Record record, parse_line(line));
  return Row(record, line);
}

/// Checks and adds rows of a table.
void add_checked(RowSet& set, std::vector<Row> rows) {
  const auto checked = runtime::map_in_parallel(std::span(rows), kPart, [](Row& row) { return row.check(); });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!checked[i]) set.problems.push_back(fmt::format("a record: {}", checked[i].error().message));
    (checked[i] ? set.rows : set.bad).push_back(std::move(rows[i]));
  }
}

/// `row_at(i)` returns row i.
template <class RowAt>
std::string join_lines(std::size_t count, const RowAt& row_at) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += row_at(i).line().size() + 1;
  std::string lines;
  lines.reserve(size);
  for (std::size_t i = 0; i < count; ++i) lines.append(row_at(i).line()) += '\n';
  return lines;
}

}  // namespace

RowSet parse_rows(std::string_view text) {
  const std::vector<std::string_view> lines = split_lines(text);
  RowSet set;
  set.rows.reserve(lines.size());
  const auto add_batch = [&](std::size_t begin, std::size_t end) -> Status {
    auto found = runtime::map_in_parallel(std::span(lines).subspan(begin, end - begin), kPart, row_of);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i])
        set.rows.push_back(*std::move(found[i]));
      else if (!lines[begin + i].empty())
        set.problems.push_back(fmt::format("line {}: {}", begin + i + 1, found[i].error().message));
    return {};
  };
  [[maybe_unused]] const Status done = in_batches(lines.size(), add_batch);
  return set;
}

RowSet read_rows(Database& database) {
  RowSet set;
  auto query = database.prepare(fmt::format("SELECT {}, line FROM record ORDER BY {}", kColumns, kColumns));
  Result<bool> more = query ? Result<bool>(true) : std::unexpected(query.error());
  while (more && *more) {
    std::vector<Row> rows;
    more = read_batch(*query, rows);
    add_checked(set, std::move(rows));
  }
  set.whole = more.has_value();
  if (!more) set.problems.push_back(more.error().message);
  return set;
}

std::string lines_of(std::span<const Row> rows) {
  return join_lines(rows.size(), [&](std::size_t i) -> const Row& { return rows[i]; });
}
std::string lines_of(std::span<const Row* const> rows) {
  return join_lines(rows.size(), [&](std::size_t i) -> const Row& { return *rows[i]; });
}

std::string titles_of(std::span<const Row> rows) {
  std::string titles;
  for (const Row& row : rows) titles.append(title_of(row.place())) += '\n';
  return titles;
}
Result<std::string> titles_of(std::string_view lines) {
  const RowSet set = parse_rows(lines);
  if (!set.problems.empty()) return invalid_argument(set.problems.front());
  return titles_of(set.rows);
}

}  // namespace padlock::tuner
