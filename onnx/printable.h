#pragma once

#include <string>
#include <string_view>

namespace padlock::onnx {

/// Returns a text as UTF-8 on one line. Each control character, and each byte that is not UTF-8, becomes '?'. A model's
/// names may have any bytes.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace padlock::onnx
