#include "ir/verify/verify_symbols.h"

#include <ranges>

#include <fmt/format.h>

#include "ir/program.h"
#include "support/limits.h"
#include "support/messages/suggestion.h"

namespace padlock::ir {
namespace {

std::string_view noun_of(NameTable::Kind kind) {
  switch (kind) {
    case NameTable::Kind::tensor:
      return "tensor";
    case NameTable::Kind::scalar:
      return "scalar";
    case NameTable::Kind::symbol:
      return "symbol";
    case NameTable::Kind::statement:
      return "statement";
    case NameTable::Kind::unknown:
      break;
  }
  return "unknown name";
}

}  // namespace

Diagnostics::Diagnostics(const syntax::Program& program, ErrorList& errors)
    : program_(&program),
      errors_(&errors),
      excused_(program.unread_names.begin(), program.unread_names.end()),
      are_constraints_in_doubt_(program.has_unread_constraints) {}

std::unexpected<Error> Diagnostics::unknown_name(const std::string& name, Location where, std::string message) const {
  if (!excused_.insert(name).second) return ErrorList::consequence();
  return error(where, std::move(message));
}

std::unexpected<Error> Diagnostics::not_shown(Location where, std::string message) const {
  if (are_constraints_in_doubt_) return ErrorList::consequence();
  return error(where, std::move(message));
}

// The line is searched in the text, which is not worth its cost once the list is full.
std::unexpected<Error> Diagnostics::error(Location where, std::string message) const {
  if (errors_->is_final()) return ErrorList::consequence();
  return std::unexpected(make(where, std::move(message)));
}

Error Diagnostics::make(Location where, std::string message) const {
  if (where.line == 0 && !statement_.empty()) message = fmt::format("statement '{}': {}", statement_, message);
  return invalid_argument(std::move(message), span_at(program_->source, where)).error();
}

std::unexpected<Error> Diagnostics::too_large(Location where, std::string message) const {
  Error error = make(where, std::move(message));
  error.code = Code::resource_exhausted;
  return std::unexpected(std::move(error));
}

Status Diagnostics::check_steps(Location where) const {
  if (!steps_.is_used_up()) return {};
  return too_large(where,
                   fmt::format("expected a program that is verified within {} steps, found more{}", steps_.limit(),
                               statement_.empty() ? "" : fmt::format(" up to statement '{}'", statement_)));
}

Result<NameTable> NameTable::make(const syntax::Program& program, const Diagnostics& diagnostics) {
  using syntax::Parameter;
  NameTable table;
  for (const Parameter& parameter : program.parameters) {
    const Kind kind = parameter.kind == Parameter::Kind::tensor   ? Kind::tensor
                      : parameter.kind == Parameter::Kind::scalar ? Kind::scalar
                                                                  : Kind::symbol;
    diagnostics.errors().note(table.declare(parameter.name, kind, parameter.where, diagnostics));
  }
  // Names that cannot be symbols are known only now. Indices follow the order of the text.
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind == Parameter::Kind::dim) table.symbol(parameter.name, parameter.where).is_dim = true;
    if (parameter.kind != Parameter::Kind::tensor) continue;
    table.declare_symbols(parameter.extents, false, diagnostics);
    if (parameter.strides) table.declare_symbols(*parameter.strides, true, diagnostics);
  }
  if (table.symbols_.size() > limits::kSymbols)
    return diagnostics.too_large(table.symbols_.back().where,
                                 fmt::format("expected at most {} symbols", limits::kSymbols));
  return table;
}

NameTable::Kind NameTable::kind_of(const std::string& name) const {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? Kind::unknown : found->second;
}

std::string NameTable::describe(const std::string& name) const {
  return fmt::format("the {} '{}'", noun_of(kind_of(name)), name);
}

Status NameTable::add_statement(const std::string& name, Location where, const Diagnostics& diagnostics) {
  return declare(name, Kind::statement, where, diagnostics);
}

Status NameTable::declare(const std::string& name, Kind kind, Location where, const Diagnostics& diagnostics) {
  if (!syntax::is_identifier(name))
    return diagnostics.error(where, fmt::format("expected a name that is not reserved, found '{}'", name));
  if (!kinds_.emplace(name, kind).second)
    return diagnostics.error(where, fmt::format("expected a new name, found {} again", describe(name)));
  return {};
}

std::string NameTable::symbol_hint(std::string_view name) const {
  return did_you_mean(name, symbols_ | std::views::transform(&SymbolInfo::name));
}

void NameTable::declare_symbols(const std::vector<syntax::Dim>& dims, bool strides, const Diagnostics& diagnostics) {
  for (const syntax::Dim& dim : dims) {
    const std::string* name = dim.lone_name();
    if (name == nullptr) continue;
    const Kind kind = kind_of(*name);
    // A name that cannot be a symbol is reported when the extent is built.
    if (kind == Kind::unknown && !diagnostics.errors().note(declare(*name, Kind::symbol, dim.where(), diagnostics))) {
      diagnostics.excuse(*name);
      continue;
    }
    if (kind == Kind::tensor || kind == Kind::scalar) continue;
    SymbolInfo& info = symbol(*name, dim.where());
    (strides ? info.is_stride : info.is_extent) = true;
  }
}

SymbolInfo& NameTable::symbol(const std::string& name, Location where) {
  const auto [entry, is_new] = indices_.emplace(name, static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) symbols_.push_back({.name = name, .where = where});
  return symbols_[entry->second];
}

}  // namespace padlock::ir
