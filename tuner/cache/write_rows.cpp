#include "tuner/cache/write_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/host/in_parallel.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {
namespace {

Result<Row> row_of(const Record& record) {
  PADLOCK_CHECK(validate(record));
  return Row(record, to_line(record));
}

/// Returns whether the row that `query` finds at the same place stays; a damaged row does not.
Result<bool> keeps(Query& query, const Row& incoming) {
  lend_place(query, incoming.place());
  PADLOCK_TRY(const bool found, query.next());
  if (!found) return false;  // damage hides it
  Row existing(query);
  PADLOCK_CHECK(query.next());
  return existing.line() == incoming.line() || (existing.check() && !supersedes(incoming, existing));
}

/// Runs an INSERT of a row's place and line.
Status insert_row(Query& insert, const Row& row) {
  lend_place(insert, row.place());
  insert.lend(7, row.line());
  PADLOCK_CHECK(insert.next());
  return {};
}

/// Writes rows. A row with a free place, the usual case, costs one walk down the tree.
class RowWriter {
 public:
  static Result<RowWriter> create(Database& database, Conflict conflict) {
    constexpr const char* kInsert = "INSERT OR {} INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    RowWriter writer(database);
    PADLOCK_TRY(writer.replace_, database.prepare(fmt::format(kInsert, "REPLACE")));
    if (conflict == Conflict::replace) return writer;
    PADLOCK_TRY(writer.add_, database.prepare(fmt::format(kInsert, "IGNORE")));
    PADLOCK_TRY(writer.find_,
                database.prepare(fmt::format("SELECT {}, line FROM record WHERE {}", kColumns, kThisPlace)));
    return writer;
  }

  /// Returns whether the row is written.
  Result<bool> put(const Row& row) {
    if (add_) {
      PADLOCK_CHECK(insert_row(*add_, row));
      if (database_->changes() > 0) return true;
      PADLOCK_TRY(const bool kept, keeps(*find_, row));
      if (kept) return false;
    }
    PADLOCK_CHECK(insert_row(*replace_, row));
    return true;
  }

 private:
  explicit RowWriter(Database& database) : database_(&database) {}
  Database* database_;  // borrowed
  std::optional<Query> replace_, add_, find_;
};

Result<std::int64_t> put_batch(Database& database, std::span<const Row> rows, Conflict conflict) {
  PADLOCK_TRY(RowWriter writer, RowWriter::create(database, conflict));
  std::int64_t written = 0;
  for (const Row& row : rows) {
    PADLOCK_TRY(const bool put, writer.put(row));
    written += put ? 1 : 0;
  }
  return written;
}

Status erase_each(Database& database, std::span<const Row> rows, const std::vector<bool>& stale) {
  return in_batches(rows.size(), [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(Query remove, database.prepare(fmt::format("DELETE FROM record WHERE {}", kThisPlace)));
    for (std::size_t i = begin; i < end; ++i) {
      if (!stale[i]) continue;
      lend_place(remove, rows[i].place());
      PADLOCK_CHECK(remove.next());
    }
    return {};
  });
}

/// Puts the remaining rows into an empty table.
Status put_back(Database& database, std::span<const Row> rows, const std::vector<bool>& stale) {
  return in_batches(rows.size(), [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(Query insert, database.prepare("INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
    for (std::size_t i = begin; i < end; ++i)
      if (!stale[i]) PADLOCK_CHECK(insert_row(insert, rows[i]));
    return {};
  });
}

}  // namespace

Result<std::int64_t> put_records(Database& database, std::span<const Record> records, Conflict conflict) {
  std::int64_t written = 0;
  const auto put_some = [&](std::size_t begin, std::size_t end) -> Status {
    std::vector<Row> rows;
    for (auto& row : runtime::map_in_parallel(records.subspan(begin, end - begin), kPart, row_of)) {
      if (!row) return std::unexpected(std::move(row).error());
      rows.push_back(*std::move(row));
    }
    PADLOCK_TRY(const std::int64_t some, put_batch(database, rows, conflict));
    written += some;
    return {};
  };
  PADLOCK_CHECK(in_batches(records.size(), put_some));
  return written;
}

Result<std::int64_t> put_rows(Database& database, std::span<const Row> rows, Conflict conflict) {
  std::int64_t written = 0;
  const auto put_some = [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(const std::int64_t some, put_batch(database, rows.subspan(begin, end - begin), conflict));
    written += some;
    return {};
  };
  PADLOCK_CHECK(in_batches(rows.size(), put_some));
  return written;
}

Status erase_rows(Database& database, const RowSet& set, const std::vector<bool>& stale) {
  if (!set.whole || 2 * std::ranges::count(stale, true) <= std::ssize(set.rows))
    return erase_each(database, set.rows, stale);
  PADLOCK_CHECK(database.execute("DELETE FROM record"));  // without a walk for each row
  PADLOCK_CHECK(put_back(database, set.rows, stale));
  return put_back(database, set.bad, std::vector<bool>(set.bad.size(), false));
}

}  // namespace padlock::tuner
