#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "padlock/padlock.hpp"
#include "support/error.h"

namespace padlock::tools {

/// The library by its C++ interface, as every embedding program uses it.
namespace lib = padlock::v1;

/// ExitCode is the command's exit status; kExitMeanings says what each means.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  file = 3,
  mismatch = 4,
  differs = 5,
  no_config = 6,
  unavailable = 7,
  cache = 8,
  interrupted = 130,
};

struct ExitMeaning {
  ExitCode code;
  std::string_view text;
};
/// The one list of exit codes; help and the manual print it.
inline constexpr auto kExitMeanings = std::to_array<ExitMeaning>({
    {ExitCode::ok, "all went well"},
    {ExitCode::internal, "an error in Padlock itself"},
    {ExitCode::usage, "the command line: an unknown name, a wrong value, an impossible config"},
    {ExitCode::file, "a file cannot be read or written, or a program does not parse or verify"},
    {ExitCode::mismatch, "the inputs do not fit the program, memory is short, or a proof is refuted"},
    {ExitCode::differs, "a result differs from what --expect names"},
    {ExitCode::no_config, "tuning found no sizes, or no config that is right"},
    {ExitCode::unavailable, "the device or target is not available, or the device was lost"},
    {ExitCode::cache, "a cache cannot be used, or a required one has nothing"},
    {ExitCode::interrupted, "interrupted by SIGINT, SIGTERM or SIGHUP"},
});
inline constexpr std::string_view kDocumentation =
    "share/doc/padlock/docs/cli.md below the folder where Padlock is installed; docs/cli.md in its sources";

/// One error of a failure.
struct FailureItem {
  std::string text;    ///< after "padlock: error: "; may have several lines
  std::string status;  ///< as padlock_status_name
  std::string message;
  std::string file = {};  ///< for the position, or empty
  int line = 0, column = 0;
  int axis = -1;
  std::string expression = {};
  std::vector<std::pair<std::string, std::int64_t>> values = {};
};

/// The reason why a command stops: an exit code and at least one error.
struct Failure {
  ExitCode code = ExitCode::internal;
  std::vector<FailureItem> errors;
  bool has_report = false;  ///< the command's JSON is already written and includes the failure
};
/// Makes a failure of the command itself; the exit code decides the status.
[[nodiscard]] Failure failure_of(ExitCode code, std::string text);
/// Returns the JSON of a failure of the command of that name.
[[nodiscard]] std::string to_json(const Failure& failure, const std::string& command);

template <class T>
using Outcome = std::expected<T, Failure>;

/// Writes text to standard error. If that fails, no exit code changes.
void say(const std::string& text);

[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, std::string text);
/// Makes a failure from the error's text, with position, source line and caret if it has them, and from the other
/// errors of the same text. `file` comes first if not empty.
/// An error that blames the library exits with `internal`, one of a lost device with `unavailable`, whatever `code`
/// says.
[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, const lib::Error& error, const std::string& file = {});
/// As above, for an error of a file that the command itself reads or writes.
[[nodiscard]] std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file = {});
/// Makes a failure from an error of compiling. The kind of error decides the exit code.
[[nodiscard]] std::unexpected<Failure> compile_failure(const lib::Error& error, const std::string& file);

/// Returns the value, or a failure with that code.
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
/// Returns the value, or compile_failure of the error.
template <class T>
[[nodiscard]] Outcome<T> or_compile_failure(lib::Expected<T> made, const std::string& file) {
  if (!made) return compile_failure(made.error(), file);
  return *std::move(made);
}

}  // namespace padlock::tools
