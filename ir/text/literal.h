#pragma once

#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/scalar.h"
#include "support/error.h"

namespace padlock::ir {

/// Reads a literal of language.md ("-1.5", "inf", "-inf", "nan", "true", "bits(0x7fc00001)", "9007199254740993") as
/// a value of `dtype`. Decimals are rounded once, to nearest even, straight to the type. Errors (invalid_argument)
/// say what the type takes: an integer type integers in its range, bool true, false, 0 or 1; a decimal that rounds
/// to infinity and bits of 2^width or more are refused. The text is trimmed by the caller.
[[nodiscard]] Result<Scalar> parse_literal(std::string_view text, DType dtype);

/// Prints the shortest text that parse_literal reads back to the same bits.
[[nodiscard]] std::string to_string(const Scalar& value);

}  // namespace padlock::ir
