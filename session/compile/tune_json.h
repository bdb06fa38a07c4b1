#pragma once

#include <cstdint>
#include <string>

#include "session/compile/tuning.h"

namespace padlock::session {

/// One documented object each ("schema": 1, docs/cli.md), with a newline at its end. `program` is its name, `cache` the
/// file in which everything is kept.
[[nodiscard]] std::string to_json(const std::string& program, const TunePlan& plan, std::uint64_t seed);
[[nodiscard]] std::string to_json(const std::string& program, const TuneReport& report, const std::string& cache,
                                  std::uint64_t seed);

}  // namespace padlock::session
