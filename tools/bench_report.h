#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/compiled_program.h"
#include "support/side_by_side.h"

namespace padlock::tools {

/// What a benchmark has to tell. All borrowed.
struct BenchReport {
  const api::BoundProgram& bound;
  const std::vector<padlock::Comparison>& comparisons;  // titled "warm" and "cold"; the copy is the baseline
  std::int64_t bytes = 0;                               // of inputs and results
  std::uint64_t seed = 0;
};

[[nodiscard]] std::string bench_text(const BenchReport& report);
[[nodiscard]] std::string bench_json(const BenchReport& report);

}  // namespace padlock::tools
