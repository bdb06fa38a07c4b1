#pragma once

#include <string>

#include "session/compile/explain.h"

namespace padlock::session {

/// One documented object ("schema": 1, docs/cli.md), with a newline at its end.
[[nodiscard]] std::string to_json(const Explanation& e);

}  // namespace padlock::session
