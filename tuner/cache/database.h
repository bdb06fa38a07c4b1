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
  /// Reads a file that nobody writes meanwhile. Puts no file beside it. If another process does write, rows can be
  /// missing or damaged.
  snapshot,
  read,   ///< sees concurrent writes; for that, SQLite puts lock files beside it if it can
  write,  ///< creates a missing file, for its owner alone
};

/// One SQL statement, run row by row. Borrows its database. Not thread-safe.
class Query {
 public:
  /// Gives parameter number `index`, from 1, its value, which is copied.
  void bind(int index, std::string_view text);
  void bind(int index, std::int64_t number);
  /// The same without a copy: the text must stay valid until the parameter is bound again or the query is destroyed.
  void lend(int index, std::string_view text);
  /// Steps to the next row and returns whether there is one. After the last row the query can run again. Errors as
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

/// One SQLite connection that does not trust the file. It runs only the caller's schema (no triggers, views or
/// functions), checks cells and limits lengths. Not thread-safe; must not be carried across a fork.
///
/// Errors name the file and are by kind: data_loss for a damaged file or another format; not_found for a missing file;
/// permission_denied; resource_exhausted for a full disk; unavailable for a passing fault, such as another process's
/// lock for over ten seconds.
class Database {
 public:
  /// Opens a database. Opening for reading never changes the file, and works where nothing can be written.
  [[nodiscard]] static Result<Database> open(const std::string& path, Access access);
  [[nodiscard]] static Result<Database> in_memory();

  [[nodiscard]] Status execute(const char* sql);
  [[nodiscard]] Result<Query> prepare(std::string_view sql);
  /// Returns the single number that a statement selects.
  [[nodiscard]] Result<std::int64_t> number(std::string_view sql);
  /// Returns the number of rows that the last writing statement wrote.
  [[nodiscard]] std::int64_t changes() const;
  /// Turns on the write-ahead log, so that many processes read while one writes. Waits for others that do the same.
  [[nodiscard]] Status use_log();
  /// Runs all of `body` or, if it fails, nothing. Waits for other writers first.
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

  std::unique_ptr<int> steps_ = std::make_unique<int>(0);  // of the current statement; the connection points to it
  Handle handle_;
};

}  // namespace padlock::tuner
