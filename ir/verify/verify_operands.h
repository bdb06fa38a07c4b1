#pragma once

#include <string>
#include <vector>

#include "ir/verify/verifier.h"
#include "ir/verify/verify_arguments.h"

// Operands, their types and shapes, for the rules of operations. Internal to the verifier.
namespace padlock::ir {

/// Returns a tensor by name: an input or the result of a statement.
[[nodiscard]] Result<ValueId> tensor_operand(const Verifier& verifier, const syntax::Argument& argument);

/// Returns any value by name, scalars included.
[[nodiscard]] Result<ValueId> value_operand(const Verifier& verifier, const syntax::Argument& argument);

/// Lists the unknown names among the symbols and operands of a statement that has another error. Returns a consequence
/// if there are any.
[[nodiscard]] Status check_argument_names(const Verifier& verifier, const syntax::Statement& statement);

/// Reads a literal as a value of the type.
[[nodiscard]] Result<Operand> literal_operand(const Verifier& verifier, const syntax::Argument& argument, DType dtype);

/// Reads a size as a value of the type that it states. Errors: those of Verifier::dim; and the name of a value.
[[nodiscard]] Result<Operand> size_operand(Verifier& verifier, const syntax::Argument& argument);

/// Reads a literal, a run-time scalar or a size of the given type.
[[nodiscard]] Result<Operand> scalar_operand(Verifier& verifier, const syntax::Argument& argument, DType dtype);

/// Reads an operand that is a type. `position`: "first", "second".
[[nodiscard]] Result<DType> read_type(const Verifier& verifier, const syntax::Argument& argument,
                                      std::string_view operation, std::string_view position);

/// Makes a statement's value with its dense layout, without operands and attributes. Error: extents that cost too much.
[[nodiscard]] Result<Value> make_result(Verifier& verifier, const syntax::Statement& statement, Op op, DType dtype,
                                        std::vector<Expr> extents);

struct NamedExtent {
  std::string name;
  Expr extent;
};
/// Requires two extents on one axis of the result to be equal.
[[nodiscard]] Status require_equal_extents(Verifier& verifier, const NamedExtent& a, const NamedExtent& b,
                                           std::size_t axis, Location where);

/// Returns the extents to which operands broadcast, as in NumPy, aligned at the last axis. Only an extent that is
/// literally 1 repeats; all others are required to be equal. `wheres` has the operands' positions.
[[nodiscard]] Result<std::vector<Expr>> broadcast_extents(Verifier& verifier, std::span<const Operand> operands,
                                                          std::span<const Location> wheres);

/// Verifies a statement of any elementwise operation.
[[nodiscard]] Result<Value> verify_elementwise(Verifier& verifier, const syntax::Statement& statement, Op op,
                                               const Arguments& arguments);

}  // namespace padlock::ir
