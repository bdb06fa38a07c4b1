#include "tuner/cache/rows.h"

#include <variant>

#include "tuner/cache/record_text.h"

namespace padlock::tuner {

PlaceView view_of(const Place& place) {
  return {place.program, place.kind, place.key, place.region, place.config, place.sizes};
}

std::string sizes_of(const Record& record) {
  const auto* measured = std::get_if<Measurement>(&record.content);
  return measured == nullptr ? std::string() : to_string(measured->sizes);
}

PlaceView view_of(const Record& record, std::string_view sizes) {
  PlaceView view{.program = record.program,
                 .kind = static_cast<std::int64_t>(record.content.index()),
                 .key = record.key,
                 .region = {},
                 .config = {},
                 .sizes = sizes};
  if (const auto* choice = std::get_if<Choice>(&record.content)) view.region = choice->region;
  if (const auto* measured = std::get_if<Measurement>(&record.content)) {
    view.region = measured->region;
    view.config = measured->config;
  }
  return view;
}

void lend_place(Query& query, const PlaceView& place) {
  query.lend(1, place.program);
  query.bind(2, place.kind);
  query.lend(3, place.key);
  query.lend(4, place.region);
  query.lend(5, place.config);
  query.lend(6, place.sizes);
}

Row::Row(const Query& row) : kind_(row.number(1)) {
  std::size_t size = 0;
  for (const int column : kTexts) size += row.text(column).size();
  text_.reserve(size);
  for (std::size_t i = 0; i < kTexts.size(); ++i) ends_[i] = text_.append(row.text(kTexts[i])).size();
}

std::string_view Row::text(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

Result<Record> record_of(const Row& row) {
  PADLOCK_TRY(Record record, parse_line(row.line()));
  const std::string sizes = sizes_of(record);
  if (view_of(record, sizes) != row.place()) return invalid_argument("expected a record of its place, found another's");
  return record;
}

Result<bool> read_batch(Query& query, std::vector<Row>& rows) {
  while (rows.size() < kBatch) {
    PADLOCK_TRY(const bool found, query.next());
    if (!found) return false;
    rows.emplace_back(query);
  }
  return true;
}

}  // namespace padlock::tuner
