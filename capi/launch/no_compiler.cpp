#include "capi/launch/compiler.h"

namespace padlock::capi {

std::unique_ptr<session::LaunchContext> make_launching(const padlock_context_options&,
                                                       const session::LaunchOptions& launch) {
  return std::make_unique<session::LaunchContext>(launch);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the same signature as in compiler.cpp
Result<session::SourceRequest> unplaced_request(const ir::Program&, ir::BindRequest) {
  return std::unexpected(
      Error{.code = Code::unimplemented,
            .blame = Blame::user,
            .message = "expected inputs that are laid out: this library, which has no compiler, does not do it"});
}

Status use_cache(padlock_context&, const padlock_context_options& options) {
  if (options.cache_mode == PADLOCK_CACHE_OFF) return {};
  return std::unexpected(
      Error{.code = Code::unimplemented,
            .blame = Blame::user,
            .message = "expected no cache: this library has no compiler, a pack brings its choices"});
}

std::int64_t configs_tried(const padlock_context&) { return 0; }

}  // namespace padlock::capi
