#pragma once

#include <cstdint>
#include <string>

#include "session/compile/tuning.h"

namespace padlock::session {

/// Each writes one documented object ("schema": 1, docs/cli.md) with a newline at its end. `program` is the program's
/// name, `cache` the file that keeps everything.
[[nodiscard]] std::string to_json(const std::string& program, const TunePlan& plan, std::uint64_t seed);
[[nodiscard]] std::string to_json(const std::string& program, const TuneReport& report, const std::string& cache,
                                  std::uint64_t seed);

}  // namespace padlock::session
