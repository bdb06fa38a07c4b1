#include "tuner/cache/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "tuner/cache/record_text.h"

namespace padlock::tuner {

PlaceView view_of(const Place& place) {
  return {place.program, place.kind, place.key, place.region, place.config, place.sizes};
}

std::string sizes_of(const Record& record) {
  if (const auto* choice = std::get_if<Choice>(&record.content)) return state_text({}, choice->regime);
  const auto* measured = std::get_if<Measurement>(&record.content);
  return measured == nullptr ? std::string() : state_text(measured->sizes, measured->regime);
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

std::string title_of(const PlaceView& place) {
  constexpr std::size_t kBrief = 12;
  const std::string_view key = place.key.substr(0, kBrief);
  if (place.kind == 0) return fmt::format("key {} of program {}", key, place.program.substr(0, kBrief));
  const std::string_view region = place.region.empty() ? "all sizes" : place.region;
  if (place.kind == 1)
    return fmt::format("choice for {}{}{} under key {}", region, place.sizes.empty() ? "" : ", ", place.sizes, key);
  return fmt::format("measurement for {} at {} of {} under key {}", region, place.sizes, place.config, key);
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
  std::array<std::string_view, kTexts.size()> texts;
  std::ranges::transform(kTexts, texts.begin(), [&row](int column) { return row.text(column); });
  set_texts(texts);
}

Row::Row(const Record& record, std::string_view line) : kind_(static_cast<std::int64_t>(record.content.index())) {
  const std::string sizes = sizes_of(record);
  const PlaceView place = view_of(record, sizes);
  set_texts({place.program, place.key, place.region, place.config, place.sizes, line});
  text_ += date_of(record);
}

void Row::set_texts(const std::array<std::string_view, kTexts.size()>& texts) {
  constexpr std::size_t kDate = std::string_view("2026-01-31T12:00:00Z").size();
  std::size_t size = kDate;
  for (const std::string_view text : texts) size += text.size();
  text_.reserve(size);
  for (std::size_t i = 0; i < texts.size(); ++i) ends_[i] = static_cast<std::uint32_t>(text_.append(texts[i]).size());
}

Status Row::check() {
  PADLOCK_TRY(const Record record, record_of(*this));
  text_ += date_of(record);
  return {};
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
