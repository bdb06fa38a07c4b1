"""Replaces sizes of a graph's intermediate tensors by computations from its inputs, so that no tensor is made only for its
size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from torch.fx import Graph, Node

from ._lower import overload
from ._sizes import Untranslatable, rounded_division

_FOLDS: dict[str, Callable[..., Any]] = {"Add": operator.add, "Mul": operator.mul, "Max": torch.sym_max, "Min": torch.sym_min}
_PAIRS: dict[str, Callable[..., Any]] = {
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "PythonMod": operator.mod,
    "Mod": operator.mod,
}


class SizeNodes:
    """Makes nodes with the value of a symbolic size from the graph's inputs."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._inputs: dict[str, tuple[Node, int | None]] = {}
        for node in graph.nodes:
            if node.op != "placeholder":
                continue
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt) and value.node.expr.is_Symbol:
                self._inputs[str(value.node.expr)] = (node, None)
            for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
                if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                    self._inputs.setdefault(str(size.node.expr), (node, axis))

    def has(self, symbol: str) -> bool:
        return symbol in self._inputs

    def make(self, size: torch.SymInt) -> Node:
        """Inserts a node with that value at the graph's insertion point."""
        made = self._make(size.node.expr)
        made.meta.setdefault("val", size)
        return made

    def _make(self, e: Any) -> Any:
        if e.is_Integer:
            return int(e)
        if e.is_Symbol:
            if str(e) not in self._inputs:
                raise Untranslatable(f"nothing in the graph has the value of {e}")
            node, axis = self._inputs[str(e)]
            return node if axis is None else self._call(overload("sym_size", "int"), (node, axis))
        kind = type(e).__name__
        if kind == "Pow" and e.exp.is_Integer and e.exp > 0:
            return self._fold(operator.mul, [self._make(e.base)] * int(e.exp))
        if (quotient := rounded_division(e)) is not None:
            a, b, up = quotient
            made = self._call(operator.floordiv, (self._make(-a if up else a), self._make(b)))
            return self._call(operator.neg, (made,)) if up else made
        if kind not in _FOLDS and kind not in _PAIRS:
            raise Untranslatable(f"sizes have no {kind}")
        return self._fold(_FOLDS.get(kind) or _PAIRS[kind], [self._make(part) for part in e.args])

    def _fold(self, call: Any, parts: list[Any]) -> Any:
        return reduce(lambda a, b: self._call(call, (a, b)), parts)

    def _call(self, target: Any, arguments: tuple[Any, ...]) -> Any:
        values = [one.meta["val"] if isinstance(one, Node) else one for one in arguments]
        if not any(isinstance(one, Node) for one in arguments):
            return target(*values)
        made = self._graph.call_function(target, arguments)
        made.meta["val"] = values[0].shape[values[1]] if target is overload("sym_size", "int") else target(*values)
        return made


def ask_inputs(graph: Graph) -> SizeNodes:
    """Rewrites nodes that ask intermediate tensors for sizes, as a view with an axis of -1 does for the number of elements."""
    nodes, asked = SizeNodes(graph), (overload("sym_size", "int"), overload("sym_numel"))
    for node in list(graph.nodes):
        value = node.meta.get("val")
        if node.target not in asked or not isinstance(value, torch.SymInt) or node.args[0].op == "placeholder":
            continue
        try:
            with graph.inserting_before(node):
                node.replace_all_uses_with(nodes.make(value))
            graph.erase_node(node)
        except Untranslatable:
            continue
    return nodes
