"""Sizes of a graph as sizes of a program: torch's symbols keep their names, and what stands between them is translated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import sympy
import torch
from torch.fx import Node


class Untranslatable(Exception):
    """A graph asks for something that a program cannot say; the reason is a sentence's end."""


def rounded_division(e: Any) -> tuple[Any, Any, bool] | None:
    """Dividend and divisor of a quotient of whole numbers that is rounded to one, and whether it is rounded up: what
    `math.ceil(x / y)` is of sizes. The float between them changes nothing below 2^53."""
    kind = type(e).__name__
    if kind not in ("CeilToInt", "FloorToInt") or type(e.args[0]).__name__ != "IntTrueDiv":
        return None
    return (*e.args[0].args, kind == "CeilToInt")


def names_of_extents(extents: Iterable[Any]) -> dict[Any, Any]:
    """Names for the extents of tensors that come from outside and are computed: what is in them, in terms of the name. A
    model's sizes quote each layer's before them, so they double with each; a program needs none of what was before it."""
    names: dict[Any, Any] = {}
    for extent in extents:
        if not isinstance(extent, torch.SymInt) or extent.node.expr.is_Symbol:
            continue
        number, rest = extent.node.expr.as_coeff_Add()
        sign, computed = rest.as_coeff_Mul()
        if abs(sign) == 1 and not (computed.is_Symbol or computed.is_Add or computed.is_Mul or computed in names):
            names[computed] = sign * (sympy.Symbol(f"n{len(names)}", integer=True, nonnegative=True) - number)
    return names


class Sizes:
    """The sizes that one program names, and what it has to promise about them."""

    def __init__(self, names: dict[Any, Any] | None = None) -> None:
        #: Parts of sizes that are said by the names of extents.
        self._names = names or {}
        #: What sizes are divided by.
        self.divisors: dict[str, None] = {}
        #: Symbols of torch that occur.
        self.symbols: dict[str, Any] = {}
        #: Parameters for sizes that are no expression here: the node that has the value.
        self.opaque: dict[str, Node] = {}

    def text(self, size: Any) -> str:
        """A size: an integer, a symbolic one, or the node that has it."""
        if isinstance(size, Node):
            value = size.meta.get("val")
            try:
                return self.text(value)
            except Untranslatable:
                if not isinstance(value, (int, torch.SymInt)):
                    raise
            name = f"d{size.name}"
            self.opaque[name] = size
            return name
        if isinstance(size, torch.SymInt):
            return self._expression(self.expression_of(size))
        if isinstance(size, int) and not isinstance(size, bool):
            return str(size)
        raise Untranslatable(f"{size!r} is no size")

    def expression_of(self, size: torch.SymInt) -> Any:
        """What a size is, by the program's names."""
        return size.node.expr.xreplace(self._names)

    def list(self, sizes: Any) -> str:
        return "[" + ", ".join(self.text(size) for size in sizes) + "]"

    def _expression(self, e: Any) -> str:
        """The expression as an operand of anything: in parentheses where it has parts."""
        if e.is_Symbol:
            self.symbols.setdefault(str(e), e)
            return str(e)
        if e.is_Integer:
            return str(int(e)) if e >= 0 else f"({int(e)})"
        kind = type(e).__name__
        if kind == "Pow" and e.exp.is_Integer and e.exp > 0:
            return "(" + "*".join([self._expression(e.base)] * int(e.exp)) + ")"
        if (quotient := rounded_division(e)) is not None:
            return self._rounded(*quotient)
        parts = [self._expression(part) for part in e.args]
        if kind == "Add":
            return "(" + " + ".join(parts) + ")"
        if kind == "Mul":
            return "(-" + "*".join(parts[1:]) + ")" if parts[0] == "(-1)" else "(" + "*".join(parts) + ")"
        if kind in ("Max", "Min"):
            return reduce(lambda a, b: f"{kind.lower()}({a}, {b})", parts)
        if kind in ("FloorDiv", "CleanDiv", "PythonMod", "Mod"):
            self._divide_by(e.args[1], parts[1])
            return f"({parts[0]} {'floordiv' if kind.endswith('Div') else 'mod'} {parts[1]})"
        raise Untranslatable(f"sizes have no {kind}")

    def _rounded(self, a: Any, b: Any, up: bool) -> str:
        text, by = self._expression(-a if up else a), self._expression(b)
        self._divide_by(b, by)
        return f"(-({text} floordiv {by}))" if up else f"({text} floordiv {by})"

    def _divide_by(self, divisor: Any, text: str) -> None:
        if divisor.is_Integer:
            if divisor < 1:
                raise Untranslatable(f"a size is divided by {divisor}")
            return
        self.divisors[text] = None

    def promises(self, text: str) -> list[str]:
        """Which divisors of a text have to be positive."""
        return [f"{one} >= 1" for one in self.divisors if f" floordiv {one}" in text or f" mod {one}" in text]
