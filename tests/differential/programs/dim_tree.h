#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr/constraint.h"

// Dimension expressions of generated programs: how to build, print and evaluate them. Evaluation shares no code with
// ir/, because it decides which bindings must be accepted, and what a program's extents are.
namespace padlock::differential {

/// An integer expression: a plain tree, as written.
struct Dim {
  enum class Kind : std::uint8_t { integer, name, neg, add, sub, mul, floordiv, ceildiv, mod, min, max };
  Kind kind = Kind::integer;
  Int128 value = 0;           // integer
  std::string name;           // name
  std::vector<Dim> operands;  // neg: 1; min, max: 2 or more; else 2
};
using SymbolValues = std::map<std::string, std::int64_t>;

[[nodiscard]] Dim dim_integer(Int128 value);
[[nodiscard]] Dim dim_name(std::string name);
[[nodiscard]] Dim dim_node(Dim::Kind kind, std::vector<Dim> operands);
[[nodiscard]] inline Dim operator+(Dim a, Dim b) { return dim_node(Dim::Kind::add, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Dim operator-(Dim a, Dim b) { return dim_node(Dim::Kind::sub, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Dim operator*(Dim a, Dim b) { return dim_node(Dim::Kind::mul, {std::move(a), std::move(b)}); }

/// Text with as few parentheses as the grammar allows, so that precedence is tested as well.
[[nodiscard]] std::string to_text(const Dim& dim);
/// Prints "[a, b, c]".
[[nodiscard]] std::string to_text(const std::vector<Dim>& dims);

/// Returns the value; nullopt for a divisor that is not positive or a missing name. For small numbers: overflow is not
/// checked.
[[nodiscard]] std::optional<Int128> evaluate(const Dim& dim, const SymbolValues& values);
[[nodiscard]] bool has_names(const Dim& dim);
[[nodiscard]] std::size_t node_count(const Dim& dim);

/// A comparison that a legal binding satisfies.
struct Condition {
  Dim lhs;
  ir::Comparison comparison = ir::Comparison::le;
  Dim rhs;
  std::string why;
};
[[nodiscard]] bool satisfied(const Condition& condition, const SymbolValues& values);

}  // namespace padlock::differential
