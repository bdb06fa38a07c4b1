#include "tools/emit_program.h"

namespace padlock::tools {

Outcome<api::Program> load_inside_program(const std::string& path) {
  auto program = api::Program::load(path);
  if (program) return *std::move(program);
  // An error of the file system names the path itself.
  const bool is_text_error = program.error().where.known();
  return fail(ExitCode::file, program.error(), is_text_error ? path : std::string());
}

}  // namespace padlock::tools
