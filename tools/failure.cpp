#include "tools/failure.h"

namespace padlock::tools {
namespace {

Code code_of(const Error& error) { return error.code; }
Code code_of(const lib::Error& error) { return static_cast<Code>(error.status() - 1); }  // Code has no OK

Blame blame_of(const Error& error) { return error.blame; }
Blame blame_of(const lib::Error& error) { return static_cast<Blame>(error.blame()); }

std::string text_of(const Error& error, const std::string& file) { return error.to_string(file); }
std::string text_of(const lib::Error& error, const std::string& file) {
  if (file.empty()) return error.text();
  return file + (error.line() > 0 ? ":" : ": ") + error.text();
}

template <class E>
std::unexpected<Failure> fail_for(ExitCode code, const E& error, const std::string& file) {
  if (code_of(error) == Code::aborted) code = ExitCode::unavailable;
  return fail(blame_of(error) == Blame::internal ? ExitCode::internal : code, text_of(error, file));
}

template <class E>
std::unexpected<Failure> compile_failure_for(const E& error, const std::string& file) {
  switch (code_of(error)) {
    case Code::invalid_argument:
      return fail(ExitCode::usage, error);
    case Code::unavailable:
      return fail(ExitCode::unavailable, error);
    case Code::failed_precondition:
      return fail(ExitCode::mismatch, error, file);
    case Code::not_found:
      return fail(ExitCode::cache, error);  // a miss, where the cache was required
    case Code::resource_exhausted:
      // Blame tells memory that does not suffice (for loading the code) from a program beyond the limits.
      return blame_of(error) == Blame::environment ? fail(ExitCode::mismatch, error)
                                                   : fail(ExitCode::file, error, file);
    default:
      return fail(ExitCode::internal, error, file);
  }
}

}  // namespace

std::unexpected<Failure> fail(ExitCode code, std::string text) {
  return std::unexpected(Failure{code, std::move(text)});
}

std::unexpected<Failure> fail(ExitCode code, const lib::Error& error, const std::string& file) {
  return fail_for(code, error, file);
}
std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file) {
  return fail_for(code, error, file);
}

std::unexpected<Failure> compile_failure(const lib::Error& error, const std::string& file) {
  return compile_failure_for(error, file);
}
std::unexpected<Failure> compile_failure(const Error& error, const std::string& file) {
  return compile_failure_for(error, file);
}

}  // namespace padlock::tools
