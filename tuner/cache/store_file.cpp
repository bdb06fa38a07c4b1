#include "tuner/cache/store_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/host/in_parallel.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kApplication = 0x50444c4b;  // "PDLK", in the header of the file

// One table: the columns hold a record's place, and the line is the record. sqlite_schema holds this very text.
constexpr std::string_view kTable =
    "CREATE TABLE record (program TEXT NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL, region TEXT NOT NULL, "
    "config TEXT NOT NULL, sizes TEXT NOT NULL, line TEXT NOT NULL, "
    "PRIMARY KEY (program, kind, key, region, config, sizes)) WITHOUT ROWID";
/// The tree's inner pages hold whole rows, too. Four rows fill SQLite's usual page of 4 KiB, and a million rows would
/// be ten pages deep. Existing files keep their page size.
constexpr const char* kPageSize = "PRAGMA page_size = 16384";

bool is_wanted(const Record& record, std::initializer_list<std::string_view> program_and_key, int kind) {
  const std::string_view actual[] = {record.program, record.key};
  return std::ranges::equal(program_and_key, std::span(actual).first(program_and_key.size())) &&
         (kind < 0 || record.content.index() == static_cast<std::size_t>(kind));
}

std::unexpected<Error> not_a_cache() {
  return std::unexpected(Error{.code = Code::data_loss,
                               .blame = Blame::environment,
                               .message = "expected a cache of Padlock's, found a file without its table"});
}

}  // namespace

Result<StoreFile> StoreFile::open(const std::string& path, Access access) {
  PADLOCK_TRY(Database database, Database::open(path, access));
  auto file = over(std::move(database), access);
  if (!file && !file.error().message.starts_with(path)) file.error().message = path + ": " + file.error().message;
  return file;
}

Result<StoreFile> StoreFile::in_memory() {
  PADLOCK_TRY(Database database, Database::in_memory());
  return over(std::move(database), Access::write);
}

Result<StoreFile> StoreFile::over(Database database, Access access) {
  StoreFile file(std::move(database));
  PADLOCK_TRY(file.empty_, file.is_new());
  if (file.empty_ && access == Access::write) {
    PADLOCK_CHECK(file.database_.execute(kPageSize));
    PADLOCK_CHECK(file.create_schema());
    file.empty_ = false;
  }
  if (!file.empty_) PADLOCK_CHECK(file.check_schema());
  if (access == Access::write) {
    PADLOCK_CHECK(file.database_.use_log());
    // A commit survives the end of the process at once. A power failure may take back whole records, never a part of
    // one.
    PADLOCK_CHECK(file.database_.execute("PRAGMA synchronous = NORMAL"));
  }
  return file;
}

Result<bool> StoreFile::is_new() {
  PADLOCK_TRY(const std::int64_t objects, database_.number("SELECT count(*) FROM sqlite_schema"));
  PADLOCK_TRY(const std::int64_t application, database_.number("PRAGMA application_id"));
  PADLOCK_TRY(const std::int64_t version, database_.number("PRAGMA user_version"));
  return objects == 0 && application == 0 && version == 0;
}

Status StoreFile::create_schema() {
  return database_.in_transaction([this]() -> Status {
    PADLOCK_TRY(const bool still_new, is_new());
    if (!still_new) return {};  // another process was faster
    PADLOCK_CHECK(database_.execute(std::string(kTable).c_str()));
    PADLOCK_CHECK(database_.execute(fmt::format("PRAGMA application_id = {}", kApplication).c_str()));
    return database_.execute(fmt::format("PRAGMA user_version = {}", kSchema).c_str());
  });
}

Status StoreFile::check_schema() {
  PADLOCK_TRY(const std::int64_t application, database_.number("PRAGMA application_id"));
  if (application != kApplication) return not_a_cache();
  PADLOCK_TRY(const std::int64_t version, database_.number("PRAGMA user_version"));
  if (version != kSchema)
    return failed_precondition(fmt::format("expected a cache of schema {}, found schema {}", kSchema, version));
  PADLOCK_TRY(Query query, database_.prepare("SELECT sql FROM sqlite_schema"));
  PADLOCK_TRY(const bool found, query.next());
  if (!found || query.text(0) != kTable) return not_a_cache();
  PADLOCK_TRY(const bool more, query.next());
  if (more) return not_a_cache();
  return {};
}

