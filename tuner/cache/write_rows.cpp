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

/// NewRow holds the columns of a row that its record does not have as texts.
struct NewRow {
  std::string sizes, line;
};

Result<NewRow> row_of(const Record& record) {
  PADLOCK_CHECK(validate(record));
  return NewRow{sizes_of(record), to_line(record)};
}

/// Returns whether the record of this place that `query` finds stays; a damaged one does not.
Result<bool> keeps(Query& query, const PlaceView& place, const Record& incoming) {
  lend_place(query, place);
  PADLOCK_TRY(const bool found, query.next());
  if (!found) return false;  // damage hides it
  const auto existing = record_of(Row(query));
  PADLOCK_CHECK(query.next());
  return existing && !supersedes(incoming, *existing);
}

/// Runs an INSERT of a row's place and line.
Status insert_row(Query& insert, const PlaceView& place, std::string_view line) {
  lend_place(insert, place);
  insert.lend(7, line);
  PADLOCK_CHECK(insert.next());
  return {};
}

/// Writes rows. One whose place is free, as most are, costs one walk down the tree.
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
  Result<bool> put(const PlaceView& place, std::string_view line, const Record& record) {
    if (add_) {
      PADLOCK_CHECK(insert_row(*add_, place, line));
      if (database_->changes() > 0) return true;
      PADLOCK_TRY(const bool kept, keeps(*find_, place, record));
      if (kept) return false;
    }
    PADLOCK_CHECK(insert_row(*replace_, place, line));
    return true;
  }

 private:
  explicit RowWriter(Database& database) : database_(&database) {}
  Database* database_;  // borrowed
  std::optional<Query> replace_, add_, find_;
};

Result<std::int64_t> erase_each(Database& database, std::span<const Place> places) {
  std::int64_t erased = 0;
  const auto erase_batch = [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(Query remove, database.prepare(fmt::format("DELETE FROM record WHERE {}", kThisPlace)));
    for (const Place& place : places.subspan(begin, end - begin)) {
      lend_place(remove, view_of(place));
      PADLOCK_CHECK(remove.next());
      erased += database.changes();
    }
    return {};
  };
  PADLOCK_CHECK(in_batches(places.size(), erase_batch));
  return erased;
}

/// The rows that are of none of these places, as they are.
Result<std::vector<Row>> rows_but(Database& database, std::span<const Place> places) {
  std::vector<PlaceView> views;
  std::ranges::transform(places, std::back_inserter(views), [](const Place& place) { return view_of(place); });
  std::ranges::sort(views);
  PADLOCK_TRY(Query query,
              database.prepare(fmt::format("SELECT {}, line FROM record ORDER BY {}", kColumns, kColumns)));
  std::vector<Row> kept;
  auto next = views.begin();  // both are in one order, if the file is whole
  for (;;) {
    PADLOCK_TRY(const bool found, query.next());
    if (!found) return kept;
    Row row(query);
    if (next != views.end() && *next == row.place())
      ++next;
    else if (!std::ranges::binary_search(views, row.place()))
      kept.push_back(std::move(row));
  }
}

/// Empties the table, which takes no walk for each row, and puts back the rows that stay.
Status leave_only(Database& database, std::span<const Row> rows) {
  PADLOCK_CHECK(database.execute("DELETE FROM record"));
  return in_batches(rows.size(), [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(Query insert, database.prepare("INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
    for (const Row& row : rows.subspan(begin, end - begin)) PADLOCK_CHECK(insert_row(insert, row.place(), row.line()));
    return {};
  });
}

/// Erases places that are most of the file; of a file whose rows cannot all be read, those that can be.
Result<std::int64_t> erase_most(Database& database, std::span<const Place> places, std::int64_t rows) {
  const auto kept = rows_but(database, places);
  if (!kept) return erase_each(database, places);
  PADLOCK_CHECK(leave_only(database, *kept));
  return rows - std::ssize(*kept);
}

}  // namespace

Result<std::int64_t> put_rows(Database& database, std::span<const Record> records, Conflict conflict) {
  std::int64_t written = 0;
  const auto put_batch = [&](std::size_t begin, std::size_t end) -> Status {
    PADLOCK_TRY(RowWriter writer, RowWriter::create(database, conflict));
    const auto batch = records.subspan(begin, end - begin);
    const auto rows = runtime::map_in_parallel(batch, kPart, [](const Record& record) { return row_of(record); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i]) return std::unexpected(rows[i].error());
      PADLOCK_TRY(const bool put, writer.put(view_of(batch[i], rows[i]->sizes), rows[i]->line, batch[i]));
      written += put ? 1 : 0;
    }
    return {};
  };
  PADLOCK_CHECK(database.in_transaction([&] { return in_batches(records.size(), put_batch); }));
  return written;
}

Result<std::int64_t> erase_rows(Database& database, std::span<const Place> places) {
  std::int64_t erased = 0;
  const auto erase_them = [&]() -> Status {
    const bool many = places.size() >= kBatch;  // so that counting rows pays
    PADLOCK_TRY(const std::int64_t rows,
                many ? database.number("SELECT count(*) FROM record") : Result<std::int64_t>(0));
    const bool most = 2 * std::ssize(places) > rows && many;
    PADLOCK_TRY(erased, most ? erase_most(database, places, rows) : erase_each(database, places));
    return {};
  };
  PADLOCK_CHECK(database.in_transaction(erase_them));
  return erased;
}

}  // namespace padlock::tuner
