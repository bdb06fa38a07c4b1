#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/side_by_side.h"

namespace padlock::bench {

/// A JSON string, with its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// One JSON object on a line of its own, that begins with {"schema":2,"kind":KIND.
class JsonLine {
 public:
  explicit JsonLine(std::string_view kind);
  JsonLine& add(std::string_view name, std::string_view text);
  JsonLine& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonLine& add(std::string_view name, const std::string& text) { return add(name, std::string_view(text)); }
  JsonLine& add(std::string_view name, double number);  ///< six digits of it
  JsonLine& add(std::string_view name, std::integral auto number) { return raw(name, std::to_string(number)); }
  JsonLine& add(std::string_view name, const Estimate& estimate);  ///< NAME, NAME_low and NAME_high
  /// With a newline.
  [[nodiscard]] std::string take() && { return std::move(text_) + "}\n"; }

 private:
  JsonLine& raw(std::string_view name, std::string_view value);
  std::string text_;
};

/// Where and of what the figures are.
struct Provenance {
  std::string cpu;  ///< as the machine calls it
  int hardware_threads = 0;
  std::string commit;  ///< as the caller gives it; empty: unknown
  std::uint64_t seed = 1;
};

/// This machine, with the caller's commit and seed.
[[nodiscard]] Provenance provenance_of_this_machine(std::string commit, std::uint64_t seed);

/// A heading and one aligned line per row, for people; ends with a newline.
[[nodiscard]] std::string to_table(const Comparison& comparison);

/// {"schema":2,"kind":"provenance",...}.
[[nodiscard]] std::string to_json_line(const Provenance& provenance);
/// One row of a comparison, to which the caller may add.
[[nodiscard]] JsonLine row_line(const Comparison& comparison, const TimedRow& row);
/// For each row {"schema":2,"kind":"row","title":...,"name":...,"median_ms":...,"ratio":... with its interval,
/// "gb_per_s":...,"bytes":...,"rounds":...}. The ratio is of times: below 1 is faster than the baseline.
[[nodiscard]] std::string to_json_lines(const Comparison& comparison);

}  // namespace padlock::bench
