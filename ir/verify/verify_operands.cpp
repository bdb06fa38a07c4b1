#include "ir/verify/verify_operands.h"

#include <algorithm>
#include <optional>

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

/// Returns whether a size is only the name of a tensor or a scalar.
bool names_value(const Verifier& verifier, const syntax::Dim& size) {
  const std::string* name = size.lone_name();
  const NameTable::Kind kind = name != nullptr ? verifier.names().kind_of(*name) : NameTable::Kind::symbol;
  return kind != NameTable::Kind::symbol && kind != NameTable::Kind::unknown;
}

}  // namespace

Result<ValueId> tensor_operand(const Verifier& verifier, const syntax::Argument& argument) {
  if (const auto* literal = std::get_if<syntax::Literal>(&argument.value))
    return verifier.diagnostics().error(argument.where,
                                        fmt::format("expected a tensor, found the literal '{}'", literal->text));
  if (const auto* size = std::get_if<syntax::SizeOperand>(&argument.value))
    return verifier.diagnostics().error(
        argument.where, fmt::format("expected a tensor, found a size of type {}", name_of(size->dtype)));
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
    const auto* size = std::get_if<syntax::SizeOperand>(&argument.value);
    if (size != nullptr && !names_value(verifier, size->size))
      verifier.diagnostics().collect(every, builder.check_names(size->size));
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

Result<Operand> size_operand(Verifier& verifier, const syntax::Argument& argument) {
  const auto& [dtype, size] = std::get<syntax::SizeOperand>(argument.value);
  if (names_value(verifier, size))
    return verifier.diagnostics().error(
        argument.where, fmt::format("expected a literal or a size in '{0}( )', found {1}; write 'cast({2}, {0})'",
                                    name_of(dtype), verifier.names().describe(*size.lone_name()), *size.lone_name()));
  PADLOCK_TRY(const Expr e, verifier.dim(size));
  PADLOCK_TRY(const ValueId id, verifier.size_value(dtype, e, argument.where));
  return Operand(id);
}

Result<Operand> scalar_operand(Verifier& verifier, const syntax::Argument& argument, DType dtype) {
  if (std::holds_alternative<syntax::Literal>(argument.value)) return literal_operand(verifier, argument, dtype);
  if (const auto* size = std::get_if<syntax::SizeOperand>(&argument.value)) {
    if (size->dtype != dtype)
      return verifier.diagnostics().error(argument.where, fmt::format("expected the type {}, found a size of type {}",
                                                                      name_of(dtype), name_of(size->dtype)));
    return size_operand(verifier, argument);
  }
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

namespace {

Result<Expr> broadcast_axis(Verifier& verifier, std::span<const Operand> operands, std::span<const Location> wheres,
                            int axis, int rank) {
  std::optional<NamedExtent> first;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto* id = std::get_if<ValueId>(&operands[i]);
    if (id == nullptr) continue;
    const Value& value = verifier.value(*id);
    const int own_axis = axis - (rank - value.rank());
    if (own_axis < 0) continue;
    const Expr extent = value.extents()[static_cast<std::size_t>(own_axis)];
    if (extent.is_constant(1)) continue;
    if (!first) {
      first = {value.name, extent};
      continue;
    }
    PADLOCK_CHECK(
        require_equal_extents(verifier, *first, {value.name, extent}, static_cast<std::size_t>(axis), wheres[i]));
    // Equal for every binding, so a constant stands for both.
    if (extent.is_constant()) first->extent = extent;
  }
  return first ? first->extent : verifier.exprs().constant(1);
}

}  // namespace

Result<std::vector<Expr>> broadcast_extents(Verifier& verifier, std::span<const Operand> operands,
                                            std::span<const Location> wheres) {
  int rank = 0;
  for (const Operand& operand : operands)
    if (const auto* id = std::get_if<ValueId>(&operand)) rank = std::max(rank, verifier.value(*id).rank());
  std::vector<Expr> extents;
  for (int axis = 0; axis < rank; ++axis) {
    PADLOCK_TRY(const Expr extent, broadcast_axis(verifier, operands, wheres, axis, rank));
    extents.push_back(extent);
  }
  return extents;
}

Status require_equal_extents(Verifier& verifier, const NamedExtent& a, const NamedExtent& b, std::size_t axis,
                             Location where) {
  return verifier.require({.kind = Requirement::Kind::statement,
                           .constraint = {a.extent, Comparison::eq, b.extent},
                           .what = fmt::format("extents of '{}' and '{}' on axis {}", a.name, b.name, axis),
                           .where = where});
}

}  // namespace padlock::ir
