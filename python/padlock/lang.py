"""The language of docs/language.md, written in Python: `@padlock.jit` runs a function once on symbols, and what comes out
is the text of a program, nothing else. `kernel.text` is that text.

    @padlock.jit
    def pad_relu(x: padlock.f32["B", "S"], lo: padlock.dim):
        y = padlock.lang.pad(x, low=[0, lo], high=[0, -(x.shape[1] + lo) % 8], value=-1.5)
        return padlock.lang.relu(y)
"""

from __future__ import annotations

import builtins
import inspect
import linecache
import sys
import typing
from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _kernel
from .errors import InvalidArgument

# ---- Sizes -----------------------------------------------------------------------------------------------------------


def _place() -> str:
    """The line of the traced function that is being run, for messages."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return ""
    name, number = frame.f_code.co_filename, frame.f_lineno
    return f"{name}:{number}: {linecache.getline(name, number).strip()}"


def _refuse(message: str) -> typing.NoReturn:
    place = _place()
    error = InvalidArgument(f"{message}\n  {place}" if place else message)
    error.status, error.message = "INVALID_ARGUMENT", message
    raise error


Size = Union["Dim", int]


class Dim:
    """A size expression: symbols, integers, and what is computed of them. It has no value while a program is written."""

    __slots__ = ("text", "strength")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, strength: int = 3) -> None:
        self.text = text
        self.strength = strength  # 1: a sum, 2: a product or a division, 3: binds tightest

    def _in(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"

    def _binary(self, other: object, sign: str, strength: int, swapped: bool = False) -> Dim:
        if not isinstance(other, (Dim, int)) or isinstance(other, bool):
            _refuse(f"expected a size beside '{self.text}', found {other!r}")
        left, right = (_dim(other), self) if swapped else (self, _dim(other))
        return Dim(f"{left._in(strength)} {sign} {right._in(strength + 1)}", strength)

    def __add__(self, other: Size) -> Dim:
        return self._binary(other, "+", 1)

    def __radd__(self, other: Size) -> Dim:
        return self._binary(other, "+", 1, True)

    def __sub__(self, other: Size) -> Dim:
        return self._binary(other, "-", 1)

    def __rsub__(self, other: Size) -> Dim:
        return self._binary(other, "-", 1, True)

    def __mul__(self, other: Size) -> Dim:
        return self._binary(other, "*", 2)

    def __rmul__(self, other: Size) -> Dim:
        return self._binary(other, "*", 2, True)

    def __floordiv__(self, other: Size) -> Dim:
        return self._binary(other, "floordiv", 2)

    def __rfloordiv__(self, other: Size) -> Dim:
        return self._binary(other, "floordiv", 2, True)

    def __mod__(self, other: Size) -> Dim:
        return self._binary(other, "mod", 2)

    def __rmod__(self, other: Size) -> Dim:
        return self._binary(other, "mod", 2, True)

    def __neg__(self) -> Dim:
        return Dim(f"-{self._in(3)}", 2)

    def __truediv__(self, other: object) -> Dim:
        _refuse(f"sizes are whole: expected '{self.text} // {_text(other)}', found '/'")

    __rtruediv__ = __truediv__

    def __lt__(self, other: Size) -> Constraint:
        return Constraint(self, "<", other)

    def __le__(self, other: Size) -> Constraint:
        return Constraint(self, "<=", other)

    def __gt__(self, other: Size) -> Constraint:
        return Constraint(self, ">", other)

    def __ge__(self, other: Size) -> Constraint:
        return Constraint(self, ">=", other)

    def __eq__(self, other: object) -> Constraint:  # type: ignore[override]
        return Constraint(self, "==", typing.cast(Size, other))

    def __bool__(self) -> bool:
        _refuse(f"'{self.text}' has no value while the program is written")

    __int__ = __index__ = __bool__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.text


class Constraint:
    """A comparison of sizes, for `where`."""

    def __init__(self, left: Size, sign: str, right: Size) -> None:
        self.text = f"{_text(left)} {sign} {_text(right)}"

    def __bool__(self) -> bool:
        _refuse(
            f"'{self.text}' has no value while the program is written: pass it to padlock.lang.where"
            " (a chain as two comparisons)"
        )


def _dim(size: Size) -> Dim:
    if isinstance(size, Dim):
        return size
    if isinstance(size, int) and not isinstance(size, bool):
        return Dim(str(size), 3 if size >= 0 else 2)
    _refuse(f"expected a size, found {size!r}")


def _text(size: object) -> str:
    return size.text if isinstance(size, Dim) else str(size)


def min(*sizes: Size) -> Dim:
    """The least of sizes."""
    return Dim(f"min({', '.join(_dim(size).text for size in sizes)})")


def max(*sizes: Size) -> Dim:
    """The greatest of sizes."""
    return Dim(f"max({', '.join(_dim(size).text for size in sizes)})")


def ceildiv(size: Size, divisor: Size) -> Dim:
    """A quotient, rounded up."""
    return _dim(size)._binary(divisor, "ceildiv", 2)


# ---- Types of parameters ---------------------------------------------------------------------------------------------


class TensorType:
    """`padlock.f32["B", "S"]`: an element type with extents, and strides where the tensor is not dense."""

    def __init__(self, element: str, extents: tuple[Any, ...], strides: tuple[Any, ...] | None = None) -> None:
        self.element, self.extents, self.stride_list = element, extents, strides

    def strides(self, *strides: str | int) -> TensorType:
        """The same with these distances between neighbours, in elements."""
        return TensorType(self.element, self.extents, strides)

    def __repr__(self) -> str:
        text = f"{self.element}[{', '.join(map(str, self.extents))}]"
        return text + (f" strides [{', '.join(map(str, self.stride_list))}]" if self.stride_list is not None else "")


class ElementType:
    """`padlock.f32`: a scalar of it as a parameter; with extents a tensor."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, extents: Any) -> TensorType:
        return TensorType(self.name, extents if isinstance(extents, tuple) else (extents,))

    def __repr__(self) -> str:
        return self.name


