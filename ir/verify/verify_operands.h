#pragma once

#include <string>
#include <vector>

#include "ir/verify/verifier.h"
#include "ir/verify/verify_arguments.h"

// Operands, their types and shapes, for the rules of operations. Internal to the verifier.
namespace padlock::ir {

/// A tensor: an input or the result of a statement.
[[nodiscard]] Result<ValueId> tensor_operand(const Verifier& verifier, const syntax::Argument& argument);

/// Any value by name, scalars included.
[[nodiscard]] Result<ValueId> value_operand(const Verifier& verifier, const syntax::Argument& argument);

/// A literal, read as a value of the type.
[[nodiscard]] Result<Operand> literal_operand(const Verifier& verifier, const syntax::Argument& argument, DType dtype);

/// A literal or a run-time scalar, of the given type.
[[nodiscard]] Result<Operand> scalar_operand(const Verifier& verifier, const syntax::Argument& argument, DType dtype);

/// A statement's value with its dense layout, operands and attributes still empty. Error: extents that cost too much.
[[nodiscard]] Result<Value> make_result(Verifier& verifier, const syntax::Statement& statement, Op op, DType dtype,
                                        std::vector<Expr> extents);

struct NamedExtent {
  std::string name;
  Expr extent;
};
/// Requires that two extents, which meet on an axis of the result, are equal.
[[nodiscard]] Status require_equal_extents(Verifier& verifier, const NamedExtent& a, const NamedExtent& b,
                                           std::size_t axis, Location where);

/// Every operation that computes element by element.
[[nodiscard]] Result<Value> verify_elementwise(Verifier& verifier, const syntax::Statement& statement, Op op,
                                               const Arguments& arguments);

}  // namespace padlock::ir
