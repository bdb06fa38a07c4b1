#include "tools/load_pack.h"

namespace padlock::tools {

Outcome<api::Pack> load_pack(const std::string& path) {
  auto pack = api::Pack::load(path);
  if (!pack) return fail(ExitCode::file, pack.error());
  return *std::move(pack);
}

std::unexpected<Failure> pack_failure(const Error& error, const std::string& file) {
  if (error.code == Code::unavailable) return fail(ExitCode::unavailable, error, file);
  if (error.code == Code::resource_exhausted) return fail(ExitCode::mismatch, error, file);
  return fail(ExitCode::file, error, file);
}

}  // namespace padlock::tools
