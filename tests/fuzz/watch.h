#pragma once

#include <string>
#include <string_view>

// Ends the process if an input takes too much time or memory. The engine then shows the input, as for a broken
// property. libFuzzer has its own watch.
namespace padlock::fuzz {

/// Watches memory from now on: an allocation above 1 GiB ends the process, and so does an input whose allocations
/// exceed that together.
void watch_memory();

/// Runs the body on an input, under watch. `name` is the argument that repeats this input.
void run_watched(const std::string& input, std::string_view name);

}  // namespace padlock::fuzz
