"""Sizes as text: symbols, integers and arithmetic."""

from __future__ import annotations

import linecache
import sys
import typing
from typing import Union

from ..errors import InvalidArgument

__all__ = ["Constraint", "Dim", "Size", "ceildiv", "max", "min"]


class Place(typing.NamedTuple):
    """A line of Python."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {linecache.getline(self.file, self.line).strip()}"


def place() -> Place | None:
    """Returns the current line of the traced function, for messages."""
    frame = sys._getframe()
    while frame is not None and (package := frame.f_globals.get("__package__")) and (
        package == __package__ or package.split(".")[0] == "numpy"
    ):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def refuse(message: str, at: Place | None = None) -> typing.NoReturn:
    at = at or place()
    error = InvalidArgument(f"{message}\n  {at}" if at else message)
    error.status, error.message = "INVALID_ARGUMENT", message
    if at:
        error.file, error.line = at
    raise error


Size = Union["Dim", int]


class Dim:
    """A size expression: symbols, integers and arithmetic. It has no value while a program is traced."""

    __slots__ = ("text", "strength")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, strength: int = 3) -> None:
        self.text = text
        self.strength = strength  # 1: a sum, 2: a product or a division, 3: binds tightest

    def _in(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"

    def _binary(self, other: object, sign: str, strength: int, swapped: bool = False) -> Dim:
        if not isinstance(other, (Dim, int)) or isinstance(other, bool):
            refuse(f"expected a size beside '{self.text}', found {other!r}")
        left, right = (dim_of(other), self) if swapped else (self, dim_of(other))
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
        refuse(f"sizes are whole: expected '{self.text} // {_text(other)}', found '/'")

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
        refuse(f"'{self.text}' has no value while the program is written")

    __int__ = __index__ = __bool__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.text


class Constraint:
    """A comparison of sizes, for `where`."""

    def __init__(self, left: Size, sign: str, right: Size) -> None:
        self.text = f"{_text(left)} {sign} {_text(right)}"

    def __bool__(self) -> bool:
        refuse(
            f"'{self.text}' has no value while the program is written: pass it to padlock.lang.where"
            " (a chain as two comparisons)"
        )


def dim_of(size: Size) -> Dim:
    if isinstance(size, Dim):
        return size
    if isinstance(size, int) and not isinstance(size, bool):
        return Dim(str(size), 3 if size >= 0 else 2)
    name = getattr(size, "name", None)  # of a tensor or a scalar
    if name is not None:
        refuse(f"expected a size, found the {type(size).__name__.lower()} '{name}'; a number in sizes is annotated with padlock.dim")
    refuse(f"expected a size, found {size!r}")


def _text(size: object) -> str:
    return size.text if isinstance(size, Dim) else str(size)


def min(*sizes: Size) -> Dim:
    """Returns the least of sizes."""
    return Dim(f"min({', '.join(dim_of(size).text for size in sizes)})")


def max(*sizes: Size) -> Dim:
    """Returns the greatest of sizes."""
    return Dim(f"max({', '.join(dim_of(size).text for size in sizes)})")


def ceildiv(size: Size, divisor: Size) -> Dim:
    """Returns a quotient, rounded up."""
    return dim_of(size)._binary(divisor, "ceildiv", 2)
