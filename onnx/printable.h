#pragma once

#include <string>
#include <string_view>

namespace padlock::onnx {

/// Returns a text as UTF-8 on one line: '?' for each control character, and for each byte that is no part of UTF-8. The
/// bytes of a model's names may be any.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace padlock::onnx
