#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"

// The first half of binding: values of symbols from a request, before the program's requirements are checked.
namespace padlock::ir {

/// Returns the symbols of the program's context, by index, for reuse. Symbols added later are coordinates, which have
/// no bound value.
[[nodiscard]] std::vector<const Symbol*> symbols_of(const Program& program);

/// Returns a value for every symbol of the program's context; 0 for coordinates. Values come from names, then from
/// extents that are a single symbol, then from such strides of axes with more than one element in tensors that are not
/// empty. A stride symbol without a value takes its dense value. Errors (invalid_argument): tensors, ranks or names
/// that do not match the program, a negative extent or stride, a symbol without a value. Precondition: `symbols` is
/// symbols_of(program).
[[nodiscard]] Result<std::vector<std::int64_t>> bind_symbols(const Program& program,
                                                             std::span<const Symbol* const> symbols,
                                                             const BindRequest& request);

/// Returns whether an axis's stride is used: false for axes with at most one element, and for empty tensors.
[[nodiscard]] bool is_significant(const ArgumentShape& shape, std::size_t axis);
/// Returns the stride of an axis, by default the row-major dense one; nullopt beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> stride_of(const ArgumentShape& shape, std::size_t axis);

/// Checks that every axis of every tensor of the request has the extent and the stride that the program declares, under
/// `values`. Errors (failed_precondition) name the parameter, the axis and both values. Precondition: bind_symbols has
/// accepted the request.
[[nodiscard]] Status check_parameters(const Program& program, const BindRequest& request,
                                      std::span<const std::int64_t> values);

/// Returns the symbols that occur in the expressions, with their values, in the order of their declaration.
[[nodiscard]] std::vector<NamedValue> symbol_values(const ExprContext& context, std::span<const Expr> expressions,
                                                    std::span<const std::int64_t> values);
/// Returns the values of the symbols in the expressions as " (S = 3, T = 4)"; empty if there are none.
[[nodiscard]] std::string values_of_symbols(const ExprContext& context, std::span<const Expr> expressions,
                                            std::span<const std::int64_t> values);

}  // namespace padlock::ir
