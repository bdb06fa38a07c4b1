#pragma once

#include <string>
#include <vector>

#include "bench/gpu/measure.h"
#include "bench/gpu/run_problem.h"

// The lines' fields are explained in bench/gpu/README.md. Every function's text ends with a newline.
namespace padlock::bench::gpu {

/// {"schema":1,"kind":"gpu_provenance",...}
[[nodiscard]] std::string json_line(const Facts& facts, const std::string& commit);
/// {"schema":1,"kind":"gpu_problem",...}, for the peers
[[nodiscard]] std::string json_line(const Problem& problem);
/// {"schema":1,"kind":"gpu_row",...} for each line, {"schema":1,"kind":"gpu_failure",...} for each failure.
[[nodiscard]] std::string json_lines(const ProblemReport& report, const Facts& facts, int rounds);
/// {"schema":1,"kind":"gpu_host",...} for each timing
[[nodiscard]] std::string json_lines(const std::string& title, const std::vector<Timing>& timings, int rounds);

// For people.

[[nodiscard]] std::string text_of(const Facts& facts);
[[nodiscard]] std::string table_of(const ProblemReport& report);
[[nodiscard]] std::string table_of(const std::string& title, const std::vector<Timing>& timings);

/// "64K", "2M", "1.5K", "17": in units of 1024
[[nodiscard]] std::string size_text(std::int64_t bytes);
/// Reads "64K", "3M", "2G" or bytes. Error: invalid_argument, for anything else or no positive number.
[[nodiscard]] Result<std::int64_t> parse_size(const std::string& text);

}  // namespace padlock::bench::gpu
