#include "tools/failure.h"

#include <cstdio>

namespace padlock::tools {
namespace {

ExitCode code_for(ExitCode code, bool lost, bool internal) {
  if (internal) return ExitCode::internal;
  return lost ? ExitCode::unavailable : code;
}

std::string text_of(const lib::Error& error, const std::string& file) {
  if (file.empty()) return error.text();
  return file + (error.line() > 0 ? ":" : ": ") + error.text();
}

}  // namespace

void say(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stderr)); }

std::unexpected<Failure> fail(ExitCode code, std::string text) {
  return std::unexpected(Failure{code, std::move(text)});
}

std::unexpected<Failure> fail(ExitCode code, const lib::Error& error, const std::string& file) {
  const bool lost = error.status() == PADLOCK_ABORTED, internal = error.blame() == PADLOCK_BLAME_LIBRARY;
  return fail(code_for(code, lost, internal), text_of(error, file));
}

std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file) {
  return fail(code_for(code, error.code == Code::aborted, error.blame == Blame::internal), error.to_string(file));
}

std::unexpected<Failure> compile_failure(const lib::Error& error, const std::string& file) {
  switch (error.status()) {
    case PADLOCK_INVALID_ARGUMENT:
      return fail(ExitCode::usage, error);
    case PADLOCK_UNAVAILABLE:
      return fail(ExitCode::unavailable, error);
    case PADLOCK_FAILED_PRECONDITION:
      return fail(ExitCode::mismatch, error, file);
    case PADLOCK_NOT_FOUND:
      return fail(ExitCode::cache, error);  // a miss, where the cache was required
    case PADLOCK_RESOURCE_EXHAUSTED:
      // Blame tells memory that does not suffice (for loading the code) from a program beyond the limits.
      return error.blame() == PADLOCK_BLAME_ENVIRONMENT ? fail(ExitCode::mismatch, error)
                                                        : fail(ExitCode::file, error, file);
    default:
      return fail(ExitCode::internal, error, file);
  }
}

}  // namespace padlock::tools
