#include "tuner/cache/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "support/hash.h"

namespace padlock::tuner {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"\"key\"", "\"choice\"", "\"measurement\""};  // by index of content

/// Comes before the members. The hash covers a brace and the rest of the line.
constexpr std::string_view kCheck = R"({"check":")";
constexpr std::string_view kAfterCheck = R"(",)";
constexpr std::size_t kDigits = 16, kBefore = kCheck.size() + kDigits + kAfterCheck.size();

constexpr std::array kSortedKeyFields = [] {
  std::array fields = kKeyFields;
  std::ranges::sort(fields, {}, &KeyField::name);
  return fields;
}();

// A line's members are sorted. Writing and scanning visit them in one order, with one name for each type: member(name,
// value), and constant(name, text) for members that are equal in all records.

/// Visits the members that all records have, among those of the content.
template <class Stream, class AnyRecord>
class CommonMembers {
 public:
  CommonMembers(Stream& stream, AnyRecord& record) : stream_(stream), record_(record) {}

  /// Visits the common members whose names come before this one.
  void before(std::string_view name) {
    for (; done_ < kNames.size() && kNames[done_] < name; ++done_) put(kNames[done_]);
  }

 private:
  static constexpr std::array<std::string_view, 4> kNames = {"key", "kind", "program", "schema"};

  void put(std::string_view name) {
    if (name == "key") stream_.member(name, record_.key);
    if (name == "kind") stream_.constant(name, kKinds[record_.content.index()]);
    if (name == "program") stream_.member(name, record_.program);
    if (name == "schema") stream_.constant(name, fmt::format_int(kRecordSchema).c_str());
  }

  Stream& stream_;
  AnyRecord& record_;
  std::size_t done_ = 0;
};

template <class Stream, ConstOrNot<KeyFields> T, class Common>
void content_members(Stream& stream, T& fields, Common& common) {
  common.before("fields");
  stream.member("fields", fields);
}
template <class Stream, class Content, class Common>
void content_members(Stream& stream, Content& content, Common& common) {
  visit_members(content, [&](std::string_view name, auto& value) {
    common.before(name);
    stream.member(name, value);
  });
}

template <class Stream, class AnyRecord>
void line_members(Stream& stream, AnyRecord& record) {
  CommonMembers common(stream, record);
  std::visit([&](auto& content) { content_members(stream, content, common); }, record.content);
  common.before("~");
}

/// Returns the number of characters before the first one that a quoted text escapes.
std::size_t plain_prefix(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if(text, [](char c) { return c == '"' || c == '\\'; }) -
                                  text.begin());
}

/// Returns the digits of the hash of a line's rest, whose first character is the brace.
std::array<char, kDigits> check_of(std::string_view rest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<char, kDigits> digits{};
  std::uint64_t hash = checksum64(rest);
  for (std::size_t i = kDigits; i-- > 0; hash >>= 4) digits[i] = kHex[hash & 15];
  return digits;
}

class Writer {
 public:
  Writer() {
    text_.reserve(1024);
    text_.append(kBefore - 1, ' ');
    text_ += '{';
  }

