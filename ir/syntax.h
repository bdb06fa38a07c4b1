#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/constraint.h"
#include "ir/dtype.h"
#include "support/error.h"
#include "support/int128.h"

// The syntax tree of a program: what the parser reads and a builder makes. It has names and literals as written;
// nothing is checked but the grammar. `verify` (program.h) turns it into a Program.
namespace padlock::ir::syntax {

/// Where a piece of syntax stands in the text; 0 when it was built, not parsed.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// An integer expression. Operators are left-associative trees, as written.
struct Dim {
  enum class Kind : std::uint8_t { integer, name, neg, add, sub, mul, floordiv, ceildiv, mod, min, max };
  Kind kind = Kind::integer;
  Int128 value = 0;           // integer
  std::string name;           // name
  std::vector<Dim> operands;  // neg: 1; min, max: 2 or more; else 2
  Location where;
};

struct Constraint {
  Dim lhs;
  Comparison comparison = Comparison::le;
  Dim rhs;
  Location where;
};

/// A literal as written ("-1.5", "nan", "bits(0x7fc00001)"); it gets a type from its context.
struct Literal {
  std::string text;
};

/// What stands as an argument: a name (of a value, mode or type), a literal, or a list of dims.
struct Argument {
  std::string keyword;  // empty: positional
  std::variant<std::string, Literal, std::vector<Dim>> value;
  Location where;
};

struct Parameter {
  enum class Kind : std::uint8_t { tensor, scalar, dim };
  Kind kind = Kind::tensor;
  std::string name;
  DType dtype = DType::f32;                  // tensor, scalar
  std::vector<Dim> extents;                  // tensor
  std::optional<std::vector<Dim>> strides;   // tensor; absent: dense
  Location where;
};

struct Statement {
  std::string name;
  std::string operation;
  std::vector<Argument> arguments;
  Location where;            // of the name
  Location operation_where;
};

struct Program {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;  // chains "a <= b < c" already split
  std::vector<Statement> statements;
  std::vector<std::pair<std::string, Location>> results;
  std::string source;  // the text, for diagnostics; empty when built
};

/// Text to syntax. Errors: invalid_argument with position, source line and what was expected.
[[nodiscard]] Result<Program> parse(std::string_view text);

}  // namespace padlock::ir::syntax
