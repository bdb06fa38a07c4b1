"""Translates sizes of a graph to sizes of a program: torch's symbols keep their names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import sympy
import torch
from torch.fx import Node


class Untranslatable(Exception):
    """A graph needs a size that a program cannot express. The reason is the end of a sentence."""


def rounded_division(e: Any) -> tuple[Any, Any, bool] | None:
    """Returns dividend, divisor and whether the quotient is rounded up, for a rounded quotient of integers such as
    `math.ceil(x / y)` of sizes. The float between them is exact below 2^53."""
    kind = type(e).__name__
    if kind not in ("CeilToInt", "FloorToInt") or type(e.args[0]).__name__ != "IntTrueDiv":
        return None
    return (*e.args[0].args, kind == "CeilToInt")


def names_of_extents(extents: Iterable[Any]) -> dict[Any, Any]:
    """Returns names for computed extents of outside tensors, and the names' expressions. A model's sizes contain those of
    each earlier layer, so their texts double with each; a program needs none of the earlier ones."""
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
    """The sizes of one program, and the constraints it must state about them."""

    def __init__(self, names: dict[Any, Any] | None = None) -> None:
        #: Parts of sizes that names of extents replace.
        self._names = names or {}
        #: Divisors of sizes.
        self.divisors: dict[str, None] = {}
        #: torch's symbols in the sizes.
        self.symbols: dict[str, Any] = {}
        #: Parameters for sizes without an expression here: the node that has the value.
        self.opaque: dict[str, Node] = {}

    def text(self, size: Any) -> str:
        """Returns a size as text: an integer, a symbolic size, or a node that has one."""
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
        """Returns a size as an expression in the program's names."""
        return size.node.expr.xreplace(self._names)

    def list(self, sizes: Any) -> str:
        return "[" + ", ".join(self.text(size) for size in sizes) + "]"

    def _expression(self, e: Any) -> str:
        """Returns the expression as an operand, in parentheses if it has several parts."""
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
        """Returns the divisors of a text that must be positive."""
        return [f"{one} >= 1" for one in self.divisors if f" floordiv {one}" in text or f" mod {one}" in text]