  void constant(std::string_view name, std::string_view text) {
    begin(name);
    text_ += text;
  }
  void member(std::string_view name, const std::string& text) {
    begin(name);
    quote(text);
  }
  template <std::integral T>
  void member(std::string_view name, T value) {
    begin(name);
    number(value);
  }
  void member(std::string_view name, Verdict verdict) {
    begin(name);
    quote(name_of(verdict));
  }
  void member(std::string_view name, const std::vector<std::int64_t>& values) {
    begin(name);
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      number(values[i]);
    }
    text_ += ']';
  }
  void member(std::string_view name, const Sizes& sizes) {
    object(name, [&] {
      for (const auto& [symbol, value] : sizes) member(symbol, value);
    });
  }
  void member(std::string_view name, const KeyFields& fields) {
    object(name, [&] {
      for (const KeyField& field : kSortedKeyFields) member(field.name, fields.*field.value);
    });
  }
  void member(std::string_view name, Regime regime) {
    begin(name);
    quote(name_of(regime));
  }
  template <class T>
  void member(std::string_view name, const std::optional<T>& value) {
    if (!value) return;
    if constexpr (std::is_enum_v<T>)
      member(name, *value);
    else
      members(name, *value);
  }
  void member(std::string_view name, const Provenance& provenance) { members(name, provenance); }

  [[nodiscard]] std::string take() && {
    text_ += '}';
    const std::array<char, kDigits> check = check_of(std::string_view(text_).substr(kBefore - 1));
    auto to = std::ranges::copy(kCheck, text_.begin()).out;
    to = std::ranges::copy(check, to).out;
    std::ranges::copy(kAfterCheck, to);
    return std::move(text_);
  }

 private:
  void begin(std::string_view name) {
    if (text_.back() != '{') text_ += ',';
    quote(name);
    text_ += ':';
  }
  void quote(std::string_view text) {
    text_ += '"';
    while (!text.empty()) {
      const std::size_t plain = plain_prefix(text);
      text_.append(text.substr(0, plain));
      text.remove_prefix(plain);
      if (text.empty()) break;
      (text_ += '\\') += text.front();
      text.remove_prefix(1);
    }
    text_ += '"';
  }
  template <std::integral T>
  void number(T value) {
    const fmt::format_int digits(value);
    text_.append(digits.data(), digits.size());
  }
  template <class Body>
  void object(std::string_view name, const Body& body) {
    begin(name);
    text_ += '{';
    body();
    text_ += '}';
  }
  template <class Data>
  void members(std::string_view name, const Data& data) {
    object(name,
           [&] { visit_members(data, [this](std::string_view inner, const auto& value) { member(inner, value); }); });
  }

  std::string text_;
};

/// Reads exactly what a Writer writes; the first difference ends the scan.
class Scanner {
 public:
  explicit Scanner(std::string_view rest) : rest_(rest) {}

  void constant(std::string_view name, std::string_view text) {
    begin(name);
    expect(text);
  }
  void member(std::string_view name, std::string& text) {
    begin(name);
    unquote(text);
  }
  template <std::integral T>
  void member(std::string_view name, T& value) {
    begin(name);
    number(value);
  }
  void member(std::string_view name, Verdict& verdict) { named(name, verdict, verdict_from_name); }
  void member(std::string_view name, Regime& regime) { named(name, regime, regime_from_name); }
  void member(std::string_view name, std::vector<std::int64_t>& values) {
    begin(name);
    expect("[");
    if (take(']')) return;
    const std::string_view list = rest_.substr(0, rest_.find(']'));
    values.reserve(static_cast<std::size_t>(std::ranges::count(list, ',')) + 1);
    do number(values.emplace_back());
    while (take(','));
    expect("]");
  }
  void member(std::string_view name, Sizes& sizes) {
    object(name, [&] {
      while (ok_ && !rest_.starts_with('}')) {
        std::string symbol;
        separate();
        unquote(symbol);
        expect(":");
        ok_ = ok_ && (sizes.empty() || sizes.rbegin()->first < symbol);
        if (ok_) number(sizes.emplace_hint(sizes.end(), std::move(symbol), 0)->second);
      }
    });
  }
  void member(std::string_view name, KeyFields& fields) {
    object(name, [&] {
      for (const KeyField& field : kSortedKeyFields) member(field.name, fields.*field.value);
    });
  }
  /// Reads a member that may be absent; the first member is never absent.
  template <class T>
  void member(std::string_view name, std::optional<T>& value) {
    const std::string_view from_name = rest_.substr(std::min<std::size_t>(2, rest_.size()));
    if (!rest_.starts_with(",\"") || !from_name.starts_with(name) || !from_name.substr(name.size()).starts_with('"'))
      return;
    if constexpr (std::is_enum_v<T>)
      member(name, value.emplace());
    else
      members(name, value.emplace());
  }
  void member(std::string_view name, Provenance& provenance) { members(name, provenance); }

