#pragma once

#include <string>
#include <string_view>

#include "bench/harness.h"

namespace padlock::bench {

/// A JSON string, with its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// Where and of what the figures are.
struct Provenance {
  std::string cpu;  ///< as the machine calls it
  int hardware_threads = 0;
  std::string commit;  ///< as the caller gives it; empty: unknown
};

/// This machine, with the caller's commit.
[[nodiscard]] Provenance provenance_of_this_machine(std::string commit);

/// A heading and one aligned line per row, for people; ends with a newline.
[[nodiscard]] std::string to_table(const Comparison& comparison);

// One JSON object on one line, newline included: {"schema":1,"kind":"provenance",...} and, for each row,
// {"schema":1,"kind":"row","title":...,"name":...,"median_ms":...,"ratio":...,"ratio_low":...,"ratio_high":...,
// "gb_per_s":...,"rounds":...}.
[[nodiscard]] std::string to_json_line(const Provenance& provenance);
[[nodiscard]] std::string to_json_lines(const Comparison& comparison);

}  // namespace padlock::bench
