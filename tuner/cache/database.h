#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "support/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace padlock::tuner {

enum class Access : std::uint8_t {
  /// Reads a file that nobody writes at the time. Puts nothing beside it. Where a writer comes all the same, rows can
  /// be missing or damaged.
  snapshot,
  read,   ///< sees what others write meanwhile; for that, SQLite puts files with its locks beside it where it can
  write,  ///< makes the file where there is none, for its owner alone
};

/// One SQL statement, run row by row. Borrows its database. Not thread-safe.
class Query {
 public:
  /// Gives parameter number `index`, from 1, its value, which is copied.
  void bind(int index, std::string_view text);
  void bind(int index, std::int64_t number);
  /// The same without a copy: the text stays where it is until the parameter gets another or the query goes.
  void lend(int index, std::string_view text);
  /// Steps to the next row and returns whether there is one; after the last one the query can be run again. Errors as
  /// Database's.
  [[nodiscard]] Result<bool> next();
  /// Return a column of the current row; columns count from 0. The text lives until the next call.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// One SQLite connection that trusts nothing of the file: no schema but the caller's is run (no triggers, views or
/// functions), cells are checked, lengths are limited. Not thread-safe; not to be carried across a fork.
///
/// Errors name the file and are by kind: data_loss for a damaged file or one of another format; not_found for a
/// missing file; permission_denied; resource_exhausted for a full disk; unavailable for a passing fault, such as a
/// lock of another process for over ten seconds.
class Database {
 public:
  /// Opens a database. One that is opened to be read is never changed, and can be read where nothing can be written.
  [[nodiscard]] static Result<Database> open(const std::string& path, Access access);
  [[nodiscard]] static Result<Database> in_memory();

  [[nodiscard]] Status execute(const char* sql);
  [[nodiscard]] Result<Query> prepare(std::string_view sql);
  /// The one number that a statement gives.
  [[nodiscard]] Result<std::int64_t> number(std::string_view sql);
  /// How many rows the last statement that writes has written.
  [[nodiscard]] std::int64_t changes() const;
  /// Makes it a file that many processes read while one writes: with a write-ahead log. Waits for others that do.
  [[nodiscard]] Status use_log();
  /// All of `body` or, if it fails, nothing. Waits for other writers first.
  [[nodiscard]] Status in_transaction(const std::function<Status()>& body);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  using Handle = std::unique_ptr<sqlite3, Close>;
  explicit Database(Handle handle) : handle_(std::move(handle)) {}
  static Result<Database> connect(const std::string& uri, int flags);
  Status harden();
  Result<bool> uses_log();

  std::unique_ptr<int> steps_ = std::make_unique<int>(0);  // of the statement at hand; the connection points to it
  Handle handle_;
};

}  // namespace padlock::tuner
