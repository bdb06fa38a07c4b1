#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace padlock::ptx {

/// Each operation on each type that it takes, each cast, and data movement of each type, with a program for each.
[[nodiscard]] std::vector<std::string> operation_programs();
/// The example programs.
[[nodiscard]] std::vector<std::string> example_programs();
/// All programs of the regressions: runs them, on the reference.
[[nodiscard]] std::vector<std::string> regression_programs();
[[nodiscard]] std::vector<std::string> random_programs(std::uint64_t seed, std::uint64_t count);

/// The program under another name.
[[nodiscard]] std::string renamed(const std::string& program, const std::string& name);

}  // namespace padlock::ptx
