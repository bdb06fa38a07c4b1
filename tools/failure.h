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

/// The library, which the command knows by its C++ interface alone: the one that any program has.
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
/// The one list of exit codes, as help and the manual show it.
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
  bool has_report = false;  ///< the command's own JSON has been written, and says it
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
