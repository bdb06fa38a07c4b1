#include "tuner/cache/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace padlock::tuner {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kMaxValueBytes = 4 << 20;
// Damaged pages can make a query loop for very long. A query of ours takes some dozen steps a row.
constexpr int kStepsBetweenChecks = 1'000'000, kMaxChecks = 200;

Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_INTERRUPT:  // our own, after kMaxChecks
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:  // our statements are right, so something that they name is missing in the file
    case SQLITE_SCHEMA:
      return Code::data_loss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:  // the file exists, so it or the files beside it may not be opened
      return Code::permission_denied;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return Code::resource_exhausted;
    default:
      return Code::unavailable;
  }
}

std::unexpected<Error> error_of(sqlite3* handle, int result) {
  const char* file = handle == nullptr ? nullptr : sqlite3_db_filename(handle, "main");
  const bool named = file != nullptr && *file != '\0';
  return std::unexpected(Error{.code = code_of(result),
                               .blame = Blame::environment,
                               .message = fmt::format("{}: {}", named ? file : "the cache in memory",
                                                      handle == nullptr ? "out of memory" : sqlite3_errmsg(handle))});
}

std::unexpected<Error> system_error(const char* what, const std::string& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR                   ? Code::not_found
                    : error == EACCES || error == EPERM || error == EROFS ? Code::permission_denied
                    : error == ENOSPC || error == EDQUOT                  ? Code::resource_exhausted
                                                                          : Code::unavailable;
  return std::unexpected(Error{.code = code,
                               .blame = Blame::environment,
                               .message = fmt::format("cannot {} {}: {}", what, path, strerror(error))});
}

/// SQLite creates files readable for everyone. The files that it puts beside this one take over its mode.
Status make_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd >= 0) ::close(fd);
  // The caller may still read a file that cannot be written; SQLite reports a later write.
  if (fd < 0 && errno != EACCES && errno != EROFS) return system_error("write", path, errno);
  return {};
}

Status check_regular(const std::string& path) {
  struct stat info{};
  if (path.find('\0') != std::string::npos) return invalid_argument("a file name cannot contain a NUL byte");
  if (::stat(path.c_str(), &info) != 0) return system_error("read", path, errno);
  if (!S_ISREG(info.st_mode)) return failed_precondition(fmt::format("cannot read {}: not a regular file", path));
  // SQLite takes some files shorter than its header for new ones, and would overwrite them.
  constexpr off_t kLeastBytes = 512;
  if (info.st_size == 0 || info.st_size >= kLeastBytes) return {};
  return std::unexpected(Error{.code = Code::data_loss,
                               .blame = Blame::environment,
                               .message = fmt::format("{}: file is not a database", path)});
}

/// Returns "file:PATH?OPTIONS", with the characters escaped that have a meaning in a URI.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  return fmt::format("{}?{}", uri, options);
}

/// SQLite calls it every kStepsBetweenChecks steps of a statement.
int count_steps(void* count) { return ++*static_cast<int*>(count) > kMaxChecks ? 1 : 0; }

}  // namespace

void Query::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

// Binding fails for a wrong index, which is our mistake, or for want of memory; the query then finds nothing.
void Query::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Query::lend(int index, std::string_view text) {
  // SQLite would bind the null pointer of an empty view as NULL.
  const char* const begin = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), index, begin, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Query::bind(int index, std::int64_t number) { sqlite3_bind_int64(statement_.get(), index, number); }

Result<bool> Query::next() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  auto error = error_of(sqlite3_db_handle(statement_.get()), result);
  sqlite3_reset(statement_.get());
  if (result == SQLITE_DONE) return false;
  return error;
}

std::string_view Query::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::int64_t Query::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

Result<Database> Database::connect(const std::string& uri, int flags) {
  sqlite3* raw = nullptr;
  const int result = sqlite3_open_v2(uri.c_str(), &raw, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database{Handle(raw)};
  if (result != SQLITE_OK) return error_of(raw, result);
  PADLOCK_CHECK(database.harden());
  return database;
}

Status Database::harden() {
  sqlite3* handle = handle_.get();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_progress_handler(handle, kStepsBetweenChecks, count_steps, steps_.get());
  for (const auto& [option, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
    sqlite3_db_config(handle, option, value, nullptr);
  // Nothing here is a secret. Some systems' SQLite overwrites removed content with zeros, in the log and in the file.
  PADLOCK_CHECK(execute("PRAGMA secure_delete = OFF"));
  return execute("PRAGMA cell_size_check = ON");
}

Result<Database> Database::open(const std::string& path, Access access) {
  if (access == Access::write) PADLOCK_CHECK(make_file(path));
  PADLOCK_CHECK(check_regular(path));
  if (access == Access::write) return connect(uri_of(path, "mode=rw"), SQLITE_OPEN_READWRITE);
  // A log beside the file may hold records that the file lacks.
  if (access == Access::snapshot && ::access((path + "-wal").c_str(), F_OK) != 0)
    return connect(uri_of(path, "immutable=1"), SQLITE_OPEN_READONLY);
  auto database = connect(uri_of(path, "mode=ro"), SQLITE_OPEN_READONLY);
  const auto readable = database ? database->number("PRAGMA schema_version") : std::unexpected(database.error());
  if (readable || readable.error().code != Code::permission_denied) return database;
  // Readers of a file with a write-ahead log put a file of locks beside it. If that file cannot be made, no process
  // writes.
  return connect(uri_of(path, "immutable=1"), SQLITE_OPEN_READONLY);
}

Result<Database> Database::in_memory() { return connect("file::memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY); }

Status Database::execute(const char* sql) {
  *steps_ = 0;
  const int result = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return error_of(handle_.get(), result);
  return {};
}

Result<Query> Database::prepare(std::string_view sql) {
  *steps_ = 0;
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (result != SQLITE_OK) return error_of(handle_.get(), result);
  return Query(statement);
}

Result<std::int64_t> Database::number(std::string_view sql) {
  PADLOCK_TRY(Query query, prepare(sql));
  PADLOCK_TRY(const bool found, query.next());
  return found ? query.number(0) : 0;
}

std::int64_t Database::changes() const { return sqlite3_changes(handle_.get()); }

Result<bool> Database::uses_log() {
  PADLOCK_TRY(Query query, prepare("PRAGMA journal_mode"));
  PADLOCK_TRY(const bool found, query.next());
  return found && query.text(0) == "wal";
}

// SQLite does not wait for this lock: several processes that create the file meet here.
Status Database::use_log() {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  for (;;) {
    const auto used = uses_log();
    if (used && *used) return {};
    const Status set = execute("PRAGMA journal_mode = WAL");
    if (set || set.error().code != Code::unavailable || Clock::now() > deadline) return set;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Status Database::in_transaction(const std::function<Status()>& body) {
  PADLOCK_CHECK(execute("BEGIN IMMEDIATE"));
  Status done = body();
  if (done) done = execute("COMMIT");
  if (!done && sqlite3_get_autocommit(handle_.get()) == 0) {
    // A failure here says nothing new: the file is unchanged, or the next reader rolls it back.
    [[maybe_unused]] const Status rolled_back = execute("ROLLBACK");
  }
  return done;
}

}  // namespace padlock::tuner
