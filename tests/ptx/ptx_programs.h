#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace padlock::ptx {

/// Returns programs for each operation on each type that it takes, for each cast, and for data movement of each type.
[[nodiscard]] std::vector<std::string> operation_programs();
/// Returns the example programs.
[[nodiscard]] std::vector<std::string> example_programs();
/// Returns all programs of the regressions, which it runs on the reference.
[[nodiscard]] std::vector<std::string> regression_programs();
[[nodiscard]] std::vector<std::string> random_programs(std::uint64_t seed, std::uint64_t count);

/// Returns the program under another name.
[[nodiscard]] std::string renamed(const std::string& program, const std::string& name);

}  // namespace padlock::ptx
