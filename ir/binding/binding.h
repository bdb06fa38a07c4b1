#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/expr/expr_tape.h"
#include "ir/program.h"

namespace padlock::ir {

/// Extents and strides of one tensor argument, in elements. Without strides: dense, row-major.
struct ArgumentShape {
  std::vector<std::int64_t> extents;
  std::optional<std::vector<std::int64_t>> strides;
};

/// The values for a binding: one entry per tensor parameter, nullopt for a tensor that the caller does not have, and
/// symbols by name: `dim` parameters, and extents or strides that no tensor determines.
struct BindRequest {
  std::vector<std::optional<ArgumentShape>> tensors;  // in the order of Program::tensor_parameters()
  std::map<std::string, std::int64_t> symbols;
};

/// Values of all symbols of a program that satisfy the program's requirements. No other values can be bound (rule R2).
/// Immutable. Everything about sizes is evaluated from it.
class Binding {
 public:
  /// Binds symbols once, then checks bounds, constraints, extents and strides, what each statement implies, and
  /// storage, in that order. Errors: invalid_argument for the request itself (a missing or unknown name, a wrong
  /// rank, a negative extent or stride), failed_precondition for the first requirement that fails; both name the
  /// constraint, the axis and the values.
  [[nodiscard]] static Result<Binding> bind(const Program& program, const BindRequest& request);

  /// values()[i] is the value of symbol i of the program's context.
  [[nodiscard]] std::span<const std::int64_t> values() const { return values_; }
  /// Value of an expression that the program requires to fit in 64 bits: an extent, a stride or an offset. A stride
  /// that is never used, of an axis of extent 0 or 1 or of an empty tensor, may exceed 64 bits; then it saturates.
  [[nodiscard]] std::int64_t operator()(Expr e) const;
  [[nodiscard]] std::vector<std::int64_t> extents_of(const Value& value) const;
  [[nodiscard]] std::vector<std::int64_t> strides_of(const Value& value) const;
  /// layout.storage_extent() in bytes.
  [[nodiscard]] std::int64_t storage_bytes(const Value& value) const;
  /// Values of the expressions that the Binder's constructor received, in its order; empty if one of them does not fit
  /// in 64 bits.
  [[nodiscard]] std::span<const std::int64_t> asked() const { return asked_; }
  [[nodiscard]] const Program& program() const { return *program_; }

 private:
  friend class Binder;
  Binding() = default;
  const Program* program_ = nullptr;  // borrowed (outlives the binding)
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> asked_;
};

/// Binds many requests of one program. All expressions are on one tape, and one pass over it accepts a request. Only a
/// request that fails is checked again, in the language's order, for its message. Immutable, thread-safe.
class Binder {
 public:
  /// Borrows the program, which outlives the binder and its bindings. `asked`: expressions of the program whose values
  /// every binding has (Binding::asked).
  explicit Binder(const Program& program, std::vector<Expr> asked = {});
  /// Binds a request, as Binding::bind does.
  [[nodiscard]] Result<Binding> bind(const BindRequest& request) const;

 private:
  /// Checks all requirements in one pass and fills in the binding's asked values. False means that one may fail.
  [[nodiscard]] bool passes(Binding& binding, const BindRequest& request) const;
  /// `declared` holds the extents, then the strides, of each tensor parameter in turn.
  [[nodiscard]] bool has_declared_shapes(const BindRequest& request, const std::int64_t* declared) const;
  [[nodiscard]] Status explain(const Binding& binding, const BindRequest& request) const;

  const Program* program_;              // borrowed
  std::vector<const Symbol*> symbols_;  // borrowed from the program
  std::size_t asked_;                   // number of asked expressions
  ExprTape tape_;  // asked expressions, sides of requirements, parameters' extents and strides, stated expressions
};

}  // namespace padlock::ir
