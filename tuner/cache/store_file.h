#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/database.h"
#include "tuner/cache/prune.h"
#include "tuner/cache/record.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/row_set.h"
#include "tuner/cache/write_rows.h"

namespace padlock::tuner {

/// One cache file: records by place, each as its line, in one SQLite table. A file of another schema or program, or a
/// damaged one, is never written to. Many processes may use a file at once. Records survive the process, however it
/// ends, once `put` has returned. Not thread-safe.
class StoreFile {
 public:
  static constexpr std::int64_t kSchema = 1;

  /// Errors as Database::open; failed_precondition, naming both, for another schema; data_loss for a file that is not a
  /// cache. A new or empty file has no records.
  [[nodiscard]] static Result<StoreFile> open(const std::string& path, Access access);
  /// Opens a store in memory, which is lost with the object.
  [[nodiscard]] static Result<StoreFile> in_memory();

  // Reading returns the good records in the order of their places. Damaged records are lost, and reported as a problem.
  [[nodiscard]] RecordSet all();
  [[nodiscard]] RowSet rows();
  /// Returns the lines of all rows in the order of their places, each with its newline, unchecked. Errors: Database's.
  [[nodiscard]] Result<std::string> unchecked_lines();
  /// Returns all records, and the faults that SQLite finds in their pages.
  [[nodiscard]] RecordSet verify();
  [[nodiscard]] RecordSet keys_of(std::string_view program);
  [[nodiscard]] RecordSet choices_of(std::string_view program, std::string_view key);
  [[nodiscard]] RecordSet measurements_of(std::string_view program, std::string_view key);

  /// Writes all records or none, and returns how many it wrote: with keep_later, fewer than given if some were there.
  /// Errors: invalid_argument for a record that validate refuses; else Database's.
  [[nodiscard]] Result<std::int64_t> put(std::span<const Record> records, Conflict conflict);
  /// The same for checked rows.
  [[nodiscard]] Result<std::int64_t> put(std::span<const Row> rows, Conflict conflict);
  /// Removes the useless records (stale_rows), all or none; damaged ones stay.
  [[nodiscard]] Result<Pruned> prune(const KeyFields& build, std::string_view before);

 private:
  explicit StoreFile(Database database) : database_(std::move(database)) {}
  static Result<StoreFile> over(Database database, Access access);
  Status create_schema();
  Result<bool> is_new();
  Status check_schema();
  template <class Body>
  Result<std::int64_t> in_transaction(const Body& body);
  RecordSet select(std::string_view where, std::initializer_list<std::string_view> values, int kind);

  Database database_;
  bool empty_ = false;  // opened for reading before the first write
};

/// $XDG_CACHE_HOME/padlock/tuning.db, or ~/.cache/padlock/tuning.db. Error: failed_precondition where neither is set.
[[nodiscard]] Result<std::string> default_cache_file();
/// Makes the folder of a file, and those above it, for the owner alone. Existing folders stay as they are.
[[nodiscard]] Status make_cache_folder(const std::string& file);

}  // namespace padlock::tuner
