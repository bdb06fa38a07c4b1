#include "tests/differential/programs/dim_tree.h"

#include <algorithm>
#include <utility>

namespace padlock::differential {
namespace {

enum Precedence : std::uint8_t { kSum, kProduct, kFactor };

Precedence precedence_of(Dim::Kind kind) {
  switch (kind) {
    case Dim::Kind::add:
    case Dim::Kind::sub:
      return kSum;
    case Dim::Kind::mul:
    case Dim::Kind::floordiv:
    case Dim::Kind::ceildiv:
    case Dim::Kind::mod:
      return kProduct;
    default:
      return kFactor;
  }
}

const char* infix_of(Dim::Kind kind) {
  switch (kind) {
    case Dim::Kind::add:
      return " + ";
    case Dim::Kind::sub:
      return " - ";
    case Dim::Kind::mul:
      return " * ";
    case Dim::Kind::floordiv:
      return " floordiv ";
    case Dim::Kind::ceildiv:
      return " ceildiv ";
    default:
      return " mod ";
  }
}

std::string text_at(const Dim& dim, Precedence needed) {
  const std::string text = to_text(dim);
  return precedence_of(dim.kind) < needed ? "(" + text + ")" : text;
}

std::string joined(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& d : dims) text += (text.empty() ? "" : ", ") + to_text(d);
  return text;
}

Int128 floored(Int128 a, Int128 b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

std::optional<Int128> divide(Dim::Kind kind, Int128 a, Int128 b) {
  if (b <= 0) return std::nullopt;
  if (kind == Dim::Kind::floordiv) return floored(a, b);
  if (kind == Dim::Kind::ceildiv) return -floored(-a, b);
  return a - floored(a, b) * b;
}

std::optional<Int128> combine(Dim::Kind kind, Int128 a, Int128 b) {
  switch (kind) {
    case Dim::Kind::add:
      return a + b;
    case Dim::Kind::sub:
      return a - b;
    case Dim::Kind::mul:
      return a * b;
    case Dim::Kind::min:
      return std::min(a, b);
    case Dim::Kind::max:
      return std::max(a, b);
    default:
      return divide(kind, a, b);
  }
}

}  // namespace

Dim dim_integer(Int128 value) {
  Dim d;
  d.value = value;
  return d;
}

Dim dim_name(std::string name) {
  Dim d;
  d.kind = Dim::Kind::name;
  d.name = std::move(name);
  return d;
}

Dim dim_node(Dim::Kind kind, std::vector<Dim> operands) {
  Dim d;
  d.kind = kind;
  d.operands = std::move(operands);
  return d;
}

std::string to_text(const Dim& dim) {
  switch (dim.kind) {
    case Dim::Kind::integer:
      return padlock::to_string(dim.value);
    case Dim::Kind::name:
      return dim.name;
    case Dim::Kind::neg:
      return "-" + text_at(dim.operands[0], kFactor);
    case Dim::Kind::min:
      return "min(" + joined(dim.operands) + ")";
    case Dim::Kind::max:
      return "max(" + joined(dim.operands) + ")";
    default:
      break;
  }
  const Precedence own = precedence_of(dim.kind);
  const Precedence right = own == kSum ? kProduct : kFactor;  // operators associate to the left
  return text_at(dim.operands[0], own) + infix_of(dim.kind) + text_at(dim.operands[1], right);
}

std::string to_text(const std::vector<Dim>& dims) { return "[" + joined(dims) + "]"; }

std::optional<Int128> evaluate(const Dim& dim, const SymbolValues& values) {
  if (dim.kind == Dim::Kind::integer) return dim.value;
  if (dim.kind == Dim::Kind::name) {
    const auto it = values.find(dim.name);
    return it == values.end() ? std::nullopt : std::optional<Int128>(it->second);
  }
  std::optional<Int128> total = evaluate(dim.operands[0], values);
  if (dim.kind == Dim::Kind::neg) return total ? std::optional<Int128>(-*total) : std::nullopt;
  for (std::size_t i = 1; total && i < dim.operands.size(); ++i) {
    const std::optional<Int128> next = evaluate(dim.operands[i], values);
    total = next ? combine(dim.kind, *total, *next) : std::nullopt;
  }
  return total;
}

bool has_names(const Dim& dim) { return dim.kind == Dim::Kind::name || std::ranges::any_of(dim.operands, has_names); }

std::size_t node_count(const Dim& dim) {
  std::size_t count = 1;
  for (const Dim& d : dim.operands) count += node_count(d);
  return count;
}

bool satisfied(const Condition& condition, const SymbolValues& values) {
  const std::optional<Int128> a = evaluate(condition.lhs, values);
  const std::optional<Int128> b = evaluate(condition.rhs, values);
  if (!a || !b) return false;
  switch (condition.comparison) {
    case ir::Comparison::le:
      return *a <= *b;
    case ir::Comparison::lt:
      return *a < *b;
    case ir::Comparison::eq:
      return *a == *b;
    case ir::Comparison::ge:
      return *a >= *b;
    case ir::Comparison::gt:
      return *a > *b;
  }
  return false;
}

}  // namespace padlock::differential
