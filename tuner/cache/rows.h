#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/database.h"
#include "tuner/cache/record.h"

// Rows of a cache file's table: a record's place and its line.
namespace padlock::tuner {

inline constexpr std::string_view kColumns = "program, kind, key, region, config, sizes";
inline constexpr std::string_view kThisPlace =
    "program = ?1 AND kind = ?2 AND key = ?3 AND region = ?4 AND config = ?5 AND sizes = ?6";

/// PlaceView is a place in borrowed texts.
struct PlaceView {
  std::string_view program;
  std::int64_t kind = 0;
  std::string_view key, region, config, sizes;

  friend auto operator<=>(const PlaceView&, const PlaceView&) = default;
};

[[nodiscard]] PlaceView view_of(const Place& place);
/// Borrows; `sizes` are sizes_of(record).
[[nodiscard]] PlaceView view_of(const Record& record, std::string_view sizes);
/// Returns the sizes of a measurement as text; empty for other records.
[[nodiscard]] std::string sizes_of(const Record& record);
/// Describes the record of a place for people: "choice for S >= 8 under key 3ac588be9841".
[[nodiscard]] std::string title_of(const PlaceView& place);
/// Binds the place to parameters 1 to 6, as kThisPlace has them.
void lend_place(Query& query, const PlaceView& place);

/// Row is a row copied from its statement, so that any thread may read its texts. It is one piece of memory, so a
/// million rows fit where a million records would not.
class Row {
 public:
  Row() = default;
  /// Copies the current row of a query for kColumns and the line. The row is not checked.
  explicit Row(const Query& row);
  /// Makes the row of a validated record and its line.
  Row(const Record& record, std::string_view line);

  [[nodiscard]] PlaceView place() const { return {text(0), kind_, text(1), text(2), text(3), text(4)}; }
  [[nodiscard]] std::string_view line() const { return text(5); }
  /// Returns its record's date; empty if the row is not checked.
  [[nodiscard]] std::string_view date() const { return std::string_view(text_).substr(ends_.back()); }
  [[nodiscard]] bool is_key() const { return kind_ == 0; }

  /// Checks the row. Error: invalid_argument, as record_of.
  [[nodiscard]] Status check();

  friend bool operator==(const Row&, const Row&) = default;

 private:
  static constexpr std::array kTexts = {0, 2, 3, 4, 5, 6};  // columns

  void set_texts(const std::array<std::string_view, kTexts.size()>& texts);
  [[nodiscard]] std::string_view text(std::size_t i) const;

  std::int64_t kind_ = 0;
  std::string text_;                                 // texts of kTexts, and the date
  std::array<std::uint32_t, kTexts.size()> ends_{};  // ends of the texts in text_
};

/// Reads a row's record. Error: invalid_argument, as parse_line, and for a row of another place.
[[nodiscard]] Result<Record> record_of(const Row& row);

/// Rows that are read or written before others are checked. A database counts a statement's steps from its preparation,
/// and gives up at a limit: enough for many more rows than one writing statement should take.
inline constexpr std::size_t kBatch = 1 << 14;
inline constexpr std::int64_t kPart = 256;  // rows of a batch that one thread takes at a time

/// Appends the next rows, at most a batch; returns whether there may be more.
[[nodiscard]] Result<bool> read_batch(Query& query, std::vector<Row>& rows);

/// Calls body(begin, end) for each batch of so many rows.
template <class Body>
Status in_batches(std::size_t count, const Body& body) {
  for (std::size_t begin = 0; begin < count; begin += kBatch)
    PADLOCK_CHECK(body(begin, std::min(begin + kBatch, count)));
  return {};
}

}  // namespace padlock::tuner
