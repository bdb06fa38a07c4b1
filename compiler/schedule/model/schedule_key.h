#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/schedule.h"

// Which code is the same code. A key is a list of numbers; keys of one program are compared, never kept.
namespace padlock::compiler {

using CodeKey = std::vector<std::uint64_t>;

/// Two bodies of one schedule with one key are the same code.
[[nodiscard]] CodeKey key_of(const Body& body);

/// Two schedules of one kernel with one key are the same code, whatever their configs say: a config's vector width is
/// nothing to a body that has no vectors, nor its kind of store where no store goes past the caches.
[[nodiscard]] CodeKey key_of(const Schedule& schedule);

}  // namespace padlock::compiler