class DimType:
    """`padlock.dim`: an integer that sizes are computed of."""

    def __repr__(self) -> str:
        return "dim"


dim = DimType()
f64, f32, f16, bf16 = (ElementType(name) for name in ("f64", "f32", "f16", "bf16"))
i64, i32, i16, i8 = (ElementType(name) for name in ("i64", "i32", "i16", "i8"))
u64, u32, u16, u8 = (ElementType(name) for name in ("u64", "u32", "u16", "u8"))
bool_ = ElementType("bool")

# ---- Values ----------------------------------------------------------------------------------------------------------


class Scalar:
    """A scalar parameter."""

    def __init__(self, trace: _Trace, name: str) -> None:
        self.trace, self.name = trace, name


class Tensor:
    """A tensor of the program that is being written."""

    def __init__(self, trace: _Trace, name: str, shape: Sequence[Size]) -> None:
        self.trace, self.name = trace, name
        self.shape: tuple[Dim, ...] = tuple(_dim(extent) for extent in shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __add__(self, other: Operand) -> Tensor:
        return add(self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return add(other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return sub(self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return sub(other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return mul(self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return mul(other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return div(self, other)

    def __neg__(self) -> Tensor:
        return neg(self)

    def __bool__(self) -> bool:
        _refuse(f"'{self.name}' has no elements while the program is written")


Operand = Union[Tensor, Scalar, float, int, bool, str]


class _Trace:
    """Statements, as the function made them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constraints: list[str] = []
        self.names: set[str] = set()

    def emit(self, expression: str, shape: Sequence[Size]) -> Tensor:
        number = len(self.lines)
        while f"t{number}" in self.names:
            number += 1
        name = f"t{number}"
        self.names.add(name)
        self.lines.append(f"  {name} = {expression}")
        return Tensor(self, name, shape)


_tracing: list[_Trace] = []


def _trace() -> _Trace:
    if not _tracing:
        _refuse("operations of padlock.lang belong in a function under @padlock.jit")
    return _tracing[-1]


def _operand(value: Operand) -> str:
    if isinstance(value, (Tensor, Scalar)):
        return value.name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):  # "bits(0x7fc0)"
        return value
    _refuse(f"expected a tensor, a scalar or a number, found {value!r}")


def _sizes(values: Sequence[Size]) -> str:
    return f"[{', '.join(_dim(value).text for value in values)}]"


def _tensor(value: object) -> Tensor:
    if isinstance(value, Tensor):
        return value
    _refuse(f"expected a tensor of the program, found {value!r}")


def _checked(values: Sequence[Size], x: Tensor, what: str) -> Sequence[Size]:
    if len(values) != x.ndim:
        _refuse(f"{what}: expected {x.ndim} sizes, one an axis, found {len(values)}")
    return values


# ---- Operations ------------------------------------------------------------------------------------------------------


def where(*constraints: Constraint) -> None:
    """Says what holds of the sizes: checked when they are bound, and known to the compiler."""
    _trace().constraints += [constraint.text for constraint in constraints]


def pad(
    x: Tensor,
    low: Sequence[Size],
    high: Sequence[Size],
    *,
    mode: str = "constant",
    value: Operand | None = None,
    interior: Sequence[int] | None = None,
) -> Tensor:
    """Elements around a tensor, or cut off it where an amount is negative."""
    x = _tensor(x)
    low, high = _checked(low, x, "low"), _checked(high, x, "high")
    text = f"pad({x.name}, low = {_sizes(low)}, high = {_sizes(high)}"
    between = list(interior) if interior is not None else [0] * x.ndim
    if interior is not None:
        text += f", interior = {_sizes(_checked(between, x, 'interior'))}"
    if mode != "constant":
        text += f", mode = {mode}"
    if value is not None:
        text += f", value = {_operand(value)}"
    shape = [
        _dim(n) + before + after + (max(n - 1, 0) * k if k else 0)
        for n, before, after, k in zip(x.shape, low, high, between)
    ]
    return _trace().emit(text + ")", shape)


def slice(x: Tensor, start: Sequence[Size], limit: Sequence[Size], step: Sequence[int] | None = None) -> Tensor:
    """Elements from `start` on, below `limit`."""
    x = _tensor(x)
    start, limit = _checked(start, x, "start"), _checked(limit, x, "limit")
    steps = list(step) if step is not None else [1] * x.ndim
    text = f"slice({x.name}, start = {_sizes(start)}, limit = {_sizes(limit)}"
    if step is not None:
        text += f", step = {_sizes(_checked(steps, x, 'step'))}"
    shape = [
        _dim(to) - _dim(of) if by == 1 else ceildiv(_dim(to) - _dim(of), by) for of, to, by in zip(start, limit, steps)
    ]
    return _trace().emit(text + ")", shape)


def concat(*tensors: Tensor, axis: int) -> Tensor:
    """Tensors one after another along an axis."""
    if not tensors:
        _refuse("concat: expected tensors, found none")
    first = _tensor(tensors[0])
    if not 0 <= axis < first.ndim:
        _refuse(f"concat: expected an axis below {first.ndim}, found {axis}")
    total = first.shape[axis]
    for other in tensors[1:]:
        total = total + _tensor(other).shape[axis]
    shape = [total if i == axis else extent for i, extent in enumerate(first.shape)]
    return _trace().emit(f"concat({', '.join(t.name for t in tensors)}, axis = {axis})", shape)


def transpose(x: Tensor, perm: Sequence[int]) -> Tensor:
    """Axis i of the result is axis perm[i] of x."""
    x = _tensor(x)
    if sorted(perm) != list(range(x.ndim)):
        _refuse(f"transpose: expected each of {x.ndim} axes once, found {list(perm)}")
    return _trace().emit(f"transpose({x.name}, perm = {_sizes(perm)})", [x.shape[axis] for axis in perm])


def broadcast(x: Tensor, shape: Sequence[Size], axes: Sequence[int]) -> Tensor:
    """A tensor of that shape; axis i of x becomes axis axes[i]."""
    x = _tensor(x)
    return _trace().emit(f"broadcast({x.name}, shape = {_sizes(shape)}, axes = {_sizes(axes)})", shape)


def reshape(x: Tensor, shape: Sequence[Size]) -> Tensor:
    """The elements of x, row by row, in that shape, which has as many."""
    return _trace().emit(f"reshape({_tensor(x).name}, shape = {_sizes(shape)})", shape)


def iota(element: ElementType, shape: Sequence[Size], axis: int) -> Tensor:
    """Each element is its own coordinate along an axis."""
    return _trace().emit(f"iota({element.name}, shape = {_sizes(shape)}, axis = {axis})", shape)


def _broadcast_shape(tensors: Sequence[Tensor]) -> list[Dim]:
    """Aligned at the last axis; where extents differ in their text, the one that is not literally 1."""
    count = builtins.max((t.ndim for t in tensors), default=0)
    shape: list[Dim] = []
    for axis in range(count):
        candidates = [t.shape[axis - count + t.ndim] for t in tensors if axis - count + t.ndim >= 0]
        shape.append(next((extent for extent in candidates if extent.text != "1"), candidates[0]))
    return shape


def _elementwise(name: str, *operands: Operand, **named: Operand | str) -> Tensor:
    texts = [_operand(value) for value in operands]
    texts += [f"{key} = {_operand(value)}" for key, value in named.items()]
    return _trace().emit(f"{name}({', '.join(texts)})", _broadcast_shape([v for v in operands if isinstance(v, Tensor)]))


def _unary(name: str, meaning: str) -> Callable[[Operand], Tensor]:
    def operation(x: Operand) -> Tensor:
        return _elementwise(name, x)

    operation.__name__ = operation.__qualname__ = name.rstrip("_")
    operation.__doc__ = meaning
    return operation


def _binary(name: str, meaning: str) -> Callable[[Operand, Operand], Tensor]:
    def operation(a: Operand, b: Operand) -> Tensor:
        return _elementwise(name, a, b)

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
    """x < 0 ? x * alpha : x"""
    return _elementwise("leaky_relu", x, alpha=alpha)


def clamp(x: Operand, lo: Operand, hi: Operand) -> Tensor:
    """x < lo ? lo : x > hi ? hi : x"""
    return _elementwise("clamp", x, lo=lo, hi=hi)


def select(c: Operand, a: Operand, b: Operand) -> Tensor:
    """c ? a : b, for each element."""
    return _elementwise("select", c, a, b)


def cast(x: Tensor, to: ElementType) -> Tensor:
    """To another type, rounded once."""
    x = _tensor(x)
    return _trace().emit(f"cast({x.name}, {to.name})", x.shape)


# ---- Tracing ---------------------------------------------------------------------------------------------------------


def _declare(trace: _Trace, name: str, annotation: object) -> tuple[str, Any]:
    if isinstance(annotation, TensorType):
        for extent in annotation.extents:
            if not isinstance(extent, (str, int)):
                _refuse(f"{name}: expected extents by name or as integers, found {extent!r}")
        sizes = [Dim(e, 3 if e.isidentifier() else 1) if isinstance(e, str) else e for e in annotation.extents]
        return f"{name}: {annotation!r}", Tensor(trace, name, sizes)
    if isinstance(annotation, DimType):
        return f"{name}: dim", Dim(name)
    if isinstance(annotation, ElementType):
        return f"{name}: {annotation.name}", Scalar(trace, name)
    _refuse(f"parameter '{name}': expected padlock.f32[...], padlock.f32 or padlock.dim, found {annotation!r}")


def _annotations(function: Callable[..., Any]) -> dict[str, object]:
    """What the parameters are annotated with, also under `from __future__ import annotations`."""
    found: dict[str, object] = {}
    names = dict(inspect.getclosurevars(function).nonlocals)
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = eval(annotation, function.__globals__, names)
        found[name] = annotation
    return found


def text_of(function: Callable[..., Any]) -> str:
    """The program that a function writes. What `jit` compiles."""
    trace = _Trace()
    declared = {name: _declare(trace, name, kind) for name, kind in _annotations(function).items()}
    for text, value in declared.values():
        trace.names.add(text.split(":")[0])
        if isinstance(value, Tensor):
            trace.names.update(extent.text for extent in value.shape)
    _tracing.append(trace)
    try:
        returned = function(**{name: value for name, (_, value) in declared.items()})
    finally:
        _tracing.pop()
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    for result in results:
        if not isinstance(result, Tensor):
            raise TypeError(f"{function.__name__}: expected it to return tensors of the program, found {result!r}")
    head = f"program {function.__name__}({', '.join(text for text, _ in declared.values())})\n"
    if trace.constraints:
        head += f"where {', '.join(trace.constraints)}\n"
    body = "".join(line + "\n" for line in trace.lines)
    return f"{head}{{\n{body}  return {', '.join(result.name for result in results)}\n}}\n"


def jit(function: Callable[..., Any]) -> _kernel.Kernel:
    """Runs the function once on symbols, and makes a kernel of the program that it writes. It is compiled for a device
    when it is first called with that device's tensors."""
    kernel = _kernel.compile(text_of(function), device=None, order=list(inspect.signature(function).parameters))
    kernel.__doc__ = function.__doc__
    kernel.__name__ = function.__name__
    kernel.__wrapped__ = function
    return kernel
