#include "tuner/cache/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace padlock::tuner {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kKinds = {"key", "choice", "measurement"};  // by index of Record::content

// ---- Reading: the first error stays, and nothing after it is read ----

class Reader {
 public:
  explicit Reader(const json& object) { enter(object, "a record"); }

  void read(const char* name, std::string& out) {
    if (const json* value = member(name, &json::is_string, "a text")) out = value->get_ref<const std::string&>();
  }
  template <std::integral T>
  void read(const char* name, T& out) {
    if (const json* value = member(name, &json::is_number_integer, "an integer")) read_number(name, *value, out);
  }
  void read(const char* name, std::vector<std::int64_t>& out) {
    const json* list = member(name, &json::is_array, "a list");
    for (std::size_t i = 0; list != nullptr && status_ && i < list->size(); ++i)
      read_number(name, (*list)[i], out.emplace_back());
  }
  void read(const char* name, Sizes& out) {
    const json* values = member(name, &json::is_object, "an object");
    if (values == nullptr) return;
    for (const auto& [key, value] : values->items()) read_number(name, value, out[key]);
  }
  void read(const char* name, Verdict& out) {
    std::string text;
    read(name, text);
    if (!status_) return;
    auto known = verdict_from_name(text);
    if (known) out = *known;
    if (!known) fail(std::move(known).error().message);
  }
  void read(const char* name, Provenance& out) {
    with_object(name, [&out](Reader& reader) { reader.read_members(out); });
  }
  /// Reads a member that may be absent.
  template <class T>
  void read(const char* name, std::optional<T>& out) {
    if (!status_ || !object_->contains(name)) return;
    if constexpr (std::is_enum_v<T>)
      read(name, out.emplace());
    else
      with_object(name, [&out](Reader& reader) { reader.read_members(out.emplace()); });
  }
  void read(const char* name, Regime& out) {
    std::string text;
    read(name, text);
    if (!status_) return;
    auto known = regime_from_name(printable(text));
    if (known) out = *known;
    if (!known) fail(std::move(known).error().message);
  }
  template <class Data>
  void read_members(Data& data) {
    visit_members(data, [this](const char* name, auto& member) { read(name, member); });
  }
  void read(const char* name, KeyFields& out) {
    with_object(name, [&out](Reader& reader) {
      for (const KeyField& field : kKeyFields) reader.read(std::string(field.name).c_str(), out.*field.value);
    });
  }
  void fail(std::string message) {
    if (status_) status_ = invalid_argument(std::move(message));
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void enter(const json& object, const char* what) {
    object_ = &object;
    if (!object.is_object()) fail(fmt::format("expected {} as a JSON object", what));
  }
  const json* member(const char* name, bool (json::*is)() const noexcept, const char* what) {
    if (!status_) return nullptr;
    const auto found = object_->find(name);
    if (found != object_->end() && ((*found).*is)()) return &*found;
    fail(fmt::format("expected {} as '{}'", what, name));
    return nullptr;
  }
  template <class T>
  void read_number(const char* name, const json& value, T& out) {
    // The parser gives integers >= 0 as unsigned, whatever type they are read as.
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<T>::max()}
                          : value.is_number_integer() && std::is_signed_v<T> &&
                                value.get<std::int64_t>() >= std::int64_t{std::numeric_limits<T>::min()};
    if (!fits) return fail(fmt::format("expected an integer of its range in '{}'", name));
    out = value.get<T>();
  }
  template <class Read>
  void with_object(const char* name, const Read& read_members) {
    const json* object = member(name, &json::is_object, "an object");
    if (object == nullptr) return;
    Reader inner(*object);
    read_members(inner);
    if (!inner.status_) status_ = std::move(inner.status_);
  }

  const json* object_ = nullptr;  // borrowed
  Status status_;
};

void read_content(Reader& reader, KeyFields& fields) { reader.read("fields", fields); }
template <class Content>
void read_content(Reader& reader, Content& content) {
  reader.read_members(content);
}

Status set_kind(Record& record, std::string_view kind) {
  if (kind == kKinds[0])
    record.content.emplace<0>();
  else if (kind == kKinds[1])
    record.content.emplace<1>();
  else if (kind == kKinds[2])
    record.content.emplace<2>();
  else
    return invalid_argument(fmt::format("expected a kind of record, found '{}'", printable(kind)));
  return {};
}

Result<Record> record_from(const json& object) {
  Reader reader(object);
  Record record;
  std::string kind;
  int schema = 0;
  reader.read("schema", schema);
  if (reader.status() && schema != kRecordSchema)
    reader.fail(fmt::format("expected schema {}, found {}", kRecordSchema, schema));
  reader.read("kind", kind);
  reader.read("program", record.program);
  reader.read("key", record.key);
  PADLOCK_CHECK(reader.status());
  PADLOCK_CHECK(set_kind(record, kind));
  std::visit([&reader](auto& content) { read_content(reader, content); }, record.content);
  PADLOCK_CHECK(reader.status());
  return record;
}

}  // namespace

Result<Record> parse_line(std::string_view line) {
  if (auto record = scan_line(line); record && validate(*record)) return *std::move(record);
  // The line is wrong: find the message.
  if (line.size() > kMaxLineBytes)
    return invalid_argument(fmt::format("expected at most {} bytes, found {}", kMaxLineBytes, line.size()));
  const json object = json::parse(line, nullptr, false);
  if (object.is_discarded()) return invalid_argument("expected a JSON object");
  PADLOCK_TRY(Record record, record_from(object));
  PADLOCK_CHECK(validate(record));
  // Writing the record again must give the same line, including its hash and the members not checked above.
  if (to_line(record) != line) return invalid_argument("expected a line that fits its 'check'; it was changed");
  return record;
}

std::string to_lines(const std::vector<Record>& records) {
  std::vector<const Record*> order;
  order.reserve(records.size());
  for (const Record& record : records) order.push_back(&record);
  std::ranges::stable_sort(order, [](const Record* a, const Record* b) { return compare_places(*a, *b) < 0; });
  std::string all;
  for (const Record* record : order) all.append(to_line(*record)) += '\n';
  return all;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

RecordSet parse_lines(std::string_view text) {
  RecordSet all;
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto found = parse_line(lines[i]))
      all.records.push_back(*std::move(found));
    else if (!lines[i].empty())
      all.problems.push_back(fmt::format("line {}: {}", i + 1, found.error().message));
  return all;
}

}  // namespace padlock::tuner
