#include "onnx/program_text.h"

#include <fmt/format.h>

#include "ir/text/syntax.h"
#include "onnx/limits.h"
#include "support/limits.h"

namespace padlock::onnx {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns "layers_0_Pad_output_0" for "/layers/0/Pad_output_0".
std::string identifier_like(std::string_view wanted) {
  std::string name;
  for (const char c : wanted.substr(0, limits::kNameBytes)) {
    const bool fits = is_letter(c) || is_digit(c);
    if (fits || !name.empty()) name += fits ? c : '_';
  }
  if (name.empty() || is_digit(name[0])) name.insert(name.begin(), 'v');
  if (ir::syntax::is_reserved(name)) name += '_';
  return name;
}

}  // namespace

std::string ProgramText::take_name(std::string_view wanted) {
  const std::string stem = identifier_like(wanted);
  std::string name = stem;
  for (std::size_t number = 2; !names_.insert(name).second; number += number < 16 ? 1 : names_.size())
    name = fmt::format("{}_{}", stem, number);
  return name;
}

void ProgramText::add_parameter(const std::string& name, std::string_view type) {
  parameters_ += fmt::format("{}{}: {}", parameters_.empty() ? "" : ", ", name, type);
}

void ProgramText::add_statement(const std::string& name, std::string_view text, std::size_t node) {
  statements_ += fmt::format("  {} = {}\n", name, text);
  nodes_.push_back(node);
}

bool ProgramText::is_too_long() const { return parameters_.size() + statements_.size() > padlock::limits::kTextBytes; }

std::string ProgramText::print(std::string_view program) const {
  const std::string guards = guards_.empty() ? "" : fmt::format("where {}\n", fmt::join(guards_, ", "));
  return fmt::format("program {}({})\n{}{{\n{}  return {}\n}}\n", program, parameters_, guards, statements_,
                     fmt::join(results_, ", "));
}

std::size_t ProgramText::node_at(std::size_t line) const {
  const std::size_t first = guards_.empty() ? 3 : 4;
  return line >= first && line - first < nodes_.size() ? nodes_[line - first] : kNoNode;
}

}  // namespace padlock::onnx
