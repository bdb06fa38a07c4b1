#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/operation.h"
#include "ir/program.h"
#include "ir/syntax.h"

namespace padlock::ir::syntax {

// Integer expressions without text. All group as written; nothing is simplified here. An expression that grows beyond
// kMaxDimNodes is marked, and refused when it is verified.
[[nodiscard]] Dim integer(Int128 value);
[[nodiscard]] Dim symbol(std::string name);
[[nodiscard]] Dim operator+(Dim a, const Dim& b);
[[nodiscard]] Dim operator-(Dim a, const Dim& b);
[[nodiscard]] Dim operator*(Dim a, const Dim& b);
[[nodiscard]] Dim operator-(Dim a);
[[nodiscard]] Dim floordiv(Dim a, const Dim& b);
[[nodiscard]] Dim ceildiv(Dim a, const Dim& b);
[[nodiscard]] Dim mod(Dim a, const Dim& b);
[[nodiscard]] Dim min(Dim a, const Dim& b);
[[nodiscard]] Dim max(Dim a, const Dim& b);

}  // namespace padlock::ir::syntax

namespace padlock::ir {

/// Makes a program without text:
///
///   ProgramBuilder b("pad_relu");
///   const auto S = ProgramBuilder::symbol("S"), lo = b.dim("lo");
///   const auto x = b.tensor("x", DType::f32, {S});
///   b.where(S + lo, Comparison::ge, ProgramBuilder::integer(0));
///   const auto y = b.pad("y", x, {.low = {lo}, .high = {mod(-(S + lo), ProgramBuilder::integer(8))}});
///   b.result(b.apply("z", Op::relu, {y}));
///   Result<Program> program = b.build();
///
/// Nothing is checked before build(), which runs the same verifier as a text does; its errors name the statement, since
/// there is no position. One builder serves one thread.
class ProgramBuilder {
 public:
  using Dim = syntax::Dim;
  using Dims = std::vector<Dim>;

  /// An operand: a parameter or statement that this builder returned, or a literal as the language writes it.
  class Operand {
   public:
    [[nodiscard]] static Operand literal(std::string text) { return Operand(syntax::Literal{std::move(text)}); }
    [[nodiscard]] static Operand literal(const Scalar& value) { return literal(to_string(value)); }

   private:
    friend class ProgramBuilder;
    explicit Operand(std::variant<std::string, syntax::Literal> value) : value_(std::move(value)) {}
    std::variant<std::string, syntax::Literal> value_;
  };

  struct Pad {
    Dims low, high;
    std::vector<std::int64_t> interior = {};  // empty: 0s
    PadMode mode = PadMode::constant;
    std::optional<Operand> value = {};  // absent: 0
  };
  struct Slice {
    Dims start, limit;
    std::vector<std::int64_t> step = {};  // empty: 1s
  };

  explicit ProgramBuilder(std::string name) { program_.name = std::move(name); }

  [[nodiscard]] static Dim symbol(std::string name) { return syntax::symbol(std::move(name)); }
  [[nodiscard]] static Dim integer(Int128 value) { return syntax::integer(value); }

  // Parameters, in order.
  Operand tensor(std::string name, DType dtype, Dims extents, std::optional<Dims> strides = {});
  Operand scalar(std::string name, DType dtype);
  Dim dim(std::string name);

  ProgramBuilder& where(Dim lhs, Comparison comparison, Dim rhs);

  // Statements, in order; each returns its value.
  Operand pad(std::string name, const Operand& x, const Pad& pad);
  Operand slice(std::string name, const Operand& x, const Slice& slice);
  Operand concat(std::string name, const std::vector<Operand>& operands, int axis);
  Operand transpose(std::string name, const Operand& x, const std::vector<int>& permutation);
  Operand broadcast(std::string name, const Operand& x, Dims shape, const std::vector<int>& axes);
  Operand leaky_relu(std::string name, const Operand& x, const Operand& alpha);
  Operand clamp(std::string name, const Operand& x, const Operand& lo, const Operand& hi);
  Operand cast(std::string name, const Operand& x, DType dtype);
  /// Every other operation: unary, binary, comparison, logical, select.
  Operand apply(std::string name, Op op, const std::vector<Operand>& operands);

  ProgramBuilder& result(const Operand& value);

  [[nodiscard]] const syntax::Program& syntax() const { return program_; }
  /// Errors: as of `verify`.
  [[nodiscard]] Result<Program> build() const { return verify(program_); }

 private:
  Operand add(std::string name, Op op, std::vector<syntax::Argument> arguments);

  syntax::Program program_;
};

}  // namespace padlock::ir
