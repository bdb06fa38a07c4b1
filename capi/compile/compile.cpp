#include <fmt/format.h>

#include <functional>

#include "capi/compile/compile_options.h"
#include "capi/error.h"
#include "capi/options.h"
#include "capi/text.h"
#include "support/stopwatch.h"

namespace padlock::capi {
namespace {

Result<padlock_kernel*> compile(padlock_context& context, const session::Program& program,
                                const session::CompileOptions& options) {
  const Stopwatch watch;
  PADLOCK_TRY(session::CompiledProgram compiled, compiler_of(context).compile(program, options));
  if (context.log.prints(PADLOCK_LOG_DEBUG))
    Log::print(PADLOCK_LOG_DEBUG, fmt::format("{} took {:.3f} ms to compile for target '{}'", program.ir().name(),
                                              watch.milliseconds(), compiled.target()));
  if (context.log.wanted(PADLOCK_LOG_INFO))
    context.log.write(PADLOCK_LOG_INFO, fmt::format("compiled {} for {}: config {} ({})", program.ir().name(),
                                                    options.device.to_string(), compiled.config(), compiled.reason())
                                            .c_str());
  return padlock_kernel::make(context, std::move(compiled));
}

}  // namespace

Result<session::CompileOptions> compile_options(const padlock_compile_options& options) {
  session::CompileOptions made;
  if (options.reserved != 0) return invalid_argument("expected padlock_compile_options's reserved to be 0");
  PADLOCK_TRY(made.device, runtime::DeviceId::parse(text_or(options.device, "host")));
  made.target = text_or(options.target, "host");
  made.config = text_or(options.config, "");
  made.bounds_check = options.bounds_check != 0;
  return made;
}

Result<padlock_kernel*> kernel_of(padlock_program& program, const padlock_compile_options& options) {
  padlock_context& context = *program.context;
  const KernelKey key{.text = program.text,
                      .device = text_or(options.device, "host"),
                      .target = text_or(options.target, "host"),
                      .config = text_or(options.config, ""),
                      .bounds_check = options.bounds_check != 0,
                      .learnt = text_or(options.config, "").empty() ? context.tunings.load() : 0};
  const auto make = [&]() -> Result<padlock_kernel*> {
    PADLOCK_TRY(const session::CompileOptions made, compile_options(options));
    return compile(context, program.program, made);
  };
  return context.kernels.find_or_compile(key, std::ref(make));  // by reference: a copy would allocate
}

}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Result;

extern "C" {

padlock_status padlock_program_compile(padlock_program* program, const padlock_compile_options* options,
                                       padlock_kernel** kernel, padlock_error** error) {
  return guarded_handle(program, "a program", kernel, error, [&]() -> Result<padlock_kernel*> {
    PADLOCK_TRY(const padlock_compile_options read, read_options(options, "padlock_compile_options"));
    return kernel_of(*program, read);
  });
}

padlock_status padlock_target_describe(padlock_context* context, const char* target, padlock_text** description,
                                       padlock_error** error) {
  return guarded_handle(context, "a context", description, error, [&]() -> Result<padlock_text*> {
    PADLOCK_CHECK(require(target, "a target"));
    PADLOCK_TRY(const std::string text, compiler_of(*context).describe_target(target));
    return make_text(context->allocator(), text);
  });
}

padlock_status padlock_worker_find(padlock_context* context, padlock_text** file, padlock_error** error) {
  return guarded_handle(context, "a context", file, error, [&]() -> Result<padlock_text*> {
    PADLOCK_TRY(const std::string found, compiler_of(*context).find_worker());
    return make_text(context->allocator(), found);
  });
}

}  // extern "C"
