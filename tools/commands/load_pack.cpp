#include "tools/commands/load_pack.h"

namespace padlock::tools {

Outcome<lib::Pack> load_pack(const lib::Context& context, const std::string& path) {
  return or_fail(ExitCode::file, context.load_pack(path));
}

std::unexpected<Failure> pack_failure(const lib::Error& error, const std::string& file) {
  if (error.status() == PADLOCK_UNAVAILABLE) return fail(ExitCode::unavailable, error, file);
  if (error.status() == PADLOCK_RESOURCE_EXHAUSTED) return fail(ExitCode::mismatch, error, file);
  return fail(ExitCode::file, error, file);
}

}  // namespace padlock::tools
