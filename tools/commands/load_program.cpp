#include "tools/commands/load_program.h"

namespace padlock::tools {

Outcome<lib::Program> load_program(const lib::Context& context, const std::string& path) {
  auto program = context.load(path);
  if (program) return *std::move(program);
  // An error of the file system names the path itself.
  const bool is_text_error = program.error().line() > 0;
  return fail(ExitCode::file, program.error(), is_text_error ? path : std::string());
}

}  // namespace padlock::tools
