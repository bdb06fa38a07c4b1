"""Values of the traced program, and the statements that compute them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, Union

from .sizes import Dim, Place, Size, dim_of, place, refuse

__all__ = ["Operand", "Scalar", "Tensor"]


class Scalar:
    """A scalar parameter."""

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name


class Typed:
    """A size or a number as an operand of a type: `padlock.i64(L)`."""

    def __init__(self, text: str) -> None:
        self.text = text


class Tensor:
    """A tensor of the traced program."""

    def __init__(self, trace: Trace, name: str, shape: Sequence[Size]) -> None:
        self.trace, self.name = trace, name
        self.shape: tuple[Dim, ...] = tuple(dim_of(extent) for extent in shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name):
            from .. import lang

            known = not name.startswith("_") and callable(getattr(lang, name, None))
            hint = f"write padlock.lang.{name}({self.name})" if known else "docs/language.md lists its operations"
            raise AttributeError(f"a tensor of a program has no '{name}'; {hint}")

    def __array__(self, *arguments: object, **named: object) -> NoReturn:
        refuse("a tensor of a program has no elements while the program is written: expected a function of padlock.lang, found NumPy's")

    def __add__(self, other: Operand) -> Tensor:
        return elementwise("add", self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return elementwise("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return elementwise("sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return elementwise("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return elementwise("mul", self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return elementwise("mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return elementwise("div", self, other)

    def __neg__(self) -> Tensor:
        return elementwise("neg", self)

    def __bool__(self) -> bool:
        refuse(f"'{self.name}' has no elements while the program is written")


Operand = Union[Tensor, Scalar, Typed, float, int, bool, str]


class Trace:
    """The statements that the function has made so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[Place | None] = []  # of each line
        self.constraints: list[tuple[str, Place | None]] = []
        self.names: set[str] = set()

    def emit(self, expression: str, shape: Sequence[Size]) -> Tensor:
        number = len(self.lines)
        while f"t{number}" in self.names:
            number += 1
        name = f"t{number}"
        self.names.add(name)
        self.lines.append(f"  {name} = {expression}")
        self.places.append(place())
        return Tensor(self, name, shape)


traces: list[Trace] = []


def current_trace() -> Trace:
    if not traces:
        refuse("operations of padlock.lang belong in a function under @padlock.jit")
    return traces[-1]


def operand(value: Operand) -> str:
    if isinstance(value, (Tensor, Scalar)):
        return value.name
    if isinstance(value, Typed):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):  # "bits(0x7fc0)"
        return value
    refuse(f"expected a tensor, a scalar or a number, found {value!r}")


def sizes_text(values: Sequence[Size]) -> str:
    return f"[{', '.join(dim_of(value).text for value in values)}]"


def tensor_of(value: object) -> Tensor:
    if isinstance(value, Tensor):
        return value
    refuse(f"expected a tensor of the program, found {value!r}")


def one_an_axis(values: Sequence[Size], x: Tensor, what: str) -> Sequence[Size]:
    if len(values) != x.ndim:
        refuse(f"{what}: expected {x.ndim} sizes, one for each axis, found {len(values)}")
    return values


def broadcast_shape(tensors: Sequence[Tensor]) -> list[Dim]:
    """Returns the broadcast shape, aligned at the last axis. Of two extents whose texts differ, takes the one that is not
    1."""
    count = max((t.ndim for t in tensors), default=0)
    shape: list[Dim] = []
    for axis in range(count):
        candidates = [t.shape[axis - count + t.ndim] for t in tensors if axis - count + t.ndim >= 0]
        shape.append(next((extent for extent in candidates if extent.text != "1"), candidates[0]))
    return shape


def elementwise(name: str, *operands: Operand, **named: Operand | str) -> Tensor:
    texts = [operand(value) for value in operands]
    texts += [f"{key} = {operand(value)}" for key, value in named.items()]
    return current_trace().emit(f"{name}({', '.join(texts)})", broadcast_shape([v for v in operands if isinstance(v, Tensor)]))
