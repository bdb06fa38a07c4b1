#include "ir/builder.h"

namespace padlock::ir::syntax {
namespace {

Dim leaf(DimNode node) {
  Dim dim;
  dim.nodes.push_back(std::move(node));
  return dim;
}

Dim binary(DimNode::Kind kind, Dim a, const Dim& b) {
  a.too_large |= b.too_large || a.nodes.size() + b.nodes.size() >= kMaxDimNodes;
  if (a.too_large) return a;
  // `a` is a copy of its own, so b is never what is appended to.
  a.nodes.insert(a.nodes.end(), b.nodes.begin(), b.nodes.end());
  a.nodes.push_back({kind, 2, 0, {}, {}});
  return a;
}

}  // namespace

Dim integer(Int128 value) { return leaf({DimNode::Kind::integer, 0, value, {}, {}}); }
Dim symbol(std::string name) { return leaf({DimNode::Kind::name, 0, 0, std::move(name), {}}); }
Dim operator+(Dim a, const Dim& b) { return binary(DimNode::Kind::add, std::move(a), b); }
Dim operator-(Dim a, const Dim& b) { return binary(DimNode::Kind::sub, std::move(a), b); }
Dim operator*(Dim a, const Dim& b) { return binary(DimNode::Kind::mul, std::move(a), b); }
Dim floordiv(Dim a, const Dim& b) { return binary(DimNode::Kind::floordiv, std::move(a), b); }
Dim ceildiv(Dim a, const Dim& b) { return binary(DimNode::Kind::ceildiv, std::move(a), b); }
Dim mod(Dim a, const Dim& b) { return binary(DimNode::Kind::mod, std::move(a), b); }
Dim min(Dim a, const Dim& b) { return binary(DimNode::Kind::min, std::move(a), b); }
Dim max(Dim a, const Dim& b) { return binary(DimNode::Kind::max, std::move(a), b); }

Dim operator-(Dim a) {
  a.too_large |= a.nodes.size() >= kMaxDimNodes;
  if (!a.too_large) a.nodes.push_back({DimNode::Kind::neg, 1, 0, {}, {}});
  return a;
}

}  // namespace padlock::ir::syntax

namespace padlock::ir {
namespace {

using syntax::Argument;
using Dims = ProgramBuilder::Dims;

template <class Value>
Argument named(const std::string& keyword, Value value) {
  return {.keyword = keyword, .value = std::move(value), .where = {}, .keyword_where = {}};
}

template <class Int>
Argument named_integers(const std::string& keyword, const std::vector<Int>& integers) {
  Dims dims;
  for (const Int i : integers) dims.push_back(syntax::integer(i));
  return named(keyword, std::move(dims));
}

/// An operand as an argument; without a keyword it is positional.
template <class Operand>
Argument argument_of(const Operand& operand, const std::string& keyword = {}) {
  return std::visit([&](const auto& value) { return named(keyword, value); }, operand);
}

}  // namespace

ProgramBuilder::Operand ProgramBuilder::tensor(std::string name, DType dtype, Dims extents,
                                               std::optional<Dims> strides) {
  program_.parameters.push_back(
      {syntax::Parameter::Kind::tensor, name, dtype, std::move(extents), std::move(strides), {}});
  return Operand(std::move(name));
}

ProgramBuilder::Operand ProgramBuilder::scalar(std::string name, DType dtype) {
  program_.parameters.push_back({syntax::Parameter::Kind::scalar, name, dtype, {}, {}, {}});
  return Operand(std::move(name));
}

syntax::Dim ProgramBuilder::dim(std::string name) {
  program_.parameters.push_back({syntax::Parameter::Kind::dim, name, DType::i64, {}, {}, {}});
  return syntax::symbol(std::move(name));
}

ProgramBuilder& ProgramBuilder::where(Dim lhs, Comparison comparison, Dim rhs) {
  program_.constraints.push_back({std::move(lhs), comparison, std::move(rhs), {}});
  return *this;
}

ProgramBuilder::Operand ProgramBuilder::pad(std::string name, const Operand& x, const Pad& pad) {
  std::vector<Argument> arguments{argument_of(x.value_), named("low", pad.low), named("high", pad.high)};
  if (!pad.interior.empty()) arguments.push_back(named_integers("interior", pad.interior));
  if (pad.mode != PadMode::constant) arguments.push_back(named("mode", std::string(name_of(pad.mode))));
  if (pad.value) arguments.push_back(argument_of(pad.value->value_, "value"));
  return add(std::move(name), Op::pad, std::move(arguments));
}

ProgramBuilder::Operand ProgramBuilder::slice(std::string name, const Operand& x, const Slice& slice) {
  std::vector<Argument> arguments{argument_of(x.value_), named("start", slice.start), named("limit", slice.limit)};
  if (!slice.step.empty()) arguments.push_back(named_integers("step", slice.step));
  return add(std::move(name), Op::slice, std::move(arguments));
}

ProgramBuilder::Operand ProgramBuilder::concat(std::string name, const std::vector<Operand>& operands, int axis) {
  std::vector<Argument> arguments;
  for (const Operand& operand : operands) arguments.push_back(argument_of(operand.value_));
  arguments.push_back(named("axis", syntax::Literal{std::to_string(axis)}));
  return add(std::move(name), Op::concat, std::move(arguments));
}

ProgramBuilder::Operand ProgramBuilder::transpose(std::string name, const Operand& x,
                                                  const std::vector<int>& permutation) {
  return add(std::move(name), Op::transpose, {argument_of(x.value_), named_integers("perm", permutation)});
}

ProgramBuilder::Operand ProgramBuilder::broadcast(std::string name, const Operand& x, Dims shape,
                                                  const std::vector<int>& axes) {
  return add(std::move(name), Op::broadcast,
             {argument_of(x.value_), named("shape", std::move(shape)), named_integers("axes", axes)});
}

ProgramBuilder::Operand ProgramBuilder::leaky_relu(std::string name, const Operand& x, const Operand& alpha) {
  return add(std::move(name), Op::leaky_relu, {argument_of(x.value_), argument_of(alpha.value_, "alpha")});
}

ProgramBuilder::Operand ProgramBuilder::clamp(std::string name, const Operand& x, const Operand& lo,
                                              const Operand& hi) {
  return add(std::move(name), Op::clamp,
             {argument_of(x.value_), argument_of(lo.value_, "lo"), argument_of(hi.value_, "hi")});
}

ProgramBuilder::Operand ProgramBuilder::cast(std::string name, const Operand& x, DType dtype) {
  return add(std::move(name), Op::cast, {argument_of(x.value_), named("", std::string(name_of(dtype)))});
}

ProgramBuilder::Operand ProgramBuilder::apply(std::string name, Op op, const std::vector<Operand>& operands) {
  std::vector<Argument> arguments;
  for (const Operand& operand : operands) arguments.push_back(argument_of(operand.value_));
  return add(std::move(name), op, std::move(arguments));
}

ProgramBuilder& ProgramBuilder::result(const Operand& value) {
  const auto* name = std::get_if<std::string>(&value.value_);
  program_.results.emplace_back(name != nullptr ? *name : std::get<syntax::Literal>(value.value_).text,
                                syntax::Location{});
  return *this;
}

ProgramBuilder::Operand ProgramBuilder::add(std::string name, Op op, std::vector<Argument> arguments) {
  program_.statements.push_back({name, std::string(name_of(op)), std::move(arguments), {}, {}});
  return Operand(std::move(name));
}

}  // namespace padlock::ir
