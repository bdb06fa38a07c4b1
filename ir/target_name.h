#pragma once

#include <string_view>

namespace padlock::ir {

/// Says whether a target ("host", "host:x86-64-v3", "sm_90") is a GPU.
[[nodiscard]] inline bool is_gpu(std::string_view target) { return target.starts_with("sm_"); }

}  // namespace padlock::ir
