"""Operations on each element. Every bit of their results is defined (docs/language.md)."""

from __future__ import annotations

from collections.abc import Callable

from .types import ElementType, element_type
from .values import Operand, Tensor, current_trace, elementwise, tensor_of

__all__ = [
    "abs", "add", "and_", "cast", "ceil", "clamp", "div", "eq", "erf", "exp", "floor", "ge", "gelu",
    "gelu_tanh", "gt", "le", "leaky_relu", "log", "lt", "maximum", "minimum", "mul", "ne", "neg", "not_", "or_",
    "relu", "round", "rsqrt", "select", "sigmoid", "sign", "silu", "softplus", "sqrt", "sub", "tanh",
]


def _unary(name: str, meaning: str) -> Callable[[Operand], Tensor]:
    def operation(x: Operand) -> Tensor:
        return elementwise(name, x)

    operation.__name__ = operation.__qualname__ = name.rstrip("_")
    operation.__doc__ = meaning
    return operation


def _binary(name: str, meaning: str) -> Callable[[Operand, Operand], Tensor]:
    def operation(a: Operand, b: Operand) -> Tensor:
        return elementwise(name, a, b)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = meaning
    return operation


relu = _unary("relu", "x < 0 ? 0 : x")
neg = _unary("neg", "The sign changed.")
abs = _unary("abs", "The sign dropped.")
sign = _unary("sign", "-1, 1, or x itself where it is 0 or no number.")
sqrt = _unary("sqrt", "The root, correctly rounded.")
floor = _unary("floor", "The next whole number below.")
ceil = _unary("ceil", "The next whole number above.")
round = _unary("round", "The nearest whole number, half to even.")
exp = _unary("exp", "e^x, correctly rounded.")
log = _unary("log", "The natural logarithm, correctly rounded.")
tanh = _unary("tanh", "(e^x - e^-x) / (e^x + e^-x), correctly rounded.")
sigmoid = _unary("sigmoid", "1 / (1 + e^-x), correctly rounded.")
erf = _unary("erf", "The error function, correctly rounded.")
gelu = _unary("gelu", "x times the normal distribution up to x, correctly rounded.")
gelu_tanh = _unary("gelu_tanh", "The same by tanh, correctly rounded.")
silu = _unary("silu", "x sigmoid(x), correctly rounded.")
softplus = _unary("softplus", "log(1 + e^x), correctly rounded.")
rsqrt = _unary("rsqrt", "1 / sqrt(x), correctly rounded.")
add = _binary("add", "a + b, correctly rounded; integers wrap.")
sub = _binary("sub", "a - b, correctly rounded; integers wrap.")
mul = _binary("mul", "a * b, correctly rounded; integers wrap.")
div = _binary("div", "a / b of floats, correctly rounded.")
maximum = _binary("maximum", "The greater; NaN if either is.")
minimum = _binary("minimum", "The lesser; NaN if either is.")
lt = _binary("lt", "a < b, a bool.")
le = _binary("le", "a <= b, a bool.")
gt = _binary("gt", "a > b, a bool.")
ge = _binary("ge", "a >= b, a bool.")
eq = _binary("eq", "a == b, a bool.")
ne = _binary("ne", "a != b, a bool.")
and_ = _binary("and", "Both, of bools.")
or_ = _binary("or", "Either, of bools.")
not_ = _unary("not", "The other bool.")


def leaky_relu(x: Operand, alpha: Operand) -> Tensor:
    """Returns x < 0 ? x * alpha : x."""
    return elementwise("leaky_relu", x, alpha=alpha)


def clamp(x: Operand, lo: Operand, hi: Operand) -> Tensor:
    """Returns x < lo ? lo : x > hi ? hi : x."""
    return elementwise("clamp", x, lo=lo, hi=hi)


def select(c: Operand, a: Operand, b: Operand) -> Tensor:
    """Returns c ? a : b, for each element."""
    return elementwise("select", c, a, b)


def cast(x: Tensor, to: ElementType | str) -> Tensor:
    """Converts to another type (`padlock.f32`, or "f32"), rounded once."""
    x = tensor_of(x)
    return current_trace().emit(f"cast({x.name}, {element_type(to).name})", x.shape)
