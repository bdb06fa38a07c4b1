#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/failure.h"

namespace padlock::tools {

/// A parsed JSON value: the library's reports, which a command shows as text. A missing value, or one of another kind
/// than asked for, reads as empty, 0 or false.
class JsonValue {
 public:
  /// Failure: internal, for a text that is not JSON.
  [[nodiscard]] static Outcome<JsonValue> parse(std::string_view text);

  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(integer_); }
  [[nodiscard]] std::uint64_t natural() const { return integer_; }
  [[nodiscard]] double number() const { return number_; }
  [[nodiscard]] bool truth() const { return truth_; }
  /// Returns the values of an array, or of an object's members.
  [[nodiscard]] const std::vector<JsonValue>& items() const { return items_; }
  /// Returns the names of an object's members, as many as items.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const JsonValue& operator[](std::string_view member) const;

 private:
  friend class JsonTree;
  bool exists_ = false;
  bool truth_ = false;
  std::uint64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<JsonValue> items_;
  std::vector<std::string> names_;
};

}  // namespace padlock::tools
