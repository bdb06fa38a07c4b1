#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/json_writer.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {

/// Begins one JSON object on a line of its own: {"schema":2,"kind":KIND, and six digits of each number.
[[nodiscard]] JsonWriter json_line(std::string_view kind);
/// Adds NAME, NAME_low and NAME_high.
JsonWriter& add_estimate(JsonWriter& line, std::string_view name, const Estimate& estimate);
/// Ends the object and the line.
[[nodiscard]] std::string take_line(JsonWriter line);

/// Names the machine and the revision that the figures are of.
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
[[nodiscard]] JsonWriter row_line(const Comparison& comparison, const TimedRow& row);
/// For each row {"schema":2,"kind":"row","title":...,"name":...,"median_ms":...,"ratio":... with its interval,
/// "gb_per_s":...,"bytes":...,"rounds":...}. The ratio is of times: below 1 is faster than the baseline.
[[nodiscard]] std::string to_json_lines(const Comparison& comparison);

}  // namespace padlock::bench
