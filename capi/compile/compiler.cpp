#include "capi/launch/compiler.h"

#include <fmt/format.h>

#include "capi/compile/compile_options.h"
#include "capi/options.h"
#include "session/compile/tuning_cache.h"

namespace padlock::capi {
namespace {

Result<tuner::Mode> mode_of(padlock_cache_mode mode) {
  switch (mode) {
    case PADLOCK_CACHE_OFF:
      return tuner::Mode::off;
    case PADLOCK_CACHE_READ:
      return tuner::Mode::read;
    case PADLOCK_CACHE_READ_WRITE:
      return tuner::Mode::read_write;
    case PADLOCK_CACHE_REQUIRE:
      return tuner::Mode::require;
    default:
      return invalid_argument(fmt::format("expected a PADLOCK_CACHE_ mode, found {}", mode));
  }
}

Result<tuner::Match> match_of(padlock_cache_match match) {
  if (match == PADLOCK_MATCH_STRICT) return tuner::Match::strict;
  if (match == PADLOCK_MATCH_LOOSE) return tuner::Match::loose;
  return invalid_argument(fmt::format("expected a PADLOCK_MATCH_, found {}", match));
}

}  // namespace

std::unique_ptr<session::LaunchContext> make_launching(const padlock_context_options& options,
                                                       const session::LaunchOptions& launch) {
  return std::make_unique<session::Context>(
      session::ContextOptions{.threads = launch.threads,
                              .parallel_for = launch.parallel_for,
                              .worker = std::string(text_or(options.worker, "")),
                              .assembler = std::string(text_or(options.assembler, "")),
                              .cuda_context = launch.cuda_context});
}

session::Context& compiler_of(const padlock_context& context) {
  return static_cast<session::Context&>(*context.launching);
}

std::int64_t configs_tried(const padlock_context& context) { return compiler_of(context).trial_count(); }

Result<session::SourceRequest> unplaced_request(const ir::Program& program, ir::BindRequest request) {
  std::vector<std::optional<session::TensorSource>> sources;
  for (std::optional<ir::ArgumentShape>& shape : request.tensors) {
    auto& source = sources.emplace_back();
    if (shape)
      source.emplace(session::TensorSource{.extents = std::move(shape->extents), .strides = std::move(shape->strides)});
  }
  return session::request_for(program, sources, request.symbols);
}

Status use_cache(padlock_context& context, const padlock_context_options& options) {
  PADLOCK_TRY(const tuner::Mode mode, mode_of(options.cache_mode));
  PADLOCK_TRY(const tuner::Match match, match_of(options.cache_match));
  if (mode == tuner::Mode::off) return {};
  if (options.cache_file != nullptr) {
    context.cache_file = options.cache_file;
  } else {
    PADLOCK_TRY(context.cache_file, tuner::default_cache_file());
  }
  return compiler_of(context).use_cache(
      {.mode = mode,
       .match = match,
       .user_file = context.cache_file,
       .warn = [log = context.log](const std::string& message) { log.write(PADLOCK_LOG_WARNING, message.c_str()); }});
}

}  // namespace padlock::capi
