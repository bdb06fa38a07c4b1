#include "session/launch/program.h"

#include "ir/location.h"
#include "support/file.h"

namespace padlock::session {

Result<Program> Program::from_text(std::string_view text, std::string file) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  Program handle;
  handle.ir_ = std::make_shared<const ir::Program>(std::move(program));
  handle.binder_ = std::make_shared<const runtime::ArgumentBinder>(*handle.ir_);
  handle.text_ = std::make_shared<const std::string>(ir::without_byte_order_mark(text));
  handle.file_ = std::move(file);
  return handle;
}

Error Program::with_source_line(Error error) const {
  if (!error.where.known() || !error.where.source_line.empty()) return error;
  error.where = ir::span_at(*text_, {error.where.line, error.where.column});
  return error;
}

Result<Program> Program::load(const std::string& path) {
  PADLOCK_TRY(const std::string text, read_text_file(path, kMaxTextBytes));
  return from_text(text, path);
}

}  // namespace padlock::session
