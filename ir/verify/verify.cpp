#include "ir/verify/verifier.h"

namespace padlock::ir {

Result<Program> verify(const syntax::Program& syntax) {
  ErrorList errors;
  auto program = Verifier(syntax, errors).run();
  if (!program) return std::move(errors).take();
  return *std::move(program);
}

Result<Program> parse_program(std::string_view text) {
  ErrorList errors;
  const std::optional<syntax::Program> syntax = syntax::parse(text, errors);
  if (!syntax || errors.is_final()) return std::move(errors).take();
  auto program = Verifier(*syntax, errors).run();
  if (!program) return std::move(errors).take();
  return *std::move(program);
}

}  // namespace padlock::ir
