#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace padlock {

/// The format of JSON text.
struct JsonStyle {
  bool one_line = false;  ///< without blanks; else indented by two a level
  int digits = 0;  ///< significant digits of a floating-point number; 0: as many as distinguish it from all others
};

/// Returns `text` as a JSON string, with its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// Writes one JSON value. The caller balances objects and arrays.
class JsonWriter {
 public:
  explicit JsonWriter(JsonStyle style = {}) : style_(style) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }
  JsonWriter& null() { return raw("null"); }

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  /// Writes an array of numbers or texts, on one line in either style.
  template <class T>
  JsonWriter& member(std::string_view name, const std::vector<T>& list) {
    key(name).begin_array();
    inline_ = true;
    for (const T& item : list) value(item);
    end_array();
    inline_ = false;
    return *this;
  }

  /// Returns the text, with a newline at its end.
  [[nodiscard]] std::string take() && { return std::move(text_) + "\n"; }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& raw(std::string_view token);
  void separate();
  void break_line();

  JsonStyle style_;
  std::string text_;
  int depth_ = 0;
  bool first_ = true;  // nothing in this object or array yet
  bool after_key_ = false;
  bool inline_ = false;
};

}  // namespace padlock
