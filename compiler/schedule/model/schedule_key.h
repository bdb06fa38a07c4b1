#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/schedule.h"

// Keys that tell whether code is the same. A key is a list of numbers; keys of one program are compared, never kept.
namespace padlock::compiler {

using CodeKey = std::vector<std::uint64_t>;

/// Bodies of one schedule with equal keys are the same code.
[[nodiscard]] CodeKey key_of(const Body& body);

/// Schedules of one kernel with equal keys are the same code, whatever their configs. A vector width does not matter to
/// a body without vectors, nor a kind of store if no store goes past the caches.
[[nodiscard]] CodeKey key_of(const Schedule& schedule);

}  // namespace padlock::compiler