/// `values` are the wanted program and key, as many as are wanted. `kind` is the wanted kind, or -1.
RecordSet StoreFile::select(std::string_view where, std::initializer_list<std::string_view> values, int kind) {
  RecordSet set;
  if (empty_) return set;
  auto query = database_.prepare(fmt::format("SELECT {}, line FROM record {} ORDER BY {}", kColumns, where, kColumns));
  if (!query) {
    set.problems.push_back(query.error().message);
    return set;
  }
  int index = 0;
  for (const std::string_view value : values) query->bind(++index, value);
  Result<bool> more = true;
  while (more && *more) {
    std::vector<Row> rows;
    more = read_batch(*query, rows);
    for (auto& record :
         runtime::map_in_parallel(std::span<const Row>(rows), kPart, [](const Row& row) { return record_of(row); }))
      if (!record)
        set.problems.push_back(fmt::format("a record: {}", record.error().message));
      else if (!is_wanted(*record, values, kind))  // rows of a damaged file can be out of order
        set.problems.emplace_back("a record: expected one that was asked for, found another");
      else
        set.records.push_back(*std::move(record));
  }
  if (!more) set.problems.push_back(more.error().message);
  return set;
}

RecordSet StoreFile::all() { return select("", {}, -1); }
RowSet StoreFile::rows() { return empty_ ? RowSet() : read_rows(database_); }

Result<std::string> StoreFile::unchecked_lines() {
  std::string lines;
  if (empty_) return lines;
  PADLOCK_TRY(Query query, database_.prepare(fmt::format("SELECT line FROM record ORDER BY {}", kColumns)));
  for (;;) {
    PADLOCK_TRY(const bool found, query.next());
    if (!found) return lines;
    lines.append(query.text(0)) += '\n';
  }
}

/// Runs `body` in a transaction. `body` returns the number of rows that it met.
template <class Body>
Result<std::int64_t> StoreFile::in_transaction(const Body& body) {
  std::int64_t count = 0;
  PADLOCK_CHECK(database_.in_transaction([&]() -> Status {
    PADLOCK_TRY(count, body());
    return {};
  }));
  return count;
}

RecordSet StoreFile::verify() {
  RecordSet set = all();
  // The remaining rows of a damaged page may hide that records were lost.
  Result<bool> row = true;
  auto query = database_.prepare("PRAGMA quick_check(10)");
  while (query && (row = query->next()) && *row)
    if (query->text(0) != "ok") set.problems.push_back(fmt::format("the file: {}", query->text(0)));
  if (!query) set.problems.push_back(query.error().message);
  if (!row) set.problems.push_back(row.error().message);
  return set;
}

RecordSet StoreFile::keys_of(std::string_view program) {
  return select("WHERE program = ?1 AND kind = 0", {program}, 0);
}
RecordSet StoreFile::choices_of(std::string_view program, std::string_view key) {
  return select("WHERE program = ?1 AND kind = 1 AND key = ?2", {program, key}, 1);
}
RecordSet StoreFile::measurements_of(std::string_view program, std::string_view key) {
  return select("WHERE program = ?1 AND kind = 2 AND key = ?2", {program, key}, 2);
}

Result<std::int64_t> StoreFile::put(std::span<const Record> records, Conflict conflict) {
  return in_transaction([&] { return put_records(database_, records, conflict); });
}
Result<std::int64_t> StoreFile::put(std::span<const Row> rows, Conflict conflict) {
  return in_transaction([&] { return put_rows(database_, rows, conflict); });
}

Result<Pruned> StoreFile::prune(const KeyFields& build, std::string_view before) {
  RowSet set;
  std::vector<bool> stale;
  PADLOCK_CHECK(database_.in_transaction([&]() -> Status {
    set = read_rows(database_);
    stale = stale_rows(set.rows, build, before);
    return erase_rows(database_, set, stale);
  }));
  return take_stale(std::move(set), stale);
}

Result<std::string> default_cache_file() {
  constexpr const char* kName = "/padlock/tuning.db";
  // The XDG specification says to ignore relative paths.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + kName;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache" + kName;
  return failed_precondition("no place for the user's cache: neither XDG_CACHE_HOME nor HOME names a folder");
}

Status make_cache_folder(const std::string& file) {
  for (std::size_t slash = file.find('/', 1); slash != std::string::npos; slash = file.find('/', slash + 1)) {
    const std::string folder = file.substr(0, slash);
    if (::mkdir(folder.c_str(), 0700) == 0) continue;
    const int error = errno;
    struct stat info{};
    if (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return unavailable(fmt::format("cannot make folder {}: {}", folder, std::strerror(error)));
  }
  return {};
}

}  // namespace padlock::tuner
