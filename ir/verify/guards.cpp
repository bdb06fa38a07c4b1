#include "ir/verify/guards.h"

#include "ir/text/parse_dim.h"
#include "ir/verify/verify_dims.h"
#include "ir/verify/verify_symbols.h"

namespace padlock::ir {
namespace {

/// Declares the names that the text may use: every symbol of the program and nothing else.
syntax::Program names_of(const Program& program, std::string_view text) {
  syntax::Program names;
  names.source = std::string(text);
  const ExprContext& exprs = program.exprs();
  for (std::uint32_t i = 0; i < exprs.symbol_count(); ++i) {
    if (exprs.symbol(i).kind == SymbolKind::coordinate) continue;
    names.parameters.push_back({.kind = syntax::Parameter::Kind::dim,
                                .name = exprs.symbol(i).name,
                                .extents = {},
                                .strides = {},
                                .where = {}});
  }
  return names;
}

Result<std::vector<syntax::Constraint>> parse(std::string_view text) {
  syntax::TokenCursor cursor(text);
  std::vector<syntax::Constraint> constraints;
  if (cursor.peek().kind == syntax::TokenKind::end) return constraints;
  PADLOCK_CHECK(syntax::parse_constraints(cursor, constraints));
  if (cursor.peek().kind != syntax::TokenKind::end) return cursor.unexpected("',' or the end of the guards");
  return constraints;
}

}  // namespace

Result<std::vector<Constraint>> parse_guards(const Program& program, std::string_view text) {
  PADLOCK_TRY(const std::vector<syntax::Constraint> parsed, parse(text));
  const syntax::Program source = names_of(program, text);
  ErrorList errors;
  const Diagnostics diagnostics(source, errors);
  PADLOCK_TRY(const NameTable names, NameTable::make(source, diagnostics));
  const DimBuilder builder(program.exprs(), names, diagnostics);
  const auto positive = [&program](Expr e) { return program.facts().proves_positive(e); };
  std::vector<Constraint> guards;
  for (const syntax::Constraint& constraint : parsed) {
    const auto lhs = builder.build(constraint.lhs, positive), rhs = builder.build(constraint.rhs, positive);
    if (diagnostics.all(lhs, rhs)) guards.push_back({*lhs, constraint.comparison, *rhs});
  }
  if (!errors.is_empty()) return std::move(errors).take();
  return guards;
}

}  // namespace padlock::ir
