#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/expr/constraint.h"
#include "ir/expr/expr.h"
#include "ir/layout.h"
#include "ir/location.h"
#include "ir/operation.h"
#include "ir/scalar.h"
#include "support/error.h"

namespace padlock::ir {

namespace syntax {
struct Program;
}  // namespace syntax

/// Index into Program::values(). Operands have smaller ids than their users.
using ValueId = std::uint32_t;

/// An operand is a value or a literal of known type.
using Operand = std::variant<ValueId, Scalar>;

struct PadAttributes {
  std::vector<Expr> low, high;         // one per axis, signed
  std::vector<std::int64_t> interior;  // one per axis, >= 0; all 0 unless mode is constant
  PadMode mode = PadMode::constant;
};
struct SliceAttributes {
  std::vector<Expr> start, limit;
  std::vector<std::int64_t> step;  // >= 1
};
struct ConcatAttributes {
  int axis = 0;
};
struct TransposeAttributes {
  std::vector<int> permutation;  // result axis i is operand axis permutation[i]
};
struct BroadcastAttributes {
  std::vector<int> axes;  // operand axis i becomes result axis axes[i]
};
struct IotaAttributes {
  int axis = 0;  // the axis whose coordinates are the elements
};
struct PadAdjointAttributes {
  PadAttributes pad;  // of the pad whose adjoint it is: from the result's extents to the operand's
};
struct TakeAttributes {
  int axis = 0;  // the first of the adjacent indexed axes
};
using Attributes = std::variant<std::monostate, PadAttributes, SliceAttributes, ConcatAttributes, TransposeAttributes,
                                BroadcastAttributes, IotaAttributes, PadAdjointAttributes, TakeAttributes>;

enum class ValueKind : std::uint8_t { tensor_parameter, scalar_parameter, size, operation };

/// A tensor parameter, a run-time scalar parameter (rank 0), a size expression as an operand (rank 0), or the result of
/// a statement.
///
/// Operands in order: pad: x, then the fill in mode constant; leaky_relu: x, alpha; clamp: x, lo, hi; select: c, a, b;
/// take: x, an index for each axis, the fill; others as in the table of operations. alpha, lo and hi are each a Scalar,
/// a scalar parameter or a size; a fill may also be a tensor. Fills, the indices of a take and elementwise operands
/// broadcast as in NumPy, aligned at the last axis.
struct Value {
  ValueKind kind = ValueKind::operation;
  std::string name;
  DType dtype = DType::f32;
  Layout layout;    // tensor parameter: as declared; else row-major and dense
  Op op = Op::pad;  // operation
  Expr size = {};   // size: the expression, converted to `dtype` as `cast` converts an i64; `name` is "i64(S + 1)"
  std::vector<Operand> operands = {};
  Attributes attributes = {};
  Location where;

  [[nodiscard]] std::span<const Expr> extents() const { return layout.extents(); }
  [[nodiscard]] int rank() const { return layout.rank(); }
};

/// A requirement on a binding. A binding checks requirements in the order of the list.
///
/// Expressions are simplified under the symbols' ranges and congruences, so a constraint that says no more than these
/// may read "0 == 0" here. A binding checks each Symbol::range and Symbol::congruence first. In the same way it checks
/// an argument's extents and strides against its parameter's layout.
struct Requirement {
  enum class Kind : std::uint8_t { bound, constraint, parameter_extent, parameter_stride, statement, storage };
  Kind kind = Kind::constraint;
  Constraint constraint;
  /// Description for messages: "extents of 'x' and 'y' on axis 1 (statement 'z')". Names the statement or parameter and
  /// the axis.
  std::string what;
  Location where;
  /// parameter_stride: index of the parameter, and axis; not checked if the axis has extent 0 or 1 or the tensor is
  /// empty. storage: index of the value whose bytes are bounded. Else -1.
  int parameter = -1;
  int axis = -1;
};

/// A verified program. Immutable; cheap to move, not copied; owns the context of all its expressions.
class Program {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Not const: kernels add coordinate expressions to the program's context.
  [[nodiscard]] ExprContext& exprs() const { return *exprs_; }
  /// Returns tensor and scalar parameters in declaration order, then statements in order. Sizes stand before their
  /// first use.
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const Value& value(ValueId id) const { return values_[id]; }
  /// Return the values that are tensor parameters, scalar parameters, and results, in declaration order.
  [[nodiscard]] const std::vector<ValueId>& tensor_parameters() const { return tensor_parameters_; }
  [[nodiscard]] const std::vector<ValueId>& scalar_parameters() const { return scalar_parameters_; }
  [[nodiscard]] const std::vector<ValueId>& results() const { return results_; }
  /// The `dim` parameters, symbols of the context.
  [[nodiscard]] const std::vector<Expr>& dim_parameters() const { return dim_parameters_; }
  /// Stated constraints (chains split), in order. Ranges of single symbols are in the context as well.
  [[nodiscard]] const std::vector<Constraint>& constraints() const { return constraints_; }
  /// Returns everything that a binding must check because it is not proved, in the language's order: bounds,
  /// constraints, extents and strides of parameters, statements (unused ones too), storage.
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }
  [[nodiscard]] Facts& facts() const { return *facts_; }

  [[nodiscard]] std::optional<ValueId> find(std::string_view name) const;

 private:
  friend class Verifier;
  std::string name_;
  std::unique_ptr<ExprContext> exprs_;
  std::unique_ptr<Facts> facts_;
  std::vector<Value> values_;
  std::vector<ValueId> tensor_parameters_, scalar_parameters_, results_;
  std::vector<Expr> dim_parameters_;
  std::vector<Constraint> constraints_;
  std::vector<Requirement> requirements_;
  /// Parameters in the order written, for printing: tensors and scalars by value, dims by symbol.
  std::vector<std::variant<ValueId, Expr>> parameter_order_;
  std::unordered_map<std::string, ValueId> index_;
  /// Constraints as canonical text that does not depend on the ranges they imply (under those, "S mod 8 == 0" is "0 ==
  /// 0"), and for each tensor parameter the extents and strides that declare a symbol.
  std::vector<std::string> constraint_texts_;
  struct TensorText {
    std::vector<std::uint8_t> extents_declare, strides_declare;  // by axis
    bool states_strides = false;
  };
  std::vector<TensorText> tensor_texts_;  // by tensor parameter
  friend std::string to_string(const Program&);
};

/// Checks names, types, ranks, literals, divisors and everything that fails for all bindings. Errors carry the position
/// and say what was expected and found. Each fault is one error (Error::others); an error that only follows from
/// another is left out.
[[nodiscard]] Result<Program> verify(const syntax::Program& syntax);
/// Parses and verifies a text. Errors of both, in the order of the text; after a syntax error the rest is verified.
[[nodiscard]] Result<Program> parse_program(std::string_view text);
/// Prints a program as canonical text: parse_program(to_string(p)) prints the same text.
[[nodiscard]] std::string to_string(const Program& program);

}  // namespace padlock::ir
