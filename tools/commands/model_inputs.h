#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/arrays/arguments.h"

namespace padlock::tools {

/// Replaces inputs that are given by a model's names by what its program takes: other names, and the elements of a
/// file, or a literal, that say sizes, as symbols. `interface` is padlock_onnx_import's. Failures: `file`; `mismatch`
/// for a file of other elements or of another number; `usage` for sizes that are no numbers.
[[nodiscard]] Outcome<void> take_model_inputs(std::string_view interface, std::vector<InputArgument>& inputs,
                                              std::map<std::string, std::int64_t>& symbols);

}  // namespace padlock::tools
