#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/paired_benchmark.h"
#include "tools/failure.h"

namespace padlock::tools {

/// The results of a benchmark; all borrowed.
struct BenchReport {
  std::string program, device;
  const lib::Call& call;
  const std::vector<padlock::Comparison>& comparisons;  // titled "warm" and "cold"; the copy is the baseline
  std::int64_t bytes = 0;                               // of inputs and results
  std::uint64_t seed = 0;
};

[[nodiscard]] std::string bench_text(const BenchReport& report);
[[nodiscard]] std::string bench_json(const BenchReport& report);

}  // namespace padlock::tools
