#pragma once

#include <string>

#include "api/explain.h"

namespace padlock::api {

/// One documented object ("schema": 1, docs/cli.md), with a newline at its end.
[[nodiscard]] std::string to_json(const Explanation& e);

}  // namespace padlock::api
