#include "api/program.h"

#include "support/file.h"

namespace padlock::api {

Result<Program> Program::from_text(std::string_view text, std::string file) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  return Program(std::make_shared<const ir::Program>(std::move(program)), std::move(file));
}

Result<Program> Program::load(const std::string& path) {
  PADLOCK_TRY(const std::string text, read_text_file(path, kMaxTextBytes));
  return from_text(text, path);
}

}  // namespace padlock::api