  /// Returns whether everything was understood, up to the end.
  [[nodiscard]] bool is_whole() {
    expect("}");
    return ok_ && rest_.empty();
  }

 private:
  /// Reads a value that is written as its name.
  template <class T>
  void named(std::string_view name, T& value, Result<T> (*from_name)(std::string_view)) {
    std::string text;
    member(name, text);
    const auto known = ok_ ? from_name(text) : value;
    ok_ = ok_ && known;
    if (ok_) value = *known;
  }

  void expect(std::string_view text) {
    ok_ = ok_ && rest_.starts_with(text);
    if (ok_) rest_.remove_prefix(text.size());
  }
  bool take(char c) {
    const bool there = ok_ && rest_.starts_with(c);
    if (there) rest_.remove_prefix(1);
    return there;
  }
  void separate() {
    if (!std::exchange(first_, false)) expect(",");
  }
  void begin(std::string_view name) {
    separate();
    expect("\"");
    expect(name);
    expect("\":");
  }
  void unquote(std::string& text) {
    expect("\"");
    while (ok_) {
      const std::size_t end = plain_prefix(rest_);
      ok_ = end + 1 < rest_.size();
      if (!ok_) return;
      text += rest_.substr(0, end);
      const bool escaped = rest_[end] == '\\';
      const char next = rest_[end + 1];
      rest_.remove_prefix(end + (escaped ? 2 : 1));
      if (!escaped) return;
      ok_ = next == '"' || next == '\\';
      text += next;
    }
  }
  template <std::integral T>
  void number(T& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const std::size_t sign = rest_.starts_with('-') ? 1 : 0;
    const bool padded = rest_.substr(sign).starts_with('0') && (sign > 0 || end != rest_.data() + 1);
    ok_ = ok_ && error == std::errc() && !padded;
    if (ok_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  }
  template <class Body>
  void object(std::string_view name, const Body& body) {
    begin(name);
    expect("{");
    first_ = true;
    body();
    expect("}");
    first_ = false;
  }
  template <class Data>
  void members(std::string_view name, Data& data) {
    object(name, [&] { visit_members(data, [this](std::string_view inner, auto& value) { member(inner, value); }); });
  }

  std::string_view rest_;
  bool ok_ = true;
  bool first_ = true;  // in its object
};

/// Sets the kind that a valid line has; for other text any kind.
void set_kind(Record& record, std::string_view line) {
  constexpr std::string_view kName = R"("kind":)";
  const std::size_t at = std::min(line.find(kName), line.size());
  const std::string_view kind = line.substr(std::min(at + kName.size(), line.size()));
  if (kind.starts_with(kKinds[1])) record.content.emplace<1>();
  if (kind.starts_with(kKinds[2])) record.content.emplace<2>();
}

}  // namespace

std::string to_line(const Record& record) {
  Writer writer;
  line_members(writer, record);
  return std::move(writer).take();
}

std::optional<Record> scan_line(std::string_view line) {
  if (!line.starts_with(kCheck) || line.size() <= kBefore) return std::nullopt;
  Record record;
  set_kind(record, line);
  Scanner scanner(line.substr(kBefore));
  line_members(scanner, record);
  if (!scanner.is_whole()) return std::nullopt;
  const std::array<char, kDigits> check = check_of(std::string("{").append(line.substr(kBefore)));
  const std::string_view head = line.substr(kCheck.size(), kBefore - kCheck.size());
  if (!head.starts_with(std::string_view(check.data(), check.size())) || !head.ends_with(kAfterCheck))
    return std::nullopt;
  return record;
}

}  // namespace padlock::tuner
