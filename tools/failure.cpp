#include "tools/failure.h"

namespace padlock::tools {

std::unexpected<Failure> fail(ExitCode code, std::string text) {
  return std::unexpected(Failure{code, std::move(text)});
}

std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file) {
  if (is_device_lost(error)) code = ExitCode::unavailable;
  return fail(error.blame == Blame::internal ? ExitCode::internal : code, error.to_string(file));
}

std::unexpected<Failure> compile_failure(const Error& error, const std::string& file) {
  switch (error.code) {
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
      return error.blame == Blame::environment ? fail(ExitCode::mismatch, error) : fail(ExitCode::file, error, file);
    default:
      return fail(ExitCode::internal, error, file);
  }
}

}  // namespace padlock::tools
