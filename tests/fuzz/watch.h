#pragma once

#include <string>
#include <string_view>

// Ends a process that takes too long for an input, or too much memory. Either engine shows the input then, as where a
// property does not hold. libFuzzer has such a watch of its own.
namespace padlock::fuzz {

/// Watches memory from now on: an allocation past 1 GiB ends the process, and so does an input that takes more in
/// parts.
void watch_memory();

/// Runs the body on an input, under watch. `name`: what brings this input back.
void run_watched(const std::string& input, std::string_view name);

}  // namespace padlock::fuzz
