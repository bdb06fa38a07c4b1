#include "support/json_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace padlock {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

void JsonWriter::break_line() {
  if (!inline_ && !style_.one_line) text_ += '\n' + std::string(static_cast<std::size_t>(2 * depth_), ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += inline_ && !style_.one_line ? ", " : ",";
  if (depth_ > 0) break_line();
  first_ = false;
}

JsonWriter& JsonWriter::raw(std::string_view token) {
  separate();
  text_ += token;
  return *this;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  --depth_;
  if (!first_) break_line();
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  raw(json_quoted(name));
  text_ += style_.one_line ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_quoted(text)); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  return raw(style_.digits > 0 ? fmt::format("{:.{}g}", number, style_.digits) : fmt::format("{}", number));
}

}  // namespace padlock
