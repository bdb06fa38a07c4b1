#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/expr/constraint.h"
#include "ir/location.h"
#include "support/error.h"
#include "support/int128.h"
#include "support/messages/error_list.h"

// The syntax tree that the parser returns, with names and literals as written. Only the grammar is checked; `verify`
// (program.h) makes a Program from it.
namespace padlock::ir::syntax {

/// One node of an integer expression.
struct DimNode {
  enum class Kind : std::uint8_t { integer, name, neg, add, sub, mul, floordiv, ceildiv, mod, min, max };
  Kind kind = Kind::integer;
  std::uint32_t operands = 0;  ///< number of operands: 0 for a leaf, 1 for neg, 2 or more for min and max, else 2
  Int128 value = 0;            ///< integer
  std::string name;            ///< name
  Location where;              ///< the beginning of the subexpression
};

/// An integer expression in postfix order: operands stand before their operator, and operators of one precedence group
/// from the left. Flat, so that no expression is too deep to copy or to destroy.
struct Dim {
  std::vector<DimNode> nodes;

  [[nodiscard]] Location where() const { return nodes.empty() ? Location{} : nodes.back().where; }
  /// Returns the name if the expression is a single name, else null.
  [[nodiscard]] const std::string* lone_name() const {
    return nodes.size() == 1 && nodes[0].kind == DimNode::Kind::name ? &nodes[0].name : nullptr;
  }
};

struct Constraint {
  Dim lhs;
  Comparison comparison = Comparison::le;
  Dim rhs;
  Location where;
};

/// A literal as written ("-1.5", "nan", "bits(0x7fc00001)"). Its context gives its type, unless it states one, as
/// "f32(-1.5)" does.
struct Literal {
  std::string text;
  std::optional<DType> dtype = {};
};

/// A size expression as an operand, as written: "i64(S + 1)".
struct SizeOperand {
  DType dtype = DType::i64;
  Dim size;
};

/// An argument's value: a name (of a value, mode or type), a literal, a list of dims, or a size.
struct Argument {
  std::string keyword;  // empty: positional
  std::variant<std::string, Literal, std::vector<Dim>, SizeOperand> value;
  Location where;  // of the value
  Location keyword_where;
};

struct Parameter {
  enum class Kind : std::uint8_t { tensor, scalar, dim };
  Kind kind = Kind::tensor;
  std::string name;
  DType dtype = DType::f32;                 // tensor, scalar
  std::vector<Dim> extents;                 // tensor
  std::optional<std::vector<Dim>> strides;  // tensor; absent: dense
  Location where;
  bool is_in_error = false;  ///< its type is unknown, and reported
};

struct Statement {
  std::string name;
  std::string operation;
  std::vector<Argument> arguments;
  Location where;  // of the name
  Location operation_where;
};

struct Program {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;  // chains "a <= b < c" already split
  std::vector<Statement> statements;
  std::vector<std::pair<std::string, Location>> results;
  std::string source;  // the text, for diagnostics

  // Names that the unread text may declare, if the text has errors.
  std::vector<std::string> unread_names;  ///< that may be declared by what was not read
  bool has_unread_parts = false;
  bool has_unread_constraints = false;
};

/// Parses a text. Errors, with position, source line and what was expected: invalid_argument; resource_exhausted beyond
/// a limit. All errors of the text are returned, up to ErrorList::kMost.
[[nodiscard]] Result<Program> parse(std::string_view text);
/// As `parse`, with the errors in a list. Returns everything that could be parsed; nullopt if that is too little to
/// verify.
[[nodiscard]] std::optional<Program> parse(std::string_view text, ErrorList& errors);

/// Returns whether a name is valid in a program: [A-Za-z_][A-Za-z0-9_]* and not reserved.
[[nodiscard]] bool is_identifier(std::string_view name);
[[nodiscard]] bool is_reserved(std::string_view word);

}  // namespace padlock::ir::syntax
