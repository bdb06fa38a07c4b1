#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"

// The first half of binding: what a request says of the symbols, before anything that the program requires of them.
namespace padlock::ir {

/// The symbols of the program's context, by index, so that they need not be asked for again. Those that are added later
/// are coordinates, which are not bound.
[[nodiscard]] std::vector<const Symbol*> symbols_of(const Program& program);

/// A value for every symbol of the program's context (0 for coordinates), taken from names, then from extents that
/// are a symbol alone, then from such strides of axes with more than one element, of tensors that are not empty; a
/// stride symbol that is left takes its dense value. Errors (invalid_argument): tensors, ranks or names that do not
/// match the program, a negative extent or stride, a symbol without a value.
/// `symbols`: symbols_of(program).
[[nodiscard]] Result<std::vector<std::int64_t>> bind_symbols(const Program& program,
                                                             std::span<const Symbol* const> symbols,
                                                             const BindRequest& request);

/// Whether its stride means something: not of axes with one element or none, nor of empty tensors.
[[nodiscard]] bool is_significant(const ArgumentShape& shape, std::size_t axis);
/// The stride of an axis, the row-major dense one where none is given; nullopt beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> stride_of(const ArgumentShape& shape, std::size_t axis);

/// Whether every axis of every tensor of the request has the extent and the stride that the program declares, under
/// `values`. Errors (failed_precondition) name the parameter, the axis and both values.
/// Precondition: bind_symbols has accepted the request.
[[nodiscard]] Status check_parameters(const Program& program, const BindRequest& request,
                                      std::span<const std::int64_t> values);

/// The symbols that occur in the expressions, with their values, in the order of their declaration.
[[nodiscard]] std::vector<NamedValue> symbol_values(const ExprContext& context, std::span<const Expr> expressions,
                                                    std::span<const std::int64_t> values);
/// " (S = 3, T = 4)": the values of the symbols that occur in the expressions; empty if none does.
[[nodiscard]] std::string values_of_symbols(const ExprContext& context, std::span<const Expr> expressions,
                                            std::span<const std::int64_t> values);

}  // namespace padlock::ir
