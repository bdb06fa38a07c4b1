#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "ir/program.h"
#include "support/error.h"

// Helpers with which most tests begin or end.
namespace padlock::testing {

/// Returns the value. The test fails with the error if there is none.
template <class T>
T value_of(Result<T> result) {
  if (!result) FAIL(result.error().to_string());
  return *std::move(result);
}

/// Returns the error's message. The test fails without an error, or for another code.
template <class T>
std::string refusal_of(const Result<T>& result, Code code = Code::invalid_argument) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == code);
  return result.error().message;
}

/// Returns the verified program.
inline ir::Program program_of(std::string_view text) { return value_of(ir::parse_program(text)); }

}  // namespace padlock::testing
