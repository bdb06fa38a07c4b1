#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/verify/verify_operands.h"

namespace padlock::ir {
namespace {

using syntax::Argument;

/// One statement of an elementwise operation.
class ElementwiseRule {
 public:
  ElementwiseRule(Verifier& verifier, const syntax::Statement& statement, Op op, const Arguments& arguments)
      : verifier_(verifier), statement_(statement), op_(op), op_class_(info_of(op).op_class), arguments_(arguments) {}

  Result<Value> verify() {
    const auto result_type = read_operands();
    if (!result_type) {
      const Status listed = diagnostics().errors().note(result_type);
      return std::unexpected(diagnostics().all(listed, check_argument_names(verifier_, statement_)).error());
    }
    PADLOCK_TRY(std::vector<Expr> extents, broadcast_extents(verifier_, operands_, wheres_));
    PADLOCK_TRY(Value value, make_result(verifier_, statement_, op_, *result_type, std::move(extents)));
    value.operands = std::move(operands_);
    return value;
  }

 private:
  [[nodiscard]] const Diagnostics& diagnostics() const { return verifier_.diagnostics(); }

  /// Fills operands_. Returns the result's type.
  Result<DType> read_operands() {
    if (op_class_ == OpClass::cast) return read_cast();
    std::vector<const Argument*> typed = arguments_.operands();
    if (op_class_ == OpClass::select) {
      PADLOCK_CHECK(read_condition(*typed[0]));
      typed.erase(typed.begin());
    }
    for (const std::string_view keyword : {"alpha", "lo", "hi"})
      if (const Argument* argument = arguments_.find(keyword)) typed.push_back(argument);
    PADLOCK_TRY(const DType dtype, common_type(typed));
    for (const Argument* argument : typed) PADLOCK_CHECK(read_operand(*argument, dtype));
    return op_class_ == OpClass::comparison ? DType::boolean : dtype;
  }

  Result<DType> read_cast() {
    const Argument& x = *arguments_.operands()[0];
    PADLOCK_TRY(const DType dtype, read_type(verifier_, *arguments_.operands()[1], "cast", "second"));
    PADLOCK_TRY(const DType source, common_type({&x}));
    PADLOCK_CHECK(read_operand(x, source));
    return dtype;
  }

  /// A select's condition is bool whatever the other operands are, so a literal there has a type.
  Status read_condition(const Argument& argument) { return read_operand(argument, DType::boolean); }

  /// An operand with its type, for messages.
  struct Typed {
    std::string name;
    DType dtype;
  };

  /// Returns an operand's own type: a value has one, a literal may state one.
  Result<std::optional<Typed>> typed(const Argument& argument) {
    if (const auto* literal = std::get_if<syntax::Literal>(&argument.value))
      return literal->dtype ? std::optional(Typed{literal->text, *literal->dtype}) : std::nullopt;
    if (const auto* size = std::get_if<syntax::SizeOperand>(&argument.value))
      return Typed{fmt::format("{}( )", name_of(size->dtype)), size->dtype};
    PADLOCK_TRY(const ValueId id, value_operand(verifier_, argument));
    return Typed{verifier_.value(id).name, verifier_.value(id).dtype};
  }

  /// Returns the type on which the typed operands agree. Error: they differ, or the operation does not take it.
  Result<DType> common_type(const std::vector<const Argument*>& arguments) {
    std::optional<DType> type;
    for (const Argument* argument : arguments) {
      PADLOCK_TRY(const std::optional<Typed> operand, typed(*argument));
      if (!operand) continue;
      if (type && *type != operand->dtype) return mismatch(*argument, *type, *operand);
      if (!type) PADLOCK_CHECK(check_class(*argument, *operand));
      type = operand->dtype;
    }
    if (type) return *type;
    return diagnostics().error(
        arguments.front()->where,
        fmt::format("expected an operand of '{}' that has a type, found literals alone: 'f32(1)' has one",
                    name_of(op_)));
  }

  [[nodiscard]] std::unexpected<Error> mismatch(const Argument& argument, DType expected, const Typed& found) const {
    const bool is_named = std::holds_alternative<std::string>(argument.value);
    return diagnostics().error(
        argument.where,
        fmt::format("expected the type {0}, found '{1}' of type {2}{3}", name_of(expected), found.name,
                    name_of(found.dtype),
                    is_named ? fmt::format("; cast({}, {}) converts", found.name, name_of(expected)) : ""));
  }

  /// Checks that the operation's class takes the type of an operand.
  Status check_class(const Argument& argument, const Typed& operand) const {
    const DTypeKind kind = kind_of(operand.dtype);
    const auto refuse = [&](std::string_view expected) {
      return diagnostics().error(argument.where, fmt::format("expected {} for '{}', found '{}' of type {}", expected,
                                                             name_of(op_), operand.name, name_of(operand.dtype)));
    };
    switch (op_class_) {
      case OpClass::floating1:
      case OpClass::floating2:
        if (kind != DTypeKind::floating) return refuse("a float type");
        break;
      case OpClass::activation:
        if (kind != DTypeKind::floating || operand.dtype == DType::f64) return refuse("f32, f16 or bf16");
        break;
      case OpClass::unary:
      case OpClass::binary:
      case OpClass::with_scalars:
        if (kind == DTypeKind::truth) return refuse("a type other than bool");
        break;
      case OpClass::logical1:
      case OpClass::logical2:
        if (kind != DTypeKind::truth) return refuse("bool");
        break;
      default:
        break;
    }
    return {};
  }

  /// Appends one operand of a known type.
  Status read_operand(const Argument& argument, DType dtype) {
    if (!argument.keyword.empty() || !std::holds_alternative<std::string>(argument.value)) {
      PADLOCK_TRY(Operand operand, scalar_operand(verifier_, argument, dtype));
      operands_.push_back(operand);
      wheres_.push_back(argument.where);
      return {};
    }
    PADLOCK_TRY(const ValueId id, value_operand(verifier_, argument));
    const Value& value = verifier_.value(id);
    if (value.dtype != dtype) return mismatch(argument, dtype, {value.name, value.dtype});
    operands_.emplace_back(id);
    wheres_.push_back(argument.where);
    return {};
  }

  Verifier& verifier_;
  const syntax::Statement& statement_;
  Op op_;
  OpClass op_class_;
  const Arguments& arguments_;
  std::vector<Operand> operands_;
  std::vector<Location> wheres_;  // the operands' positions
};

}  // namespace

Result<Value> verify_elementwise(Verifier& verifier, const syntax::Statement& statement, Op op,
                                 const Arguments& arguments) {
  return ElementwiseRule(verifier, statement, op, arguments).verify();
}

}  // namespace padlock::ir
