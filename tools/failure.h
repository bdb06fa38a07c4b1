#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "padlock/padlock.hpp"
#include "support/error.h"

namespace padlock::tools {

/// The library, which the command knows by its C++ interface alone: the one that any program has.
namespace lib = padlock::v1;

/// ExitCode is the command's exit status; the one list of them.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,        ///< an unknown or missing name, a value that is no number, a config outside the search space
  file = 3,         ///< cannot be read or written, or a program that does not parse or verify
  mismatch = 4,     ///< the inputs do not fit the program, or memory does not suffice
  differs = 5,      ///< --expect
  no_config = 6,    ///< tuning found none
  unavailable = 7,  ///< the device, or it was lost
  cache = 8,
  interrupted = 130,  ///< by SIGINT, SIGTERM or SIGHUP
};

/// One error of a failure.
struct FailureItem {
  std::string text;    ///< after "padlock: error: "; may have several lines
  std::string status;  ///< as padlock_status_name
  std::string message;
  std::string file = {};  ///< that the position is in, or empty
  int line = 0, column = 0;
  int axis = -1;
  std::string expression = {};
  std::vector<std::pair<std::string, std::int64_t>> values = {};
};

/// Why a command stops: its exit code and its errors, of which there is at least one.
struct Failure {
  ExitCode code = ExitCode::internal;
  std::vector<FailureItem> errors;
};
/// A failure of the command's own, whose status follows from the exit code.
[[nodiscard]] Failure failure_of(ExitCode code, std::string text);
/// The JSON of a failure, of the command of that name.
[[nodiscard]] std::string to_json(const Failure& failure, const std::string& command);

template <class T>
using Outcome = std::expected<T, Failure>;

/// Writes text to standard error. A standard error that is full or closed changes no exit code.
void say(const std::string& text);

[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, std::string text);
/// The error's own text, with position, source line and caret where it has them. `file` comes first if not empty. So of
/// the other errors of the same text.
/// An error that blames us exits with `internal`, and one of a lost device with `unavailable`, whatever `code` says.
[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, const lib::Error& error, const std::string& file = {});
/// The same for an error of a file that the command itself reads or writes.
[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file = {});
/// For errors of compiling: which code follows from the kind of error.
[[nodiscard]] std::unexpected<Failure> compile_failure(const lib::Error& error, const std::string& file);

/// The value, or a failure of that code.
template <class T>
[[nodiscard]] Outcome<T> or_fail(ExitCode code, lib::Expected<T> made, const std::string& file = {}) {
  if (!made) return fail(code, made.error(), file);
  if constexpr (!std::is_void_v<T>)
    return *std::move(made);
  else
    return {};
}
template <class T>
[[nodiscard]] Outcome<T> or_fail(ExitCode code, Result<T> made) {
  if (!made) return fail(code, made.error());
  if constexpr (!std::is_void_v<T>)
    return *std::move(made);
  else
    return {};
}
/// The value, or what compile_failure makes of the error.
template <class T>
[[nodiscard]] Outcome<T> or_compile_failure(lib::Expected<T> made, const std::string& file) {
  if (!made) return compile_failure(made.error(), file);
  return *std::move(made);
}

}  // namespace padlock::tools
