#pragma once

#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/scalar.h"
#include "support/error.h"

namespace padlock::ir {

/// Parses a literal of language.md ("-1.5", "inf", "-inf", "nan", "true", "bits(0x7fc00001)", "9007199254740993") as a
/// value of `dtype`. A decimal is rounded once, to nearest even, straight to the type. An integer type takes integers
/// in its range; bool takes true, false, 0 or 1. Errors (invalid_argument) say what the type takes. A decimal that
/// rounds to infinity is refused, and so are bits of 2^width or more. Precondition: the text is trimmed.
[[nodiscard]] Result<Scalar> parse_literal(std::string_view text, DType dtype);

/// Prints the shortest text that parse_literal reads back to the same bits.
[[nodiscard]] std::string to_string(const Scalar& value);

}  // namespace padlock::ir
