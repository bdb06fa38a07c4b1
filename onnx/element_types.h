#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/dtype.h"

namespace padlock::onnx {

/// Returns the element type of the format's number, if programs have it.
[[nodiscard]] std::optional<ir::DType> element_type(std::int64_t number);

/// Returns the format's name of a type, in lower case as models are printed: "float", "float8e4m3fn", "type 99".
[[nodiscard]] std::string name_of_type(std::int64_t number);

}  // namespace padlock::onnx
