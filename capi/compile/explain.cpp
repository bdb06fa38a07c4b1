#include <optional>

#include "capi/compile/compile_options.h"
#include "capi/error.h"
#include "capi/launch/call.h"
#include "capi/options.h"
#include "capi/text.h"
#include "session/compile/explain.h"

namespace padlock::capi {
namespace {

Result<padlock_text*> explain(padlock_program& program, const padlock_compile_options* given,
                              const padlock_bind_options* bind) {
  PADLOCK_TRY(const padlock_compile_options read, read_options(given, "padlock_compile_options"));
  PADLOCK_TRY(const session::CompileOptions options, compile_options(read));
  std::optional<ir::BindRequest> request;
  if (bind != nullptr) {
    PADLOCK_TRY(const padlock_bind_options sizes, read_options(bind, "padlock_bind_options"));
    PADLOCK_TRY(request, bind_request(program.program.ir(), sizes, {}));
  }
  PADLOCK_TRY(const std::string json,
              session::explain(compiler_of(*program.context), program.program, options, request));
  return make_text(program.allocator(), json);
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

padlock_status padlock_program_explain(padlock_program* program, const padlock_compile_options* options,
                                       const padlock_bind_options* bind, padlock_text** json, padlock_error** error) {
  return guarded_handle(program, "a program", json, error, [&] { return explain(*program, options, bind); });
}

}  // extern "C"
