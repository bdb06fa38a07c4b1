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

/// One cache file: records by place, each as its line, in one SQLite table. A file of another schema, of another
/// program, or damaged is never written to. Many processes may use one file at a time; what `put` has returned for
/// outlives the process, however it ends. Not thread-safe.
class StoreFile {
 public:
  static constexpr std::int64_t kSchema = 1;

  /// Errors as Database::open; failed_precondition, naming both, for another schema, and data_loss for a file that is
  /// no cache. A new or empty file has no records.
  [[nodiscard]] static Result<StoreFile> open(const std::string& path, Access access);
  /// One that goes with the object.
  [[nodiscard]] static Result<StoreFile> in_memory();

  // Reading gives the good records in the order of their places; damage costs those that it has met, and is a problem.
  [[nodiscard]] RecordSet all();
  [[nodiscard]] RowSet rows();
  /// The lines of all rows in the order of their places, each with its newline, none of them looked at. Errors:
  /// Database's.
  [[nodiscard]] Result<std::string> unchecked_lines();
  /// All, and what SQLite finds wrong with the pages that they are in.
  [[nodiscard]] RecordSet verify();
  [[nodiscard]] RecordSet keys_of(std::string_view program);
  [[nodiscard]] RecordSet choices_of(std::string_view program, std::string_view key);
  [[nodiscard]] RecordSet measurements_of(std::string_view program, std::string_view key);

  /// Writes all of them or none. How many it wrote: with keep_later, less those that were there. Errors:
  /// invalid_argument for a record that validate refuses; else Database's.
  [[nodiscard]] Result<std::int64_t> put(std::span<const Record> records, Conflict conflict);
  /// The same of rows that were looked at.
  [[nodiscard]] Result<std::int64_t> put(std::span<const Row> rows, Conflict conflict);
  /// Removes the records that serve nobody (stale_rows), all of them or none; what is bad stays.
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
  bool empty_ = false;  // opened for reading before anything was written
};

/// $XDG_CACHE_HOME/padlock/tuning.db, or ~/.cache/padlock/tuning.db. Error: failed_precondition where neither is set.
[[nodiscard]] Result<std::string> default_cache_file();
/// Makes the folder of a file, and those above it, for the owner alone; folders that are there stay as they are.
[[nodiscard]] Status make_cache_folder(const std::string& file);

}  // namespace padlock::tuner
