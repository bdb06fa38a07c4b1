#include "ir/verify/verify_operands.h"

#include "ir/text/foreign.h"
#include "ir/text/literal.h"

#include <fmt/format.h>

namespace padlock::ir {
namespace {

/// The value of that name, a tensor or a scalar.
Result<ValueId> named_operand(const Verifier& verifier, const syntax::Argument& argument, std::string_view expected) {
  const auto& name = std::get<std::string>(argument.value);
  if (const auto id = verifier.find(name)) return *id;
  const Diagnostics& diagnostics = verifier.diagnostics();
  if (diagnostics.is_excused(name)) return ErrorList::consequence();
  if (verifier.is_later_statement(name))
    return diagnostics.error(argument.where,
                             fmt::format("expected {}, found '{}' before its statement", expected, name));
  if (dtype_from_name(name))
    return diagnostics.error(argument.where, fmt::format("expected {}, found the type '{}'", expected, name));
  if (verifier.names().kind_of(name) == NameTable::Kind::unknown) {
    const std::string foreign = foreign_hint(Vocabulary::value, name);
    return diagnostics.unknown_name(name, argument.where,
                                    fmt::format("expected {}, found the unknown name '{}'{}", expected, name,
                                                foreign.empty() ? verifier.value_hint(name) : foreign));
  }
  return diagnostics.error(argument.where,
                           fmt::format("expected {}, found {}", expected, verifier.names().describe(name)));
}

}  // namespace

Result<ValueId> tensor_operand(const Verifier& verifier, const syntax::Argument& argument) {
  if (const auto* literal = std::get_if<syntax::Literal>(&argument.value))
    return verifier.diagnostics().error(argument.where,
                                        fmt::format("expected a tensor, found the literal '{}'", literal->text));
  PADLOCK_TRY(const ValueId id, named_operand(verifier, argument, "a tensor"));
  const Value& value = verifier.value(id);
  if (value.kind == ValueKind::scalar_parameter)
    return verifier.diagnostics().error(argument.where,
                                        fmt::format("expected a tensor, found the scalar '{}'", value.name));
  return id;
}

Status check_argument_names(const Verifier& verifier, const syntax::Statement& statement) {
  const DimBuilder builder(verifier.exprs(), verifier.names(), verifier.diagnostics());
  Status every;
  for (const syntax::Argument& argument : statement.arguments) {
    if (verifier.diagnostics().errors().is_final()) break;
    if (const auto* dims = std::get_if<std::vector<syntax::Dim>>(&argument.value))
      for (const syntax::Dim& dim : *dims) verifier.diagnostics().collect(every, builder.check_names(dim));
    const auto* name = std::get_if<std::string>(&argument.value);
    if (name != nullptr && argument.keyword.empty() && !dtype_from_name(*name))
      verifier.diagnostics().collect(every, value_operand(verifier, argument));
  }
  return every;
}

Result<Operand> literal_operand(const Verifier& verifier, const syntax::Argument& argument, DType dtype) {
  const auto& literal = std::get<syntax::Literal>(argument.value);
  if (literal.dtype && *literal.dtype != dtype)
    return verifier.diagnostics().error(
        argument.where,
        fmt::format("expected the type {}, found '{}({})'", name_of(dtype), name_of(*literal.dtype), literal.text));
  auto scalar = parse_literal(literal.text, dtype);
  if (!scalar) return verifier.diagnostics().error(argument.where, std::move(scalar).error().message);
  return Operand(*scalar);
}

Result<Operand> scalar_operand(const Verifier& verifier, const syntax::Argument& argument, DType dtype) {
  if (std::holds_alternative<syntax::Literal>(argument.value)) return literal_operand(verifier, argument, dtype);
  PADLOCK_TRY(const ValueId id, named_operand(verifier, argument, "a literal or a scalar parameter"));
  const Value& value = verifier.value(id);
  if (value.kind != ValueKind::scalar_parameter)
    return verifier.diagnostics().error(
        argument.where, fmt::format("expected a literal or a scalar parameter, found the tensor '{}'", value.name));
  if (value.dtype != dtype)
    return verifier.diagnostics().error(argument.where, fmt::format("expected the type {}, found '{}' of type {}",
                                                                    name_of(dtype), value.name, name_of(value.dtype)));
  return Operand(id);
}

Result<ValueId> value_operand(const Verifier& verifier, const syntax::Argument& argument) {
  return named_operand(verifier, argument, "a value or a literal");
}

Result<DType> read_type(const Verifier& verifier, const syntax::Argument& argument, std::string_view operation,
                        std::string_view position) {
  const auto* name = std::get_if<std::string>(&argument.value);
  if (const auto dtype = name != nullptr ? dtype_from_name(*name) : std::nullopt) return *dtype;
  const std::string found =
      name != nullptr ? fmt::format(", found '{}'{}", *name, spelling_hint(Vocabulary::type, *name)) : std::string();
  return verifier.diagnostics().error(
      argument.where, fmt::format("expected a type as the {} operand of '{}'{}", position, operation, found));
}

Result<Value> make_result(Verifier& verifier, const syntax::Statement& statement, Op op, DType dtype,
                          std::vector<Expr> extents) {
  PADLOCK_CHECK(verifier.check_extents(statement, extents));
  Value value;
  value.name = statement.name;
  value.dtype = dtype;
  value.layout = Layout::dense(verifier.exprs(), std::move(extents));
  value.op = op;
  value.where = statement.where;
  return value;
}

Status require_equal_extents(Verifier& verifier, const NamedExtent& a, const NamedExtent& b, std::size_t axis,
                             Location where) {
  return verifier.require({.kind = Requirement::Kind::statement,
                           .constraint = {a.extent, Comparison::eq, b.extent},
                           .what = fmt::format("extents of '{}' and '{}' on axis {}", a.name, b.name, axis),
                           .where = where});
}

}  // namespace padlock::ir
