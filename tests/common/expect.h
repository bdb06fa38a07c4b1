#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "ir/program.h"
#include "support/error.h"

// What most tests begin or end with.
namespace padlock::testing {

/// The value; the test fails with the error where there is none.
template <class T>
T value_of(Result<T> result) {
  if (!result) FAIL(result.error().to_string());
  return *std::move(result);
}

/// The message of the error, which has that code; the test fails where there is none.
template <class T>
std::string refusal_of(const Result<T>& result, Code code = Code::invalid_argument) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == code);
  return result.error().message;
}

/// The program that is verified.
inline ir::Program program_of(std::string_view text) { return value_of(ir::parse_program(text)); }

}  // namespace padlock::testing
