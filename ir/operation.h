#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace padlock::ir {

/// The class of an operation; decides operand types, result type and lowering.
enum class OpClass : std::uint8_t {
  movement,      ///< pad, slice, concat, transpose, broadcast: coordinates change, bits do not
  unary,         ///< T -> T, every type but bool
  binary,        ///< T, T -> T, every type but bool
  floating1,     ///< unary, floats only
  floating2,     ///< binary, floats only
  activation,    ///< unary, floats but f64: the real function's value, rounded to f32 and then to the type
  comparison,    ///< T, T -> bool, every type
  logical1,      ///< bool -> bool
  logical2,      ///< bool, bool -> bool
  select,        ///< bool, T, T -> T
  with_scalars,  ///< leaky_relu(x, alpha), clamp(x, lo, hi): the named operands are literals or run-time scalars
  cast,
  coordinate,  ///< iota: no operand; coordinates become elements
  adjoint,     ///< pad_adjoint: sums of elements, every type but bool
  by_data,     ///< take and search: the values of integers decide which elements are read
};

// The one table of operations: id, name in the language, class, tensor operands (-1: one or more).
#define PADLOCK_OPERATIONS(X)                  \
  X(pad, "pad", movement, 1)                   \
  X(slice, "slice", movement, 1)               \
  X(concat, "concat", movement, -1)            \
  X(transpose, "transpose", movement, 1)       \
  X(broadcast, "broadcast", movement, 1)       \
  X(reshape, "reshape", movement, 1)           \
  X(iota, "iota", coordinate, 0)               \
  X(pad_adjoint, "pad_adjoint", adjoint, 1)    \
  X(take, "take", by_data, -1)                 \
  X(search, "search", by_data, 2)              \
  X(relu, "relu", unary, 1)                    \
  X(leaky_relu, "leaky_relu", with_scalars, 1) \
  X(clamp, "clamp", with_scalars, 1)           \
  X(neg, "neg", unary, 1)                      \
  X(abs, "abs", unary, 1)                      \
  X(sign, "sign", unary, 1)                    \
  X(sqrt, "sqrt", floating1, 1)                \
  X(floor, "floor", floating1, 1)              \
  X(ceil, "ceil", floating1, 1)                \
  X(round, "round", floating1, 1)              \
  X(exp, "exp", activation, 1)                 \
  X(log, "log", activation, 1)                 \
  X(tanh, "tanh", activation, 1)               \
  X(sigmoid, "sigmoid", activation, 1)         \
  X(erf, "erf", activation, 1)                 \
  X(gelu, "gelu", activation, 1)               \
  X(gelu_tanh, "gelu_tanh", activation, 1)     \
  X(silu, "silu", activation, 1)               \
  X(softplus, "softplus", activation, 1)       \
  X(rsqrt, "rsqrt", activation, 1)             \
  X(add, "add", binary, 2)                     \
  X(sub, "sub", binary, 2)                     \
  X(mul, "mul", binary, 2)                     \
  X(div, "div", floating2, 2)                  \
  X(maximum, "maximum", binary, 2)             \
  X(minimum, "minimum", binary, 2)             \
  X(lt, "lt", comparison, 2)                   \
  X(le, "le", comparison, 2)                   \
  X(gt, "gt", comparison, 2)                   \
  X(ge, "ge", comparison, 2)                   \
  X(eq, "eq", comparison, 2)                   \
  X(ne, "ne", comparison, 2)                   \
  X(logical_and, "and", logical2, 2)           \
  X(logical_or, "or", logical2, 2)             \
  X(logical_not, "not", logical1, 1)           \
  X(select, "select", select, 3)               \
  X(cast, "cast", cast, 1)

enum class Op : std::uint8_t {
#define X(id, name, op_class, arity) id,
  PADLOCK_OPERATIONS(X)
#undef X
};

struct OpInfo {
  Op op;
  std::string_view name;
  OpClass op_class;
  int arity;
};

inline constexpr std::array kOperations = {
#define X(id, name, op_class, arity) OpInfo{Op::id, name, OpClass::op_class, arity},
    PADLOCK_OPERATIONS(X)
#undef X
};

[[nodiscard]] constexpr const OpInfo& info_of(Op op) { return kOperations[static_cast<std::size_t>(op)]; }
[[nodiscard]] constexpr std::string_view name_of(Op op) { return info_of(op).name; }
[[nodiscard]] constexpr std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& info : kOperations)
    if (info.name == name) return info.op;
  return std::nullopt;
}

// The one table of pad modes.
#define PADLOCK_PAD_MODES(X) \
  X(constant, "constant")    \
  X(edge, "edge")            \
  X(reflect, "reflect")      \
  X(symmetric, "symmetric")  \
  X(wrap, "wrap")

enum class PadMode : std::uint8_t {
#define X(id, name) id,
  PADLOCK_PAD_MODES(X)
#undef X
};

inline constexpr std::array kPadModes = {
#define X(id, name) PadMode::id,
    PADLOCK_PAD_MODES(X)
#undef X
};

[[nodiscard]] constexpr std::string_view name_of(PadMode mode) {
  constexpr std::array<std::string_view, kPadModes.size()> kNames = {
#define X(id, name) name,
      PADLOCK_PAD_MODES(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(mode)];
}
[[nodiscard]] constexpr std::optional<PadMode> pad_mode_from_name(std::string_view name) {
  for (const PadMode mode : kPadModes)
    if (name_of(mode) == name) return mode;
  return std::nullopt;
}

}  // namespace padlock::ir
