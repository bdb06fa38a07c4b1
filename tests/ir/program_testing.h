#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "ir/program.h"

// Helpers for tests of programs as text.
namespace padlock::ir::testing {

/// Parses and verifies a program. The test fails if that fails.
inline Program accept(std::string_view text) {
  auto program = parse_program(text);
  INFO(text.substr(0, 1000));
  REQUIRE_MESSAGE(program.has_value(), (program ? std::string() : program.error().to_string()));
  return *std::move(program);
}

/// Prints "LINE:COL: message".
inline std::string brief_text(const Error& error) {
  return std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + ": " + error.message;
}

/// Checks that a text is refused with exactly these errors: the code, and "LINE:COL: message" of each, one a line.
inline void check_refused(std::string_view text, std::string_view expected, Code code = Code::invalid_argument) {
  const auto program = parse_program(text);
  INFO(text.substr(0, 1000));
  REQUIRE_FALSE(program.has_value());
  std::vector<Error> errors = program.error().others;
  errors.insert(errors.begin(), program.error());
  std::string found;
  for (const Error& error : errors) {
    CHECK(error.code == code);
    CHECK(error.blame == Blame::user);
    found += (found.empty() ? "" : "\n") + brief_text(error);
  }
  CHECK(found == expected);
}

/// Returns the requirements of a kind as "what: constraint", one a line.
inline std::string requirements_of(const Program& program, Requirement::Kind kind) {
  std::string text;
  for (const Requirement& r : program.requirements())
    if (r.kind == kind) text += r.what + ": " + to_string(program.exprs(), r.constraint) + "\n";
  return text;
}

}  // namespace padlock::ir::testing
